/** The composition of the worker for the record of a rollout. */
import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { Counters } from './report/counters.ts'
import type { Settings } from './settings/settings.ts'
import { RolloutEvents } from './source/rollout/rollout-events.ts'
import { NoRolloutRecord, RolloutWorker } from './source/rollout/rollout-worker.ts'

export interface RolloutWorld {
  readonly settings: () => Settings
  readonly stores: Pick<Stores, 'clock' | 'records'>
  readonly nodeName: string
  /** undefined: assignments come from a directory, and there is nobody to coordinate with. */
  readonly api: KubeApi | undefined
  readonly counters: Counters
  readonly pace: Pace
  readonly log: Log
  readonly onChange: () => void
}

export function openRollout({
  settings,
  stores,
  nodeName,
  api,
  counters,
  pace,
  log,
  onChange,
}: RolloutWorld): RolloutWorker | NoRolloutRecord {
  if (api === undefined) return new NoRolloutRecord()
  const { clock, records: store } = stores
  const isOn = () => settings().publish.includes('rollout-events')
  const events = new RolloutEvents({ nodeName, api, log, wallMs: () => clock.now().wallMs, isOn })
  return new RolloutWorker({ nodeName, api, pace, clock, log, store, counters, events, onChange })
}

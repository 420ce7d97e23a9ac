/** The composition of the worker for the record of a rollout. */
import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { Counters } from './report/counters.ts'
import { RolloutWorker } from './source/rollout/rollout-worker.ts'

export interface RolloutWorld {
  readonly stores: Pick<Stores, 'clock' | 'runtime'>
  readonly nodeName: string
  /** undefined: assignments come from a directory, and there is nobody to coordinate with. */
  readonly api: KubeApi | undefined
  readonly counters: Counters
  readonly pace: Pace
  readonly log: Log
  readonly onChange: () => void
}

export function openRollout({ stores, nodeName, api, counters, pace, log, onChange }: RolloutWorld): RolloutWorker | undefined {
  if (api === undefined) return undefined
  return new RolloutWorker({ nodeName, api, pace, clock: stores.clock, log, store: stores.runtime, counters, onChange })
}

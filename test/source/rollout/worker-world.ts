// SPDX-License-Identifier: Apache-2.0
/**
 * One worker for the record of a rollout, its API server in memory, and time that moves when a test
 * says so.
 */
import { ROLLOUT_ANNOTATION } from '../../../src/decision/channels.ts'
import { hashConfig } from '../../../src/decision/rollout-hash.ts'
import type { RolloutSubject } from '../../../src/decision/rollout-subject.ts'
import { ROLLOUT_PLAN_ANNOTATION } from '../../../src/rollout/plan.ts'
import { answerTimeZone } from '../../../src/rollout/time-zone.ts'
import type { RolloutTurn } from '../../../src/rollout/view.ts'
import { RolloutWorker } from '../../../src/source/rollout/rollout-worker.ts'
import { MemoryRecords } from '../../agent/memory-runtime.ts'
import { silentLog } from '../../checkpoint/silent-log.ts'
import { WORKER } from '../../rollout/views.ts'
import { MemoryApi } from './memory-api.ts'

export const CONFIG = 'fleet'
export const RECORD = 'fleet-rollout'
const STEP_MS = 1000

/** By the clock of the API server, when the world begins. */
const START_MS = Date.UTC(2026, 10, 30, 21, 50)

export class WorkerWorld {
  readonly api = new MemoryApi()
  readonly worker: RolloutWorker
  readonly #plan: string
  nowMs = 1_000_000
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = []

  /** @param random of the worker, from 0 to 1 */
  constructor(random = 0.5, plan = 'spread: 1s') {
    const beginsMs = this.nowMs
    this.api.serverMs = () => START_MS + this.nowMs - beginsMs
    const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        this.#sleepers.push({ atMs: this.nowMs + ms, wake: resolve })
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    this.worker = new RolloutWorker({
      askTimeZone: async (...asked) => answerTimeZone(...asked),
      nodeName: 'n1',
      api: this.api.clientOf('n1'),
      pace: { nowMs: () => this.nowMs, random: () => random, sleep },
      clock: { now: () => ({ bootId: 'boot-1', monotonicUs: this.nowMs * 1000, wallMs: 0 }) },
      log: silentLog(),
      store: new MemoryRecords(),
      counters: { rolloutWrote: () => {}, rolloutConflicted: () => {} },
      onChange: () => {},
    })
    this.api.put(CONFIG, { kubelet: 'good' }, { [ROLLOUT_ANNOTATION]: RECORD, [ROLLOUT_PLAN_ANNOTATION]: plan })
    this.#plan = plan
  }

  get turn(): RolloutTurn | undefined {
    return this.worker.known()?.turn
  }

  /** The requests about the record or the config, without the watch. */
  get requests(): readonly string[] {
    return this.api.requests.map((request) => request.replace('n1 ', '').replace('/api/v1/namespaces/kube-system/configmaps', ''))
  }

  hash(): string {
    return hashConfig(this.api.get(CONFIG)?.data ?? {}, 'kubelet')
  }

  /** The record, in this stage, with these further keys. */
  putRecord(stage: number, keys: Readonly<Record<string, string>> = {}): void {
    const { uid = '', resourceVersion = '' } = this.api.get(CONFIG) ?? {}
    this.api.put(RECORD, { state: `1 1 ${stage} ${this.hash()} ${uid.slice(0, 13)} ${resourceVersion} 0`, ...keys })
  }

  follow(node: Partial<RolloutSubject['node']> = {}): void {
    const { uid = '', resourceVersion = '' } = this.api.get(CONFIG) ?? {}
    this.worker.follow({
      config: { namespace: 'kube-system', name: CONFIG, kubeletConfigKey: 'kubelet' },
      record: RECORD,
      seen: { uid, resourceVersion, plan: this.#plan },
      assignment: 0,
      node: { ...WORKER, uid: 'uid-of-n1', hash: this.hash(), ...node },
    })
  }

  async run(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await settled()
      this.nowMs += STEP_MS
      const due = this.#sleepers.filter(({ atMs }) => atMs <= this.nowMs)
      this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.nowMs)
      for (const { wake } of due) wake()
      await settled()
    }
  }
}

/** Everything that follows from what has been answered has been done. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { PAUSED_ANNOTATION, ROLLOUT_ANNOTATION } from '../../../src/decision/channels.ts'
import { hashConfig } from '../../../src/decision/rollout-hash.ts'
import type { RolloutSubject } from '../../../src/decision/rollout-subject.ts'
import { answerTimeZone } from '../../../src/rollout/time-zone.ts'
import { RolloutWorker } from '../../../src/source/rollout/rollout-worker.ts'
import { MemoryRecords } from '../../agent/memory-runtime.ts'
import { silentLog } from '../../checkpoint/silent-log.ts'
import { WORKER } from '../../rollout/views.ts'
import { MemoryApi } from './memory-api.ts'

const NODES = 200
const SECOND_MS = 1000
const CONFIG = 'fleet'
const RECORD = 'fleet-rollout'

function pausedBy({ [PAUSED_ANNOTATION]: by }: Record<string, string>): RolloutSubject['seen']['paused'] {
  return by === undefined ? undefined : { on: 'ConfigMap', by }
}

/** Workers without an agent around one API server, on a clock that the test advances. */
class Workers {
  nowMs = 1_000_000
  readonly api = new MemoryApi()
  readonly #workers: readonly RolloutWorker[]
  readonly #sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>()
  /** When each request was made. */
  readonly requests: { readonly atMs: number; readonly from: string; readonly method: string }[] = []

  constructor(count: number) {
    this.api.put(RECORD, {})
    this.#workers = Array.from({ length: count }, (_, index) => this.#open(index))
  }

  edit(text: string, annotations: Record<string, string> = {}): void {
    const { uid, resourceVersion } = this.api.put(CONFIG, { kubelet: text }, { [ROLLOUT_ANNOTATION]: RECORD, ...annotations })
    this.#workers.forEach((worker, index) => {
      const config = { namespace: 'kube-system', name: CONFIG, kubeletConfigKey: 'kubelet' }
      worker.follow({
        config,
        record: RECORD,
        seen: { uid, resourceVersion, plan: undefined, paused: pausedBy(annotations) },
        assignment: 0,
        node: { ...WORKER, uid: `uid-${index}`, hash: hashConfig({ kubelet: text }, 'kubelet') },
      })
    })
  }

  async run(ms: number): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs += 100
      for (const sleeper of [...this.#sleepers]) if (sleeper.atMs <= this.nowMs) sleeper.wake()
      for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  stop(): Promise<unknown> {
    return Promise.all(this.#workers.map((worker) => worker.stop()))
  }

  #open(index: number): RolloutWorker {
    const name = `n${index}`
    const client = this.api.clientOf(name)
    return new RolloutWorker({
      askTimeZone: async (...asked) => answerTimeZone(...asked),
      nodeName: name,
      api: {
        request: (request) => {
          this.requests.push({ atMs: this.nowMs, from: name, method: request.method })
          return client.request(request)
        },
        watch: (request) => client.watch(request),
      },
      pace: { nowMs: () => this.nowMs, random: Math.random, sleep: (ms, signal) => this.#sleep(ms, signal) },
      clock: { now: () => ({ bootId: 'boot-1', monotonicUs: this.nowMs * 1000, wallMs: this.nowMs }) },
      log: silentLog(),
      store: new MemoryRecords(),
      counters: { rolloutWrote: () => {}, rolloutConflicted: () => {} },
      onChange: () => {},
    })
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { atMs: this.nowMs + ms, wake: () => end() }
      const end = () => {
        this.#sleepers.delete(sleeper)
        resolve()
      }
      this.#sleepers.add(sleeper)
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }
}

t.test('an edit that reaches all nodes at once does not make all of them ask or write at once', async (t) => {
  const workers = new Workers(NODES)
  workers.edit('first')
  await workers.run(120 * SECOND_MS)
  const { requests } = workers
  const writes = requests.filter(({ method }) => method === 'PATCH')
  t.ok(writes.length > 0 && writes.length < NODES / 20, `${writes.length} writes`)
  const begunMs = requests[0]?.atMs ?? 0
  const inFirstSecond = requests.filter(({ atMs }) => atMs < begunMs + SECOND_MS).length
  t.ok(inFirstSecond < NODES / 5, `${inFirstSecond} requests in the first second`)
  const each = new Map(requests.map(({ from }) => [from, requests.filter((one) => one.from === from).length]))
  t.ok(Math.max(...each.values()) < 20, `at most ${Math.max(...each.values())} requests of one node`)
  // One of each node, with which its watch begins, and those of the node that becomes the witness.
  t.ok(requests.length < 1.2 * NODES, `${requests.length} requests of ${NODES} nodes`)

  const before = requests.length
  workers.api.put(RECORD, { ...workers.api.get(RECORD)?.data, other: 'word' })
  await workers.run(20 * SECOND_MS)
  const witness = writes[0]?.from
  t.same(
    requests.slice(before).filter(({ from }) => from !== witness),
    [],
    'and what one node writes makes no other one ask',
  )
  await workers.stop()
})

t.test('the end of a pause does not make all nodes write at once', async (t) => {
  const workers = new Workers(NODES)
  workers.edit('first', { [PAUSED_ANNOTATION]: 'ops' })
  await workers.run(240 * SECOND_MS)
  const writes = () => workers.requests.filter(({ method }) => method === 'PATCH').length
  t.equal(writes(), 0)
  workers.edit('first')
  await workers.run(120 * SECOND_MS)
  t.ok(writes() > 0 && writes() < NODES / 20, `${writes()} writes`)
  await workers.stop()
})

t.test('a node writes at most once a second, whatever the answers are', async (t) => {
  const workers = new Workers(1)
  let answers = 0
  workers.api.faultOf = ({ method }) => (method === 'PATCH' ? ([409, 'lost', 403, 'down'] as const)[answers++ % 4] : undefined)
  workers.edit('first')
  await workers.run(240 * SECOND_MS)
  for (let edit = 0; edit < 4; edit += 1) {
    workers.edit(`content ${edit}`)
    await workers.run(80 * SECOND_MS)
  }
  const writes = workers.requests.filter(({ method }) => method === 'PATCH')
  t.ok(writes.length > 3, `${writes.length} writes`)
  const pauses = writes.slice(1).map(({ atMs }, index) => atMs - (writes[index]?.atMs ?? 0))
  t.ok(Math.min(...pauses) >= SECOND_MS, `at least ${Math.min(...pauses)} ms apart`)
  await workers.stop()
})

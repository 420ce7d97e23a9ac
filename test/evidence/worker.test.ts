// SPDX-License-Identifier: Apache-2.0
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { NoAnswer } from '../../src/evidence/kind.ts'
import type { Question } from '../../src/evidence/kinds.ts'
import type { ServingAnswer } from '../../src/evidence/serving.ts'
import { askServing, EvidenceWorker } from '../../src/evidence/worker.ts'
import type { Askers } from '../../src/ports/evidence.ts'
import type { Log } from '../../src/ports/log.ts'
import type { PortHolder, PortHolders } from '../../src/ports/probes.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { heldBy } from '../kubelet/held-by.ts'

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
const about = (invocationId: string) => ({
  invocationId,
  serving: { host: '127.0.0.1', port: 10250, pid: 7 },
  runtimeSocket: '/run/x',
  manifests: [],
})
const refused: NoAnswer = { kind: 'forbidden', detail: 'the API server answers 403 Forbidden' }

const clock = { now: () => ({ bootId: 'b', monotonicUs: 5, wallMs: 0 }) }

interface Options {
  readonly holders?: PortHolders
  readonly publisher?: { writeAgain(): void; writtenAtUs(): number | undefined }
  /** What kubelet answers at its TLS port. */
  readonly served?: ServingAnswer
}

const SERVED: ServingAnswer = { kind: 'answered', status: 403, user: undefined }

function open(askers: Partial<Askers> = {}, { holders = heldBy(), publisher, served = SERVED }: Options = {}) {
  let changes = 0
  const { said, ...rest } = silentLog()
  const facts: unknown[] = []
  const note = (message: string, fields?: object) => {
    said.push(message)
    facts.push(fields)
  }
  const log: Log & { readonly said: string[]; readonly facts: unknown[] } = {
    ...rest,
    said,
    facts,
    warn: note,
    error: note,
  }
  const worker = new EvidenceWorker({
    askers: {
      node: async () => refused,
      lease: async () => refused,
      pods: async () => refused,
      runtime: async () => ({ kind: 'answered', endpoint: '/run/x', detail: '' }),
      'static-pods': async () => ({ kind: 'found', pods: [], manifests: [], live: [] }),
      serving: askServing({ ask: async () => served }, holders, clock),
      ...askers,
    },
    publisher,
    clock,
    log,
    sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
    onChange: () => {
      changes += 1
    },
  })
  return { worker, log, changes: () => changes }
}

t.test('answers are kept until they are taken, and say about which process they are', async (t) => {
  const { worker } = open()
  const all: readonly Question[] = ['node', 'lease', 'pods', 'runtime', 'serving', 'static-pods']
  worker.ask(all, about('i-1'))
  t.same(worker.take(), [], 'asking does not wait')
  await tick()
  const facts = worker.take()
  t.same(facts.map(({ seen }) => seen.question).sort(), [...all].sort())
  t.ok(facts.every((fact) => fact.about === 'i-1' && fact.atUs === 5))
  t.same(worker.take(), [])
})

t.test('it says since when it asks', (t) => {
  t.equal(open().worker.asksSinceUs(), 5)
  t.end()
})

t.test('a question that is still being asked is not asked again', async (t) => {
  let asked = 0
  let answer = (_: NoAnswer) => {}
  const lease = () => {
    asked += 1
    return new Promise<NoAnswer>((resolve) => {
      answer = resolve
    })
  }
  const { worker } = open({ lease })
  worker.ask(['lease'], about('i-1'))
  worker.ask(['lease'], about('i-1'))
  t.equal(asked, 1)
  answer(refused)
  await tick()
  worker.ask(['lease'], about('i-1'))
  t.equal(asked, 2)
})

t.test('what is being asked can be waited for, and no longer than a limit', async (t) => {
  let answer = (_: NoAnswer) => {}
  const slow = new Promise<NoAnswer>((resolve) => {
    answer = resolve
  })
  const { worker } = open({ node: () => slow })
  await worker.answered(60_000)
  worker.ask(['node', 'pods'], about('i-1'))
  await worker.answered(1)
  t.same(
    worker.take().map(({ seen }) => seen.question),
    ['pods'],
    'the limit',
  )
  const all = worker.answered(60_000)
  answer(refused)
  await all
  t.same(
    worker.take().map(({ seen }) => seen.question),
    ['node'],
  )
})

t.test('the loop is woken by an answer that differs, and by the first about a process', async (t) => {
  const { worker, changes } = open()
  for (const invocation of ['i-1', 'i-1', 'i-2']) {
    worker.ask(['serving'], about(invocation))
    await tick()
  }
  t.equal(changes(), 2)
})

t.test('the loop is woken once by the answers that come together, when the last of them is there', async (t) => {
  let answer = (_: NoAnswer) => {}
  const pods = () =>
    new Promise<NoAnswer>((resolve) => {
      answer = resolve
    })
  const { worker, changes } = open({ pods })
  worker.ask(['node', 'lease', 'pods'], about('i-1'))
  await tick()
  t.equal(changes(), 0)
  t.equal(worker.take().length, 2, 'a pass before that takes what is there')
  answer(refused)
  await tick()
  t.equal(changes(), 1)
  worker.ask(['node', 'pods'], about('i-1'))
  answer(refused)
  await tick()
  t.equal(changes(), 1, 'the same answers again')
})

t.test('a missing right is logged once', async (t) => {
  const { worker, log } = open()
  for (let turn = 0; turn < 3; turn += 1) {
    worker.ask(['lease', 'pods'], about('i-1'))
    await tick()
  }
  t.same(log.said, ['cannot read the evidence, so it counts as unknown: lease', 'cannot read the evidence, so it counts as unknown: pods'])
})

t.test('a missing right is logged anew once it was there in between, and not for an API server that is away', async (t) => {
  const away: NoAnswer = { kind: 'unreachable', detail: 'connect ETIMEDOUT' }
  const answers: NoAnswer[] = [refused, away, refused, { kind: 'refused', detail: '404 Not Found' }, refused]
  const logged: number[] = []
  const { worker, log } = open({ lease: async () => answers.shift() ?? refused })
  while (answers.length > 0) {
    worker.ask(['lease'], about('i-1'))
    await tick()
    logged.push(log.said.length)
  }
  t.same(logged, [1, 1, 1, 1, 2])
  t.strictSame(
    log.facts,
    [refused, refused].map(({ detail }) => ({ detail })),
  )
})

t.test('nothing is logged of what can be read, nor of what there is not to ask', async (t) => {
  const { worker, log } = open({ node: async () => ({ kind: 'not-asked', detail: 'no kubeconfig' }) })
  worker.ask(['node', 'runtime', 'serving', 'static-pods'], about('i-1'))
  await tick()
  t.equal(worker.take().length, 4)
  t.same(log.said, [])
})

t.test('the status is written anew, where it is published', async (t) => {
  const writes: string[] = []
  const publisher = { writeAgain: () => void writes.push('again'), writtenAtUs: () => 7 }
  const { worker } = open({}, { publisher })
  worker.write()
  t.same(writes, ['again'])
  t.equal(worker.writtenAtUs(), 7)
  const { worker: silent } = open()
  silent.write()
  t.equal(silent.writtenAtUs(), undefined)
})

t.test('a question that throws is answered with nothing', async (t) => {
  const node = async () => {
    throw new Error('a bug')
  }
  const { worker, log } = open({ node })
  worker.ask(['node'], about('i-1'))
  await tick()
  t.match(worker.take(), [{ seen: { question: 'node', answer: { kind: 'not-asked', detail: 'a bug' } } }])
  t.match(log.said, [/because of a bug/])
  t.match(log.facts, [{ error: { message: 'a bug' } }])
})

t.test('a kubelet without a TLS port is not asked', async (t) => {
  const { worker } = open()
  worker.ask(['serving'], { ...about('i-1'), serving: undefined })
  await tick()
  t.match(worker.take(), [{ seen: { answer: { kind: 'not-asked', detail: 'kubelet has no TLS port' } } }])
})

t.test('what a stranger answers at the TLS port is not taken for kubelet, and is logged once', async (t) => {
  const { worker, log } = open({}, { holders: heldBy({ kind: 'stranger', uid: 65534, inodes: ['1'] }) })
  for (let turn = 0; turn < 2; turn += 1) {
    worker.ask(['serving'], about('i-1'))
    await tick()
    const detail = 'a process of uid 65534, which is not kubelet, has port 10250 of 127.0.0.1'
    t.match(worker.take(), [{ seen: { answer: { kind: 'not-asked', detail, isStrangers: true } } }])
  }
  t.same(log.said, ['cannot read the evidence, so it counts as unknown: serving'])
  const readAt = async (holder: PortHolder, served: ServingAnswer) => {
    const { worker: another } = open({}, { holders: heldBy(holder), served })
    another.ask(['serving'], about('i-1'))
    await tick()
    return another.take().map(({ seen }) => seen.answer)
  }
  const nobody = { kind: 'unseen', detail: 'nobody listens there' } as const
  const gone = { kind: 'not-asked', detail: 'it is not known who answered: nobody listens there' }
  t.strictSame(await readAt(nobody, SERVED), [gone], 'whoever answered is gone')
  const silent: ServingAnswer = { kind: 'no-tls', detail: 'connection refused' }
  t.strictSame(await readAt(nobody, silent), [silent], 'kubelet does not listen')
  t.strictSame(await readAt({ kind: 'own', inodes: ['1'] }, SERVED), [SERVED], 'what kubelet answers counts')
})

// SPDX-License-Identifier: Apache-2.0
import t, { type Test } from 'tap'
import type { ApiRequest } from '../../demo/api-server/request.ts'
import { ROLLOUT_ANNOTATION } from '../../src/decision/channels.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import type { RolloutSubject } from '../../src/decision/rollout-subject.ts'
import { ROLLOUT_PLAN_ANNOTATION } from '../../src/rollout/plan.ts'
import { answerTimeZone } from '../../src/rollout/time-zone.ts'
import { RolloutEvents } from '../../src/source/rollout/rollout-events.ts'
import { RolloutWorker } from '../../src/source/rollout/rollout-worker.ts'
import { MemoryRecords } from '../agent/memory-runtime.ts'
import { WORKER } from '../rollout/views.ts'
import { until } from '../until.ts'
import { NAMESPACE, PATIENT, startWorld, type World } from './world.ts'

t.setTimeout(120_000)

const CONFIG = 'fleet'
const RECORD = 'fleet-rollout'
const REF = { namespace: NAMESPACE, name: CONFIG, kubeletConfigKey: 'kubelet' }

function putConfig({ server }: World, text: string): void {
  const annotations = { [ROLLOUT_ANNOTATION]: RECORD, [ROLLOUT_PLAN_ANNOTATION]: 'spread: 1s' }
  server.objects.put({ kind: 'ConfigMap', metadata: { name: CONFIG, namespace: NAMESPACE, annotations }, data: { kubelet: text } })
}

function putRecord({ server }: World, data = {}): void {
  server.objects.put({ kind: 'ConfigMap', metadata: { name: RECORD, namespace: NAMESPACE }, data })
}

const dataOf = ({ server }: World) => (server.objects.get('ConfigMap', RECORD, NAMESPACE)?.data ?? {}) as Readonly<Record<string, string>>

function subjectOf({ server }: World, name: string, more: Partial<RolloutSubject['node']> = {}): RolloutSubject {
  const config = server.objects.get('ConfigMap', CONFIG, NAMESPACE)
  const hash = hashConfig((config?.data ?? {}) as Readonly<Record<string, string>>, 'kubelet')
  const { uid = '', resourceVersion = '' } = config?.metadata ?? {}
  return {
    config: REF,
    record: RECORD,
    seen: { uid, resourceVersion, plan: 'spread: 1s' },
    assignment: 0,
    node: { ...WORKER, uid: `uid-of-${name}`, hash, ...more },
  }
}

function startWorker(t: Test, world: World, name: string, { lagUs = 0 } = {}) {
  const counts = { wrote: [] as string[], conflicts: 0 }
  const worker = new RolloutWorker({
    askTimeZone: async (...asked) => answerTimeZone(...asked),
    nodeName: name,
    api: world.api,
    pace: { nowMs: world.nowMs, random: Math.random, sleep: world.sleep },
    clock: { now: () => ({ bootId: 'boot-1', monotonicUs: world.nowMs() * 1000 - lagUs, wallMs: 0 }) },
    log: world.log,
    store: new MemoryRecords(),
    events: new RolloutEvents({ nodeName: name, api: world.api, log: world.log, wallMs: () => 0, isOn: () => true }),
    counters: { rolloutWrote: (kind) => void counts.wrote.push(kind), rolloutConflicted: () => void counts.conflicts++ },
    onChange: () => {},
    limits: PATIENT,
  })
  t.teardown(() => worker.stop())
  return { worker, counts, turn: () => worker.known()?.turn }
}

const isPatch = (request: ApiRequest) => request.verb === 'patch' && request.path.endsWith(RECORD)
const goes = (turn: () => { kind: string } | undefined) => () => turn()?.kind === 'go'

t.test('a claim, over the wire: read, written on the version that was read, read again', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'good')
  putRecord(world)
  const { worker, counts, turn } = startWorker(t, world, 'n1')
  worker.follow(subjectOf(world, 'n1'))
  await until(goes(turn), 'its turn')
  t.match(dataOf(world)['node.n1'], /^1 0 claim 3600$/)
  t.same(counts, { wrote: ['begin'], conflicts: 0 })
  const kinds = world.server.requests
    .filter(({ path }) => path.includes('/configmaps'))
    .map(({ verb, path }) => `${verb} ${path.split('/')[6] ?? ''}`)
  const written = kinds.indexOf(`patch ${RECORD}`)
  t.same(kinds.slice(written - 2, written + 3), [`get ${RECORD}`, `get ${CONFIG}`, `patch ${RECORD}`, `get ${RECORD}`, `get ${CONFIG}`])
  worker.follow(subjectOf(world, 'n1', { runs: true, proven: true }))
  await until(() => / proof$/.test(dataOf(world)['node.n1'] ?? ''), 'its proof')
  t.match(dataOf(world).state, /^1 1 1 /, 'opens the next stage in the same write')
  const events = () => world.server.objects.list('Event', NAMESPACE)
  await until(() => events().length === 2, 'the events')
  t.match(
    events()
      .map(({ reason }) => reason)
      .sort(),
    ['RolloutAdvanced', 'RolloutStarted'],
  )
  t.match(events()[0], { involvedObject: { kind: 'ConfigMap', name: CONFIG, namespace: NAMESPACE } })
})

t.test('two nodes: one begins, and the other waits for its proof', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'good')
  putRecord(world)
  const nodes = ['n1', 'n2'].map((name) => ({ name, ...startWorker(t, world, name) }))
  for (const { name, worker } of nodes) worker.follow(subjectOf(world, name))
  await until(() => nodes.some(({ turn }) => goes(turn)()), 'the turn of one')
  await until(() => nodes.some(({ turn }) => /0 of 1 proofs/.test(turn()?.detail ?? '')), 'the other waits')
  t.equal(Object.keys(dataOf(world)).filter((key) => key.startsWith('node.')).length, 1)
})

t.test('a conflict and an answer that is lost: read anew, and written once', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'good')
  putRecord(world)
  let patches = 0
  world.server.fault = (request) => {
    if (!isPatch(request)) return undefined
    patches += 1
    // Another node writes in between.
    if (patches === 1) putRecord(world, { other: 'word' })
    return patches === 2 ? { kind: 'cut', afterBytes: 5 } : undefined
  }
  const { worker, counts, turn } = startWorker(t, world, 'n1')
  worker.follow(subjectOf(world, 'n1'))
  await until(goes(turn), 'its turn')
  t.match(dataOf(world).state, /^1 1 0 /, 'one generation')
  t.equal(counts.conflicts, 1)
})

t.test('a right that is missing is said, and asked for again', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'good')
  putRecord(world)
  world.server.authorize = (request) => !isPatch(request)
  const { worker, turn } = startWorker(t, world, 'n1')
  worker.follow(subjectOf(world, 'n1'))
  await until(
    () => /the record kube-system\/fleet-rollout could not be written \(begin\): 403 Forbidden/.test(turn()?.detail ?? ''),
    'the reason',
  )
  t.equal(turn()?.kind, 'wait')
  world.server.authorize = () => true
  await until(goes(turn), 'its turn')
})

t.test('the config changes between the look and the write: nobody goes with what it was', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'good')
  putRecord(world)
  const { worker, turn } = startWorker(t, world, 'n1')
  const subject = subjectOf(world, 'n1')
  putConfig(world, 'newer')
  worker.follow(subject)
  await until(() => /the config has changed/.test(turn()?.detail ?? ''), 'the reason')
  t.same(dataOf(world), {})
})

t.test('a time that has come but for a part of a microsecond is waited for, and not looked at for ever', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'good')
  putRecord(world)
  const { worker, turn } = startWorker(t, world, 'n1', { lagUs: 0.5 })
  worker.follow(subjectOf(world, 'n1'))
  await until(goes(turn), 'its turn')
})

t.test('a record that is deleted and made again', async (t) => {
  const world = await startWorld(t)
  putConfig(world, 'bad')
  putRecord(world)
  const { worker, turn } = startWorker(t, world, 'n1')
  const failed = { verdict: { reason: 'crash-loop: kubelet exited 3 times', retry: 0 } }
  worker.follow(subjectOf(world, 'n1', failed))
  await until(() => / veto crash-loop/.test(dataOf(world)['node.n1'] ?? ''), 'its veto')
  world.server.objects.remove('ConfigMap', RECORD, NAMESPACE)
  await until(() => /the record kube-system\/fleet-rollout does not exist/.test(turn()?.detail ?? ''), 'the reason')
  putRecord(world)
  await until(() => / veto crash-loop/.test(dataOf(world)['node.n1'] ?? ''), 'its veto, again')
})

t.test('a config without a rollout costs no request', async (t) => {
  const world = await startWorld(t)
  const { worker } = startWorker(t, world, 'n1')
  worker.follow(undefined)
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(world.server.requests, [])
})

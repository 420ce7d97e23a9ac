// SPDX-License-Identifier: Apache-2.0
/**
 * Condition and annotation, written to the Node over real HTTPS, with a metadata watch and with
 * rights that come and go.
 */
import type { Test } from 'tap'
import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import { resolveDesired } from '../../src/decision/desired.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { Publisher } from '../../src/report/publisher.ts'
import { following, IDENTITY, runningContent } from '../report/build.ts'
import { until } from '../until.ts'
import { NODE, putConfigMap, putNode, startWorld, type World } from './world.ts'

const ANNOTATION = 'kubelet-cfg-agent.io/status'
const READY = { type: 'Ready', status: 'True' }
const STATUS = { active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' } as const
const LOCAL = { condition: { status: 'True', reason: 'Local', message: 'local' }, annotation: '{"a":1}' } as const

async function start(t: Test): Promise<World & { publisher: Publisher; shown: () => Shown; wakes: () => number; last: () => string }> {
  let publisher: Publisher | undefined
  let last = ''
  const world = await startWorld(t, {
    server: { storesConfigSource: false },
    onNode(...node) {
      publisher?.nodeObserved(...node)
      last = JSON.stringify(node)
    },
  })
  const { server, api, nowMs, log, sleep } = world
  server.objects.put({ kind: 'Node', metadata: { name: NODE }, spec: {}, status: { conditions: [READY] } })
  const clock = { now: () => ({ bootId: 'b1', monotonicUs: nowMs() * 1000, wallMs: 1_700_000_000_000 + nowMs() }) }
  const files = { read: () => undefined, makeDirectory: () => {}, replace: () => {} }
  const history = { after: () => [] }
  const publications = () => ['condition', 'annotation'] as const
  publisher = new Publisher({ api, nodeName: NODE, clock, log, random: () => 0, files, directory: '/d', history, sleep, publications })
  let wakes = 0
  world.source.start(() => {
    wakes += 1
  })
  publisher.start()
  t.teardown(() => publisher?.stop(100))
  await until(() => world.calls.some(({ form, verb }) => verb === 'watch' && form === 'metadata'), 'the Node is watched by its metadata')
  return { ...world, publisher, shown: () => readShown(world), wakes: () => wakes, last: () => last }
}

interface Shown {
  readonly conditions: readonly { readonly type: string; readonly reason?: string; readonly lastTransitionTime?: string }[]
  readonly annotation: string | undefined
}

function readShown({ server }: World): Shown {
  const node = server.objects.get('Node', NODE) as {
    status?: Pick<Shown, 'conditions'>
    metadata: { annotations?: Record<string, string> }
  }
  return { conditions: node.status?.conditions ?? [], annotation: node.metadata.annotations?.[ANNOTATION] }
}

const reasonOf = ({ conditions }: Shown) => conditions.find(({ type }) => type === 'KubeletConfigReady')?.reason
const patches = ({ server }: World) => server.requests.filter(({ verb }) => verb === 'patch').length

t.test('condition and annotation are written once, and their own events cause nothing', async (t) => {
  const world = await start(t)
  const { publisher, shown } = world
  const before = world.wakes()
  publisher.publish(STATUS, LOCAL)
  await until(() => reasonOf(shown()) === 'Local' && shown().annotation === '{"a":1}', 'both are there')
  t.match(shown().conditions[0], READY)
  const written = patches(world)
  // An event after the agent's own: once it has been seen, those have been seen too.
  world.server.objects.put({
    ...world.server.objects.get('Node', NODE),
    kind: 'Node',
    metadata: { ...metadataOf(world), labels: { a: 'b' } },
  })
  const { revision } = world.server.store
  await until(() => world.last().includes('"labels":{"a":"b"}'), 'the Node was seen again')
  publisher.publish(STATUS, LOCAL)
  await publisher.stop()
  t.equal(patches(world), written)
  t.equal(world.server.store.revision, revision)
  t.equal(world.wakes(), before)
})

t.test('a missing right holds back only what needs it, and is used once granted', async (t) => {
  const world = await start(t)
  const { publisher, shown, server, lines } = world
  const mayNot = (subresource: string) => {
    server.authorize = ({ verb, target }) => verb !== 'patch' || target?.subresource !== subresource
  }
  const warned = (what: string) => lines.filter((line) => line.startsWith(`${what} could not be updated`)).length
  mayNot('status')
  publisher.publish(STATUS, LOCAL)
  await until(() => shown().annotation === '{"a":1}' && warned('condition KubeletConfigReady') > 0, 'the annotation is there')
  t.equal(reasonOf(shown()), undefined)
  mayNot('')
  publisher.publish(STATUS, { condition: { ...LOCAL.condition, reason: 'Promoted' }, annotation: '{"a":2}' })
  await until(() => reasonOf(shown()) === 'Promoted' && warned(`annotation ${ANNOTATION}`) > 0, 'the condition is there')
  t.equal(shown().annotation, '{"a":1}')
  server.authorize = () => true
  await until(() => shown().annotation === '{"a":2}', 'the annotation follows')
  t.same([warned('condition KubeletConfigReady'), warned(`annotation ${ANNOTATION}`)], [1, 1])
})

t.test('a deleted annotation is noticed and written again', async (t) => {
  const world = await start(t)
  const { publisher, shown, server } = world
  publisher.publish(STATUS, LOCAL)
  await until(() => shown().annotation !== undefined, 'it is there')
  const { annotations: _all, ...metadata } = metadataOf(world)
  server.objects.put({ ...server.objects.get('Node', NODE), kind: 'Node', metadata })
  t.equal(shown().annotation, undefined)
  await until(() => shown().annotation === '{"a":1}', 'it is there again')
})

t.test(
  'a ConfigMap that may no longer be read stays in effect but is reported; an edit is followed once it may be read again',
  async (t) => {
    for (const what of ['ConfigMap', 'Node'] as const) {
      const world = await startWorld(t)
      const { server, source, seen, nowMs } = world
      putNode(server, 'one')
      putConfigMap(server, 'one', 'a')
      source.start(() => {})
      await until(() => seen() === 'one=a' && server.requests.filter(({ verb }) => verb === 'watch').length >= 2, 'it is followed')
      const reasonNow = () => reasonOfPromoted(source.desired(), nowMs())
      t.equal(reasonNow(), 'Promoted')
      server.authorize = ({ target }) => target?.resource.kind !== what
      server.disconnectAll()
      if (what === 'ConfigMap') putConfigMap(server, 'one', 'b')
      else putNode(server, undefined)
      const expected = what === 'ConfigMap' ? 'DownloadFailed' : 'AssignmentUnknown'
      await until(() => reasonNow() === expected, `the condition says ${expected}`)
      t.equal(seen(), 'one=a', 'nothing but the condition changes')
      server.authorize = () => true
      await until(() => seen() === (what === 'ConfigMap' ? 'one=b' : 'local'), 'it is read again')
      await until(() => !('stale' in source.desired()), 'and reported as before')
    }
  },
)

/** A node that runs the desired config, which is proven. */
function reasonOfPromoted(desired: Desired, nowMs: number): string {
  const runs = resolveDesired(desired)
  if (runs === undefined || runs === 'local') return 'none'
  const of = following(runs, { desired, proven: `content-${runs.resourceVersion}@${IDENTITY}` })
  const now = { ...of.now, monotonicUs: nowMs * 1000 }
  const running = { ...runningContent(`content-${runs.resourceVersion}`), startedAtUs: now.monotonicUs - 60e6 }
  return describeCondition({ ...of, now, running }, { phase: 'settled', detail: '' }, NO_DEADLINES).reason
}

function metadataOf({ server }: World): { name: string; annotations?: unknown } {
  const node = server.objects.get('Node', NODE) as { metadata: { name: string; annotations?: unknown } }
  return node.metadata
}

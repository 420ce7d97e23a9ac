import t from 'tap'
import type { KubeAnswer, KubeRequest } from '../../src/ports/kube-api.ts'
import { NodeDrain } from '../../src/source/drain.ts'

const ok = (object: unknown): KubeAnswer => ({ kind: 'ok', object })
const refused = (status: number): KubeAnswer => ({ kind: 'refused', status, reason: '', detail: 'no', retryAfterMs: undefined })
const node = (spec: object) => ok({ kind: 'Node', metadata: { name: 'node-1' }, spec })
const CORDONED = node({ unschedulable: true })
const pods = (...items: readonly unknown[]) => ok({ kind: 'PodList', items })
const owned = (kind: string, controller = true) => ({ metadata: { ownerReferences: [{ kind, controller }] }, status: { phase: 'Running' } })
const ended = (phase: string) => ({ metadata: { ownerReferences: [{ kind: 'Job', controller: true }] }, status: { phase } })
const MIRROR = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [{ kind: 'Node', controller: true }] } }

function drainOf(node: KubeAnswer, list: KubeAnswer) {
  const world = { node, list, nowUs: 0 }
  const requests: KubeRequest[] = []
  const api = {
    request: async (request: KubeRequest) => {
      requests.push(request)
      return request.path === '/api/v1/pods' ? world.list : world.node
    },
  }
  const clock = { now: () => ({ bootId: 'b', monotonicUs: world.nowUs, wallMs: 0 }) }
  const changes: unknown[] = []
  const drain: NodeDrain = new NodeDrain(api, 'node-1', clock, () => changes.push(drain.isDrained()))
  return { world, requests, changes, drain }
}

/** After its requests have been answered. */
async function settled(drain: NodeDrain): Promise<boolean | undefined> {
  drain.isDrained()
  for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  return drain.isDrained()
}
const isDrained = (node: KubeAnswer, list: KubeAnswer) => settled(drainOf(node, list).drain)

t.test('the result comes later, and onChange is called only when it differs', async (t) => {
  const { world, drain, changes } = drainOf(CORDONED, pods())
  t.equal(drain.isDrained(), undefined)
  t.equal(await settled(drain), true)
  t.same(changes, [true])
  world.nowUs = 10e6
  t.equal(await settled(drain), true)
  t.same(changes, [true])
  world.list = pods(owned('ReplicaSet'))
  world.nowUs = 20e6
  t.equal(drain.isDrained(), true, 'the last result, during the next requests')
  t.equal(await settled(drain), false)
  t.same(changes, [true, false])
})

t.test('a node that is not cordoned is not drained, and its pods are not listed', async (t) => {
  for (const spec of [{}, { unschedulable: false }, { unschedulable: 'true' }]) {
    const { drain, requests } = drainOf(node(spec), pods())
    t.equal(await settled(drain), false)
    t.same(
      requests.map(({ path }) => path),
      ['/api/v1/nodes/node-1'],
    )
  }
})

t.test('pods that may stay on a drained node', async (t) => {
  t.equal(await isDrained(CORDONED, pods()), true)
  t.equal(await isDrained(CORDONED, pods(owned('DaemonSet'), MIRROR, ended('Succeeded'), ended('Failed'))), true)
})

t.test('no pods, whose list Go encodes as null, means drained', async (t) => {
  t.equal(await isDrained(CORDONED, ok({ kind: 'PodList', items: null })), true)
})

t.test('one other pod means not drained', async (t) => {
  for (const pod of [
    owned('ReplicaSet'),
    owned('DaemonSet', false),
    ended('Pending'),
    ended('Unknown'),
    { metadata: {}, status: { phase: 'Running' } },
    { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } },
    {},
    null,
  ])
    t.equal(await isDrained(CORDONED, pods(owned('DaemonSet'), pod)), false, JSON.stringify(pod))
})

t.test('only the pods of this node are listed', async (t) => {
  const { drain, requests } = drainOf(CORDONED, pods())
  await settled(drain)
  t.match(requests[1], {
    method: 'GET',
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName=node-1,status.phase!=Succeeded,status.phase!=Failed' },
  })
})

t.test('all pages of the list count, and one that cannot be read means unknown', async (t) => {
  const page = (next: string, ...items: readonly unknown[]) => ok({ kind: 'PodList', metadata: { continue: next }, items })
  const play = async (...rest: readonly KubeAnswer[]) => {
    const pages = [page('more', owned('DaemonSet')), ...rest]
    const { world, requests, drain } = drainOf(CORDONED, pods())
    Object.defineProperty(world, 'list', { get: () => pages.shift() ?? page('more', MIRROR) })
    return { result: await settled(drain), asked: requests.slice(1).map(({ query }) => query?.continue) }
  }
  t.same(await play(page('', MIRROR)), { result: true, asked: [undefined, 'more'] })
  t.same((await play(page('', owned('ReplicaSet')))).result, false)
  t.same((await play(refused(410))).result, undefined)
  t.same(await play(), { result: undefined, asked: [undefined, ...Array(49).fill('more')] }, 'a list without an end')
})

t.test('a failed request means unknown, never drained', async (t) => {
  const away: KubeAnswer = { kind: 'unreachable', detail: 'nobody' }
  for (const answer of [refused(403), refused(404), refused(500), away]) {
    t.equal(await isDrained(answer, pods()), undefined)
    t.equal(await isDrained(CORDONED, answer), undefined)
  }
  t.equal(await isDrained(CORDONED, ok({ kind: 'PodList', items: 'none' })), undefined)
  t.equal(await isDrained(CORDONED, ok(null)), undefined)
})

t.test('an answer that is not what was requested means unknown, never drained', async (t) => {
  const spec = { unschedulable: true }
  for (const answer of [
    {},
    { kind: 'Node', metadata: { name: 'node-1' } },
    { kind: 'Node', metadata: { name: 'node-2' }, spec },
    { kind: 'Pod', metadata: { name: 'node-1' }, spec },
  ])
    t.equal(await isDrained(ok(answer), pods()), undefined, JSON.stringify(answer))
  t.equal(await isDrained(CORDONED, ok({ kind: 'NodeList', items: [] })), undefined)
})

t.test('checked again after 10 s and not before, whatever the result', async (t) => {
  for (const first of [CORDONED, node({}), ok({}), refused(403)]) {
    const { world, drain, requests } = drainOf(first, pods(owned('ReplicaSet')))
    const before = await settled(drain)
    const count = requests.length
    world.node = CORDONED
    world.list = pods()
    world.nowUs = 10e6 - 1
    t.equal(await settled(drain), before)
    t.equal(requests.length, count)
    world.nowUs = 10e6
    t.equal(await settled(drain), true)
    t.equal(requests.length, count + 2)
  }
})

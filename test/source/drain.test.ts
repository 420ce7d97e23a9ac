// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeAnswer, KubeRequest } from '../../src/ports/kube-api.ts'
import { NodeDrain } from '../../src/source/drain.ts'

const ok = (object: unknown): KubeAnswer => ({ kind: 'ok', object })
const refused = (status: number): KubeAnswer => ({ kind: 'refused', status, reason: '', detail: 'no', retryAfterMs: undefined })
const OVERLOADED = { kind: 'refused', status: 429, reason: '', detail: '' } as const
const node = (spec: object) => ok({ kind: 'Node', metadata: { name: 'node-1' }, spec })
const CORDONED = node({ unschedulable: true })
const pods = (...items: readonly unknown[]) => ok({ kind: 'PodList', items })
const owned = (kind: string, controller = true) => ({ metadata: { ownerReferences: [{ kind, controller }] }, status: { phase: 'Running' } })
const ended = (phase: string) => ({ metadata: { ownerReferences: [{ kind: 'Job', controller: true }] }, status: { phase } })
const MIRROR = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [{ kind: 'Node', controller: true }] } }

/** `cached`: what the watch cache of the API server has, if that differs. */
function drainOf(node: KubeAnswer, list: KubeAnswer, chance = 0.5) {
  const world: { node: KubeAnswer; list: KubeAnswer; cached?: { node?: KubeAnswer; list?: KubeAnswer }; nowUs: number } = {
    node,
    list,
    nowUs: 0,
  }
  const requests: KubeRequest[] = []
  const api = {
    request: async (request: KubeRequest) => {
      requests.push(request)
      const cached = request.query?.resourceVersion === '0' ? world.cached : undefined
      return request.path === '/api/v1/pods' ? (cached?.list ?? world.list) : (cached?.node ?? world.node)
    },
  }
  const clock = { now: () => ({ bootId: 'b', monotonicUs: world.nowUs, wallMs: 0 }) }
  const changes: unknown[] = []
  const drain: NodeDrain = new NodeDrain({
    api,
    nodeName: 'node-1',
    clock,
    random: () => chance,
    onChange: () => changes.push(drain.isDrained()),
  })
  /** Since the last call: `node` and `pods`, with a star where the watch cache answers. */
  let told = 0
  const asked = (): string[] => {
    const since = requests.slice(told)
    told = requests.length
    return since.map(({ path, query }) => `${path === '/api/v1/pods' ? 'pods' : 'node'}${query?.resourceVersion === '0' ? '*' : ''}`)
  }
  return { world, requests, changes, drain, asked }
}

/** After its requests have been answered. */
async function settled(drain: NodeDrain): Promise<boolean | undefined> {
  drain.isDrained()
  for (let turn = 0; turn < 120; turn += 1) await new Promise((resolve) => setImmediate(resolve))
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
      requests.map(({ path, query }) => [path, query]),
      [['/api/v1/nodes/node-1', { resourceVersion: '0' }]],
    )
  }
})

t.test('a condition of the Node says that it is drained, whatever pods are left', async (t) => {
  const saying = (conditions: unknown, spec: object = {}) =>
    ok({ kind: 'Node', metadata: { name: 'node-1' }, spec, status: { conditions } })
  for (const type of ['Drained', 'MaintenanceInProgress']) {
    const { drain, asked } = drainOf(saying([null, { type: 'Ready', status: 'True' }, { type, status: 'True' }]), pods(owned('ReplicaSet')))
    t.equal(await settled(drain), true, type)
    t.same(asked(), ['node*', 'node'], 'confirmed, and no pods are listed')
    for (const status of ['False', 'Unknown', true])
      t.equal(await isDrained(saying([{ type, status }]), pods()), false, `${type} ${status}`)
  }
  for (const type of ['DrainInProgress', 'MaintenancePlanned', 'Ready'])
    t.equal(await isDrained(saying([{ type, status: 'True' }]), pods()), false, type)
  const cordoned = saying([{ type: 'Drained', status: 'False' }], { unschedulable: true })
  t.equal(await isDrained(cordoned, pods()), true, 'a cordoned node without pods is drained without it')
  for (const conditions of [undefined, null, 'Drained', {}]) t.equal(await isDrained(saying(conditions), pods()), false)
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

t.test('only metadata of the pods of this node is listed, from the watch cache', async (t) => {
  const { drain, requests } = drainOf(CORDONED, pods(owned('ReplicaSet')))
  await settled(drain)
  const fieldSelector = 'spec.nodeName=node-1,status.phase!=Succeeded,status.phase!=Failed'
  t.same(requests.slice(1), [
    { method: 'GET', path: '/api/v1/pods', query: { fieldSelector, resourceVersion: '0' }, as: 'PartialObjectMetadataList' },
  ])
  t.equal(await isDrained(CORDONED, ok({ kind: 'PartialObjectMetadataList', items: [owned('DaemonSet')] })), true)
})

t.test('that it is drained is confirmed with consistent reads, once a minute', async (t) => {
  const { world, drain, asked } = drainOf(CORDONED, pods(owned('DaemonSet')))
  t.equal(await settled(drain), true)
  t.same(asked(), ['node*', 'pods*', 'node', 'pods'])
  for (const second of [10, 20, 30, 40, 50]) {
    world.nowUs = second * 1e6
    t.equal(await settled(drain), true)
    t.same(asked(), ['node*', 'pods*'])
  }
  world.nowUs = 60e6
  t.equal(await settled(drain), true)
  t.same(asked(), ['node*', 'pods*', 'node', 'pods'])
})

t.test('that it was drained for an earlier change says nothing of the next one', async (t) => {
  const { world, drain } = drainOf(CORDONED, pods())
  t.equal(await settled(drain), true)
  world.nowUs += 3600e6
  world.list = pods(owned('ReplicaSet'))
  t.equal(drain.isDrained(), undefined)
  t.equal(await settled(drain), false)
})

t.test('a watch cache that lags behind does not make the node drained', async (t) => {
  const { world, drain, asked } = drainOf(CORDONED, pods(owned('ReplicaSet')))
  world.cached = { list: pods() }
  t.equal(await settled(drain), false)
  t.same(asked(), ['node*', 'pods*', 'node', 'pods'])
  world.node = node({})
  world.cached = { list: pods(), node: CORDONED }
  world.nowUs = 10e6
  t.equal(await settled(drain), false)
  t.same(asked(), ['node*', 'pods*', 'node'])
  t.equal(await isDrained(refused(500), pods()), undefined)
})

t.test('all pages of the consistent list count, and one that cannot be read means unknown', async (t) => {
  const page = (next: string, ...items: readonly unknown[]) => ok({ kind: 'PodList', metadata: { continue: next }, items })
  const play = async (...rest: readonly KubeAnswer[]) => {
    const pages = [page('more', owned('DaemonSet')), ...rest]
    const { world, requests, drain } = drainOf(CORDONED, pods())
    world.cached = { list: pods() }
    Object.defineProperty(world, 'list', { get: () => pages.shift() ?? page('more', MIRROR) })
    const lists = () => requests.filter(({ query }) => query?.limit === '200')
    return { result: await settled(drain), asked: lists().map(({ query }) => query?.continue) }
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

t.test('checked again after about 10 s while it is cordoned, and after a minute while it is not', async (t) => {
  for (const [first, seconds] of [
    [CORDONED, 10],
    [node({}), 60],
  ] as const)
    for (const [chance, share] of [
      [0, 0.75],
      [0.5, 1],
      [1, 1.25],
    ] as const) {
      const { world, drain, requests } = drainOf(first, pods(owned('ReplicaSet')), chance)
      t.equal(await settled(drain), false)
      const count = requests.length
      world.node = CORDONED
      world.list = pods()
      world.nowUs = share * seconds * 1e6 - 1
      t.equal(await settled(drain), false)
      t.equal(requests.length, count)
      world.nowUs += 1
      t.equal(await settled(drain), true)
    }
})

t.test('after failures the pauses grow to a minute, and are never shorter than Retry-After', async (t) => {
  const { world, drain, requests } = drainOf(refused(503), pods(), 0.999)
  const pauses: number[] = []
  for (let seconds = 0, last = 0; seconds < 300; seconds += 1) {
    world.nowUs = seconds * 1e6
    const before = requests.length
    t.equal(await settled(drain), undefined)
    if (requests.length > before && seconds > 0) pauses.push(seconds - last)
    if (requests.length > before) last = seconds
  }
  t.same(pauses, [13, 13, 13, 16, 32, 60, 60, 60])
  world.node = { ...OVERLOADED, retryAfterMs: 400_000 }
  world.nowUs = 400e6
  await settled(drain)
  const { length } = requests
  world.nowUs += 399e6
  await settled(drain)
  t.equal(requests.length, length)
  world.node = CORDONED
  world.nowUs += 100e6
  t.equal(await settled(drain), true)
})

// SPDX-License-Identifier: Apache-2.0
import type { Test } from 'tap'
import t from 'tap'
import type { Json } from '../../demo/api-server/objects.ts'
import { refusal } from '../../demo/api-server/reply.ts'
import type { ChannelSettings } from '../../src/source/channels/resolve.ts'
import { readAssignmentOnce } from '../../src/source/read-once.ts'
import { until } from '../until.ts'
import { assertPaced, NAMESPACE, NODE, putConfigMap, putNode, startWorld, type World, type WorldOptions } from './world.ts'

const LABEL = 'kubelet-cfg-agent.node-restriction.kubernetes.io/config'
const FLEET = 'kubelet-cfg-agent.io/fleet'
const CHANNELS: ChannelSettings = {
  channels: ['config-source', 'label', 'annotation', 'selector'],
  namespace: NAMESPACE,
  key: 'kubelet',
  defaultConfigMap: undefined,
}
const WITHOUT_FLEET: ChannelSettings = { ...CHANNELS, channels: ['config-source', 'label', 'annotation'] }
const MODERN: WorldOptions = { server: { storesConfigSource: false }, channels: WITHOUT_FLEET }

async function start(t: Test, options: WorldOptions, metadata: Json = {}): Promise<World> {
  const world = await startWorld(t, options)
  for (const name of ['one', 'two']) putConfigMap(world.server, name, name)
  tell(world, metadata)
  world.source.start(() => {})
  await until(() => world.calls.some(({ object, verb }) => object === NODE_PATH && verb === 'watch'), 'the Node is watched')
  return world
}

const NODE_PATH = `/api/v1/nodes/${NODE}`
const FLEET_PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`

/** Labels and annotations of the Node. */
function tell({ server }: World, metadata: Json): void {
  server.objects.put({ kind: 'Node', metadata: { name: NODE, ...metadata }, spec: {} })
}

function putFleetMember({ server }: World, name: string, selector: string, priority = '0'): void {
  const annotations = { 'kubelet-cfg-agent.io/node-selector': selector, 'kubelet-cfg-agent.io/priority': priority }
  const metadata = { name, namespace: NAMESPACE, labels: { [FLEET]: 'true' }, annotations }
  server.objects.put({ kind: 'ConfigMap', metadata, data: { kubelet: name } })
}

const sees = (world: World, seen: string) => until(() => world.seen() === seen, `${seen}, not ${world.seen()}`)
const forms = ({ calls }: World, verb: string) =>
  calls.filter((call) => call.object === NODE_PATH && call.verb === verb).map(({ form }) => form)

t.test('a server that drops configSource: the Node is read once and then watched by its metadata', async (t) => {
  const world = await start(t, MODERN, { labels: { [LABEL]: 'one' } })
  await sees(world, 'one=one')
  t.same([forms(world, 'list'), forms(world, 'watch')], [['whole'], ['metadata']])
  t.notOk(
    world.server.requests.some(({ verb }) => verb === 'patch'),
    'its version is enough',
  )
  tell(world, { labels: { [LABEL]: 'two' } })
  await sees(world, 'two=two')
  tell(world, { annotations: { 'kubelet-cfg-agent.io/config-source': `${NAMESPACE}/one` } })
  await sees(world, 'one=one')
  tell(world, { labels: { [LABEL]: 'Not_One' } })
  await sees(world, 'invalid')
  tell(world, {})
  await sees(world, 'local')
  t.same(
    world.lines.filter((line) => line.includes('assign')).map((line) => line.replace(/ \{.*/, '')),
    [
      `kube-system/one:kubelet is assigned by label ${LABEL} of the Node`,
      `kube-system/two:kubelet is assigned by label ${LABEL} of the Node`,
      'kube-system/one:kubelet is assigned by annotation kubelet-cfg-agent.io/config-source of the Node',
      'the assignment was updated',
      `failed to sync: label ${LABEL}: "Not_One" is not a valid name of a ConfigMap; the previous assignment stays in effect`,
      'no channel assigns a config to this node any more',
    ],
  )
  assertPaced(t, world)
})

t.test('a server that stores configSource: the Node is watched whole, and the dry run changes nothing', async (t) => {
  const world = await start(t, { channels: WITHOUT_FLEET }, { labels: { [LABEL]: 'one' } })
  await sees(world, 'one=one')
  t.same([forms(world, 'list'), forms(world, 'watch')], [['whole'], ['whole']])
  t.equal(world.server.objects.get('Node', NODE)?.status, undefined)
  putNode(world.server, 'two')
  await sees(world, 'two=two')
  t.match(world.source.desired().channelState, { channel: 'config-source', paused: undefined, problem: undefined })
})

t.test('a dry run detects an old server with the feature gate off', async (t) => {
  const world = await start(t, { ...MODERN, server: { storesConfigSource: false, version: 'v1.24.17-vendor.1' } })
  t.same(forms(world, 'watch'), ['metadata'])
  const [dryRun] = world.server.requests.filter(({ verb }) => verb === 'patch')
  t.equal(dryRun?.query.get('dryRun'), 'All')
  t.equal(world.server.objects.get('Node', NODE)?.status, undefined)
})

t.test('a server that cannot be classified counts as one that stores', async (t) => {
  const fault = ({ path, verb }: { path: string; verb: string }) =>
    path === '/version' || verb === 'patch' ? refusal(403, 'Forbidden') : undefined
  const world = await start(t, { ...MODERN, server: { storesConfigSource: false, fault } })
  t.same(forms(world, 'watch'), ['whole'])
})

t.test('a configSource left by an older server still counts, and is followed', async (t) => {
  const world = await startWorld(t, { channels: WITHOUT_FLEET, server: { version: 'v1.30.0' } })
  putNode(world.server, 'one')
  putConfigMap(world.server, 'one', 'one')
  world.source.start(() => {})
  await sees(world, 'one=one')
  await until(() => forms(world, 'watch').length > 0, 'watched')
  t.same(forms(world, 'watch'), ['whole'])
  tell(world, {})
  await sees(world, 'local')
})

t.test('where watching is forbidden, most reads are of metadata', async (t) => {
  const world = await startWorld(t, { ...MODERN, server: { storesConfigSource: false, authorize: ({ verb }) => verb !== 'watch' } })
  tell(world, {})
  world.source.start(() => {})
  await until(() => forms(world, 'list').length > 30, 'it is polled')
  const read = forms(world, 'list')
  t.equal(read[0], 'whole')
  t.ok(read.filter((form) => form === 'whole').length <= 5, `${read}`)
  t.ok(read.includes('metadata'))
})

t.test('paused by Node or ConfigMap', async (t) => {
  const world = await start(t, MODERN, { labels: { [LABEL]: 'one' } })
  await sees(world, 'one=one')
  const paused = () => world.source.desired().channelState?.paused?.by
  const annotations = { 'kubelet-cfg-agent.io/paused': 'true' }
  tell(world, { labels: { [LABEL]: 'one' }, annotations })
  await until(() => paused() === `annotation kubelet-cfg-agent.io/paused of Node ${NODE}`, 'paused')
  tell(world, { labels: { [LABEL]: 'one' } })
  await until(() => paused() === undefined, 'no longer')
  const metadata = { name: 'one', namespace: NAMESPACE, annotations }
  world.server.objects.put({ kind: 'ConfigMap', metadata, data: { kubelet: 'one' } })
  await until(() => paused() === 'annotation kubelet-cfg-agent.io/paused of ConfigMap kube-system/one', 'paused by the ConfigMap')
  tell(world, { labels: { [LABEL]: 'two' } })
  await sees(world, 'two=two')
  t.equal(paused(), undefined, 'it is no longer assigned')
})

t.test('the metadata of the fleet is watched, and only while the fleet decides', async (t) => {
  const world = await start(t, { ...MODERN, channels: CHANNELS }, { labels: { zone: 'a', [LABEL]: 'one' } })
  putFleetMember(world, 'fleet-a', 'zone=a')
  await sees(world, 'one=one')
  const fleetCalls = () => world.calls.filter(({ object, query }) => object === FLEET_PATH && query.labelSelector === `${FLEET}=true`)
  t.same(fleetCalls(), [])
  tell(world, { labels: { zone: 'a' } })
  await sees(world, 'fleet-a=fleet-a')
  await until(() => fleetCalls().length === 2, 'watched')
  t.same(
    fleetCalls().map(({ verb, form }) => [verb, form]),
    [
      ['list', 'metadata'],
      ['watch', 'metadata'],
    ],
  )
  putFleetMember(world, 'fleet-all', '', '5')
  await sees(world, 'fleet-all=fleet-all')
  putFleetMember(world, 'fleet-b', '!x', '5')
  await sees(world, 'invalid')
  t.match(world.source.desired(), {
    detail: /fleet-all, fleet-b match with the same priority 5/,
    channelState: { channel: 'selector', problem: /same priority/ },
  })
  world.server.objects.remove('ConfigMap', 'fleet-all', NAMESPACE)
  await sees(world, 'fleet-b=fleet-b')
  const open = fleetCalls().length
  tell(world, { labels: { zone: 'a', [LABEL]: 'two' } })
  await sees(world, 'two=two')
  world.server.disconnectAll()
  tell(world, { labels: { zone: 'a', [LABEL]: 'one' } })
  await sees(world, 'one=one')
  t.equal(fleetCalls().length, open, 'it is not requested again')
})

t.test('a fleet that may not be listed is an error if it decides, and never local', async (t) => {
  const world = await start(
    t,
    { ...MODERN, channels: { ...CHANNELS, defaultConfigMap: { namespace: NAMESPACE, name: 'two', kubeletConfigKey: 'kubelet' } } },
    { labels: { [LABEL]: 'one' } },
  )
  let granted = false
  world.server.fault = (request) => (request.query.get('labelSelector') === null || granted ? undefined : refusal(403, 'Forbidden'))
  await sees(world, 'one=one')
  tell(world, {})
  await sees(world, 'invalid')
  t.match(world.source.desired(), {
    detail: /ConfigMaps labelled .* in kube-system cannot be listed: /,
    channelState: { channel: 'selector' },
  })
  granted = true
  await sees(world, 'two=two')
  t.same(world.source.desired().channelState?.channel, 'default')
  assertPaced(t, world)
})

t.test('layers over the one that the selector chooses: each has a watch, and a tie between them is refused', async (t) => {
  const world = await start(t, { channels: CHANNELS }, { labels: { role: 'worker' } })
  const putLayer = (name: string, priority: string, text: string, selector = 'role=worker') => {
    const annotations = {
      'kubelet-cfg-agent.io/node-selector': selector,
      'kubelet-cfg-agent.io/priority': priority,
      'kubelet-cfg-agent.io/layer': 'true',
    }
    const metadata = { name, namespace: NAMESPACE, labels: { [FLEET]: 'true' }, annotations }
    world.server.objects.put({ kind: 'ConfigMap', metadata, data: { kubelet: text } })
  }
  /** Names and texts of the layers, as far as they are known. */
  const layers = (): string => {
    const desired = world.source.desired()
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return desired.kind
    const shown = (desired.object.layers ?? []).map(({ ref, object }) => {
      return `${ref.name}=${object.kind === 'found' ? object.data.kubelet : object.kind}`
    })
    return [desired.ref.name, ...shown].join(' ')
  }
  const becomes = (expected: string) => until(() => layers() === expected, `${expected}, not ${layers()}`)
  putFleetMember(world, 'pool', '')
  await becomes('pool')
  putLayer('late', '20', 'l1')
  putLayer('early', '-1', 'e1')
  putLayer('other', '1', 'o1', 'role=other')
  await becomes('pool early=e1 late=l1')
  putLayer('late', '20', 'l2')
  await becomes('pool early=e1 late=l2')
  putLayer('tied', '20', 't1')
  await becomes('invalid')
  t.match(world.source.desired(), { detail: /late, tied match with the annotation .*\/layer and the same priority 20/ })
  putLayer('tied', '-5', 't1')
  await becomes('pool tied=t1 early=e1 late=l2')
  tell(world, { labels: { role: 'other' } })
  await becomes('pool other=o1')
  const watched = world.calls
    .filter(({ object }) => object.startsWith(`${FLEET_PATH}/`))
    .map(({ object }) => object.slice(FLEET_PATH.length + 1))
  t.same([...new Set(watched)].sort(), ['early', 'late', 'other', 'pool', 'tied'])
  assertPaced(t, world)
  const read = await readAssignmentOnce(world.api, NODE, CHANNELS)
  t.match(read, { ref: { name: 'pool' }, object: { layers: [{ ref: { name: 'other' }, object: { data: { kubelet: 'o1' } } }] } })
})

t.test('where values are computed from the Node, the whole Node is read and watched', async (t) => {
  const world = await start(t, { ...MODERN, random: () => 0.71 }, { labels: { [LABEL]: 'one' } })
  await sees(world, 'one=one')
  const capacity = (cpu: string) =>
    world.server.objects.put({
      kind: 'Node',
      metadata: { name: NODE, labels: { [LABEL]: 'one' } },
      spec: {},
      status: { capacity: { cpu } },
    })
  const shows = (cpu: string) => {
    const view = world.source.node(true)
    return view.kind === 'found' && view.node.capacity.cpu === cpu
  }
  t.match(world.source.node(false), { kind: 'found', node: { capacity: {} } }, 'nothing was said since the first read')
  capacity('4')
  await until(() => world.source.node(false).kind === 'pending', 'the metadata changed')
  t.same(forms(world, 'watch'), ['metadata'])
  await until(() => shows('4'), 'the whole Node is read')
  t.ok(world.sleeps.includes(7100), 'not on all nodes at once, after an edit that first computes')
  await until(() => forms(world, 'watch').length > 1, 'it is watched')
  t.same(
    [forms(world, 'list'), forms(world, 'watch')],
    [
      ['whole', 'whole'],
      ['metadata', 'whole'],
    ],
  )
  capacity('8')
  await until(() => shows('8'), 'a change of the Node is seen')
  assertPaced(t, world)
})

// SPDX-License-Identifier: Apache-2.0
import type { Test } from 'tap'
import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import { resolveDesired } from '../../src/decision/desired.ts'
import { mergePart } from '../../src/overlay/merge-part.ts'
import { PartSource } from '../../src/overlay/part-source.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { found, localConfig } from '../overlay/local-configs.ts'
import { until } from '../until.ts'
import { assertPaced, NAMESPACE, putNode, startWorld } from './world.ts'

const BASE = 'kubelet-cfg-agent.io/base'

/** The agent's source of assignments with parts, over HTTPS. It looks when something wakes it. */
async function start(t: Test) {
  const world = await startWorld(t)
  const { source: inner, nowMs, sleep, log } = world
  const node = { local: 'clusterDomain: a.example\n', wakes: 0 }
  const source = new PartSource(inner, { merge: (bases, data, key) => mergePart(bases, data, key, IN_PLACE), pace: { nowMs, sleep }, log })
  const look = (): Desired => source.desired(() => found(node.local))
  const put = (text: string, annotations: Record<string, string> = { [BASE]: 'local' }) =>
    world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'part', namespace: NAMESPACE, annotations }, data: { kubelet: text } })
  putNode(world.server, 'part')
  put('maxPods: 200\n')
  source.start(() => {
    node.wakes += 1
    look()
  })
  const fields = (): Record<string, unknown> => {
    const desired = look()
    const text = desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.rendered?.data.kubelet : undefined
    return JSON.parse(text ?? '{}')
  }
  const sees = (expected: Record<string, unknown>) =>
    until(() => Object.entries(expected).every(([name, value]) => fields()[name] === value), JSON.stringify(expected))
  const putBase = (name: string, text: string, base?: string) => {
    const annotations = base === undefined ? {} : { [BASE]: base }
    world.server.objects.put({ kind: 'ConfigMap', metadata: { name, namespace: 'pools', annotations }, data: { kubelet: text } })
  }
  return { world, node, look, put, putBase, sees }
}

t.test('a part from the API server is merged over the local config, and follows edits of both', async (t) => {
  const world = await start(t)
  await world.sees({ kind: 'KubeletConfiguration', maxPods: 200, clusterDomain: 'a.example' })
  const before = resolveDesired(world.look())
  world.put('maxPods: 201\n')
  await world.sees({ maxPods: 201, clusterDomain: 'a.example' })
  world.node.local = 'clusterDomain: b.example\n'
  await world.sees({ maxPods: 201, clusterDomain: 'b.example' })
  world.put('maxPods: 200\n')
  world.node.local = 'clusterDomain: a.example\n'
  await world.sees({ maxPods: 200, clusterDomain: 'a.example' })
  t.equal(Object(resolveDesired(world.look())).overlay, Object(before).overlay, 'the same result has the same name')
  assertPaced(t, world.world)
})

t.test('an edit of the annotation alone is seen: a part is never taken for a whole config, nor the other way round', async (t) => {
  const world = await start(t)
  await world.sees({ maxPods: 200 })
  world.put('maxPods: 200\n', { [BASE]: 'lokal' })
  await until(() => world.look().kind === 'invalid', 'the annotation is refused')
  t.match(world.look(), { detail: `annotation ${BASE} of the ConfigMap: "lokal" is neither local nor NAMESPACE/NAME[:KEY]`, isSeen: true })
  world.put('maxPods: 200\n', {})
  await until(() => world.look().kind === 'config-map', 'a whole config again')
  t.notOk('overlay' in Object(resolveDesired(world.look())))
  world.put('maxPods: 200\n')
  await world.sees({ maxPods: 200, clusterDomain: 'a.example' })
})

t.test('a pause on a ConfigMap that cannot be merged holds', async (t) => {
  const world = await start(t)
  await world.sees({ maxPods: 200 })
  world.put('maxPods: [\n', { [BASE]: 'local', 'kubelet-cfg-agent.io/paused': 'true' })
  await until(() => world.look().kind === 'invalid', 'the part is refused')
  t.match(world.look(), { channelState: { paused: { on: 'ConfigMap' }, problem: /cannot be merged/ } })
})

t.test('while the API server is away, the local config is followed', async (t) => {
  const world = await start(t)
  await world.sees({ maxPods: 200, clusterDomain: 'a.example' })
  await world.world.server.stop()
  world.node.local = 'clusterDomain: c.example\n'
  await world.sees({ maxPods: 200, clusterDomain: 'c.example' })
})

t.test('a part over ConfigMaps: each is read and watched by its name, and an edit of any is followed', async (t) => {
  const world = await start(t)
  world.putBase('all', localConfig('maxPods: 1\npodPidsLimit: 1\nclusterDomain: x.example\n'))
  world.putBase('gpu', 'podPidsLimit: 2\n', 'pools/all')
  world.put('maxPods: 3\n', { [BASE]: 'pools/gpu' })
  await world.sees({ maxPods: 3, podPidsLimit: 2, clusterDomain: 'x.example' })
  const before = resolveDesired(world.look())
  world.putBase('all', localConfig('clusterDomain: y.example\n'))
  await world.sees({ maxPods: 3, podPidsLimit: 2, clusterDomain: 'y.example' })
  t.ok(
    world.world.lines.some((line) =>
      line.startsWith('ConfigMap that is merged with the assigned one was updated {"path":"/api/v1/namespaces/pools/configmaps/all"'),
    ),
  )
  t.match(resolveDesired(world.look()), { resourceVersion: Object(before).resourceVersion }, 'the part is the same version')
  t.not(Object(resolveDesired(world.look())).overlay, Object(before).overlay, 'with another result')
  world.putBase('gpu', 'podPidsLimit: 4\n', 'local')
  await world.sees({ maxPods: 3, podPidsLimit: 4, clusterDomain: 'a.example' })
  const { calls } = world.world
  const all = calls.filter(({ object }) => object === '/api/v1/namespaces/pools/configmaps/all').length
  world.putBase('all', localConfig('clusterDomain: z.example\n'))
  world.node.local = 'clusterDomain: b.example\n'
  await world.sees({ clusterDomain: 'b.example' })
  t.equal(calls.filter(({ object }) => object === '/api/v1/namespaces/pools/configmaps/all').length, all, 'it is watched no more')
  assertPaced(t, world.world)
})

t.test('a base that is missing, malformed or under itself is an error, and the node stays as it is', async (t) => {
  const world = await start(t)
  const refused = async (detail: RegExp) => {
    await until(
      () => world.look().kind === 'invalid' && detail.test(Object(world.look()).detail),
      `${detail}, not ${JSON.stringify(world.look())}`,
    )
    t.match(world.look(), { isSeen: true, channelState: { problem: detail } })
  }
  world.put('maxPods: 3\n', { [BASE]: 'pools/gpu' })
  await refused(/^ConfigMap pools\/gpu:kubelet under the assigned part cannot be read: it does not exist$/)
  world.putBase('gpu', localConfig('podPidsLimit: 2\n'))
  await world.sees({ maxPods: 3, podPidsLimit: 2 })
  world.putBase('gpu', 'podPidsLimit: [\n')
  await refused(/^a ConfigMap under the assigned part cannot be its base, see kubelet-cfg-agent log/)
  world.putBase('gpu', '{}', 'pools/gpu')
  await refused(/cycle: kube-system\/part -> pools\/gpu -> pools\/gpu$/)
  world.putBase('gpu', '{}', 'gpu')
  await refused(/"gpu" is neither local nor/)
  world.putBase('gpu', localConfig('podPidsLimit: 5\n'))
  await world.sees({ maxPods: 3, podPidsLimit: 5 })
  world.world.server.objects.remove('ConfigMap', 'gpu', 'pools')
  await refused(/it does not exist$/)
})

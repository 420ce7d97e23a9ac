// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { contentHash } from '../../../src/checkpoint/content.ts'
import { getConfig, isPaused } from '../../../src/command/plugin/config-maps.ts'
import { mergeText } from '../../../src/command/plugin/merged-text.ts'
import { hashWhole } from '../../../src/command/plugin/rollout-state.ts'
import {
  BASE_ANNOTATION,
  FLEET_LABEL,
  LAYER_ANNOTATION,
  NODE_SELECTOR_ANNOTATION,
  ROLLOUT_ANNOTATION,
} from '../../../src/decision/channels.ts'
import { metadataOf } from '../../../src/source/channels/metadata.ts'
import { editConfigMap, NAMESPACE, nodeObject, type PluginWorld, putConfigMap, sourceOf, startPluginWorld } from './world.ts'

const WHOLE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const over = (name: string) => ({ [BASE_ANNOTATION]: `${NAMESPACE}/${name}` })
const writes = ({ server }: PluginWorld) => server.requests.filter(({ verb }) => verb === 'create' || verb === 'patch').length

/** The config base, the part middle over it and the part gpu over that, which n1 and n2 run. */
async function startWithBase(t: Parameters<typeof startPluginWorld>[0]): Promise<PluginWorld> {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'base', `${WHOLE}maxPods: 50\n`)
  putConfigMap(world, 'middle', 'podsPerCore: 10\n', over('base'))
  putConfigMap(world, 'gpu', 'healthzPort: 10300\n', over('middle'))
  const merged = await mergeText(world.context, { data: { kubelet: 'healthzPort: 10300\n' }, base: `${NAMESPACE}/middle` })
  if (!merged.ok) throw new Error(merged.detail)
  const said = { contentHash: contentHash(merged.data, 'kubelet') }
  world.server.objects.put(nodeObject('n1', { config: 'gpu', kubeletVersion: 'v1.20.2', said }))
  world.server.objects.put(nodeObject('n2', { config: 'gpu', kubeletVersion: 'v1.34.1' }))
  world.server.objects.put(nodeObject('n3', { config: 'other', kubeletVersion: 'v1.28.0' }))
  return world
}

t.test('a kubelet that is newer than the rules is said to be not checked', async (t) => {
  const world = await startPluginWorld(t)
  world.server.objects.put(nodeObject('n1', { config: 'gpu', kubeletVersion: 'v1.99.0' }))
  world.files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await world.run('apply', '-f', 'a', 'gpu', '--yes')
  t.equal(code, 0)
  t.match(out, /^a: not checked by the rules of kubelet 1\.99\.0: the rules cover kubelet 1\.\d+ to 1\.\d+, not 1\.99\.0(?:: .*)?$/m)
})

t.test('nodes with a part over the config use it', async (t) => {
  const world = await startWithBase(t)
  const { run, files } = world
  files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await run('apply', '-f', 'a', 'base', '--yes')
  t.equal(code, 0)
  t.match(out, /^kube-system\/base is the base of kube-system\/gpu, which 2 nodes use\.$/m)
  t.match(out, /^a: accepted by the rules of kubelet 1\.20\.2\na: accepted by the rules of kubelet 1\.34\.1$/m)
  t.match(out, /^ConfigMap kube-system\/gpu, over this base: accepted by the rules of kubelet 1\.34\.1$/m)
  t.notMatch(out, /1\.28|every kubelet/)
  t.match(out, /, known to be run by 1 of 2 nodes:/)
  t.match(out, /Of 1 node it is not known which version it runs/)
  t.match(out, /It goes to 2 nodes as the base of kube-system\/gpu, spread over some minutes/)
  t.notMatch(out, /no node uses|No node uses/i)
  t.match((await run('versions', 'base')).out, / 1 +- +previous$/m)
  const undone = await run('undo', 'base', '--yes')
  t.match(undone, { code: 0, out: /It goes to 2 nodes as the base of kube-system\/gpu/ })
  t.match(undone.out, /is the base of kube-system\/gpu, which 2 nodes use/)
})

/** The same, and the part side over another key of the base, which n4 runs. */
async function startWithOtherKey(t: Parameters<typeof startPluginWorld>[0]): Promise<PluginWorld> {
  const world = await startWithBase(t)
  const data = { kubelet: `${WHOLE}maxPods: 50\n`, other: `${WHOLE}maxPods: 51\n` }
  world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'base', namespace: NAMESPACE }, data })
  putConfigMap(world, 'side', 'podsPerCore: 10\n', over('base:other'))
  world.server.objects.put(nodeObject('n4', { config: 'side' }))
  return world
}

t.test('a change of a base goes to no part over another key of it', async (t) => {
  const world = await startWithOtherKey(t)
  const { run, files, server } = world
  files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await run('apply', '-f', 'a', 'base', '--yes')
  t.equal(code, 0)
  t.match(out, /^kube-system\/base is the base of kube-system\/gpu, which 2 nodes use\.$/m)
  t.match(out, /^kube-system\/base:other is the base of kube-system\/side, which 1 node uses\.$/m)
  t.match(out, /by 1 of 2 nodes:/)
  t.match(out, /It goes to 2 nodes as the base of kube-system\/gpu, spread over some minutes/)
  t.notMatch(out, /ConfigMap kube-system\/side, over this base/)
  t.match((await run('undo', 'base', '--yes')).out, /It goes to 2 nodes as the base of kube-system\/gpu, spread/)
  for (const name of ['n1', 'n2']) server.objects.remove('Node', name)
  t.match(
    (await run('undo', 'base', '--yes')).out,
    /It goes to no node: what is under kube-system\/side is another key, which stays as it is\.\n/,
  )
})

t.test('a part over another key of a base gets the change of that key', async (t) => {
  const world = await startWithOtherKey(t)
  const data = { kubelet: `${WHOLE}maxPods: 60\n`, other: `${WHOLE}maxPods: 61\n` }
  world.files.set('a', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'base' }, data }))
  const { out } = await world.run('apply', '-f', 'a', 'base', '--yes')
  t.match(out, /^ConfigMap kube-system\/side, over this base: accepted by/m)
  t.match(out, /It goes to 3 nodes as the base of kube-system\/gpu, kube-system\/side, spread/)
})

t.test('a part that is assigned by another key is over that key, or over the one that it names', async (t) => {
  const world = await startWithOtherKey(t)
  const { run, files, server } = world
  const annotation = (name: string) => ({ 'kubelet-cfg-agent.io/config-source': `${NAMESPACE}/${name}:other` })
  const put = (name: string, base: string) =>
    server.objects.put({
      kind: 'ConfigMap',
      metadata: { name, namespace: NAMESPACE, annotations: over(base) },
      data: { kubelet: 'maxPods: -1\n', other: 'podsPerCore: 11\n' },
    })
  put('follows', 'base')
  put('names', 'base:kubelet')
  server.objects.put(nodeObject('n5', { annotations: annotation('follows') }))
  server.objects.put(nodeObject('n6', { annotations: annotation('names') }))
  files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await run('apply', '-f', 'a', 'base', '--yes')
  t.equal(code, 0)
  t.match(out, /^kube-system\/base:other is the base of kube-system\/follows:other, kube-system\/side, which 2 nodes use\.$/m)
  t.match(out, /^ConfigMap kube-system\/names:other, over this base: not checked here, but by each node: /m)
  t.match(out, /It goes to 3 nodes as the base of kube-system\/gpu, kube-system\/names:other, spread/)
})

t.test('a base that does not exist yet is waited for', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'gpu', 'podsPerCore: 10\n', over('base'))
  world.server.objects.put(nodeObject('n1', { config: 'gpu' }))
  world.files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await world.run('apply', '-f', 'a', 'base', '--yes')
  t.equal(code, 0)
  t.match(out, /is new: 1 node asks for it/)
  t.match(out, /It goes to 1 node as the base of kube-system\/gpu/)
})

t.test('what a part over it would make is checked', async (t) => {
  const world = await startWithBase(t)
  const { run, files } = world
  putConfigMap(world, 'middle', 'imageGCHighThresholdPercent: 82\n', over('base'))
  files.set('a', `${WHOLE}imageGCLowThresholdPercent: 84\n`)
  const { code, out } = await run('apply', '-f', 'a', 'base', '--yes')
  t.equal(code, 1)
  t.match(out, /^a: accepted by/m)
  t.match(out, /^ConfigMap kube-system\/gpu, over this base: error: imageGC/m)
  t.match(out, /^ConfigMap kube-system\/gpu, over this base: refused by/m)
  t.equal(writes(world), 0)
})

t.test('a part that is refused anyway does not stop a change of its base', async (t) => {
  const world = await startWithBase(t)
  putConfigMap(world, 'gpu', 'maxPods: -1\n', over('middle'))
  world.files.set('a', `${WHOLE}podsPerCore: 11\n`)
  t.match(await world.run('apply', '-f', 'a', 'base', '--yes'), {
    code: 0,
    out: /refused by the rules of kubelet 1\.34\.1\nIt is refused over what the base holds now too, so that does not stop this change\./,
  })
})

t.test('a base may hold what only the parts over it mend', async (t) => {
  const world = await startWithBase(t)
  putConfigMap(world, 'gpu', 'maxPods: 10\n', over('middle'))
  world.files.set('a', `${WHOLE}maxPods: -1\n`)
  t.match(await world.run('apply', '-f', 'a', 'base', '--dry-run'), { code: 0, out: /^Every node that uses a merges a part over it\.$/m })
  world.server.objects.put(nodeObject('n4', { config: 'base' }))
  t.match(await world.run('apply', '-f', 'a', 'base', '--dry-run'), { code: 1 })
})

t.test('a base that would close a cycle is refused', async (t) => {
  const world = await startWithBase(t)
  world.files.set('a', 'maxPods: 60\n')
  const { code, out, err } = await world.run('apply', '-f', 'a', 'base', '--base', `${NAMESPACE}/gpu`, '--yes')
  t.equal(code, 1)
  t.match(`${out}${err}`, /the bases form a cycle/)
  t.equal(writes(world), 0)
})

const PAUSED = { 'kubelet-cfg-agent.io/paused': 'true' }

/** The part gpu has a rollout, whose record is about this content of its present version. */
async function startStaged(t: Parameters<typeof startPluginWorld>[0], annotations: Readonly<Record<string, string>> = {}) {
  const world = await startWithBase(t)
  const { server, context, files } = world
  putConfigMap(world, 'gpu', 'healthzPort: 10300\n', { ...over('middle'), [ROLLOUT_ANNOTATION]: 'gpu-rollout', ...annotations })
  const { uid, resourceVersion } = await getConfig(context, 'gpu')
  const hash = await hashWhole(context, await getConfig(context, 'gpu'))
  const putRecord = (data: Readonly<Record<string, string>>) =>
    server.objects.put({ kind: 'ConfigMap', metadata: { name: 'gpu-rollout', namespace: NAMESPACE }, data })
  putRecord({ state: `1 7 5 ${hash} ${uid} ${resourceVersion} 0` })
  files.set('a', `${WHOLE}maxPods: 60\n`)
  return Object.assign(world, { putRecord })
}

const TOUCH = /kubectl -n kube-system annotate configmap gpu edited="\$\(date\)" --overwrite$/m

t.test('a part with a rollout begins none when its base changes, but when it becomes another version', async (t) => {
  const world = await startStaged(t)
  const { run, putRecord, server } = world
  const { out } = await run('apply', '-f', 'a', 'base', '--yes')
  t.match(out, /It goes to 2 nodes as the base of kube-system\/gpu in stages, which begin when the part itself becomes another version: /)
  t.match(out, TOUCH)
  const undone = await run('undo', 'base', '--yes')
  t.match(undone.out, /as the base of kube-system\/gpu in stages: .* rollout status gpu\n/, 'the record is about what the base held before')
  putConfigMap(world, 'gpu', 'healthzPort: 10301\n', { ...over('middle'), [ROLLOUT_ANNOTATION]: 'gpu-rollout' })
  t.match((await run('undo', 'base', '--yes')).out, /as the base of kube-system\/gpu in stages: .* rollout status gpu\n/)
  putRecord({})
  t.match((await run('undo', 'base', '--yes')).out, /as the base of kube-system\/gpu in stages: .* rollout status gpu\n/)
  server.objects.remove('ConfigMap', 'gpu-rollout', NAMESPACE)
  t.match((await run('undo', 'base', '--yes')).out, /in stages, once its rollout begins: .* rollout status gpu\n/)
})

t.test('what is paused goes nowhere before it is resumed', async (t) => {
  const world = await startWithBase(t)
  const { run, files } = world
  files.set('a', `${WHOLE}maxPods: 60\n`)
  putConfigMap(world, 'base', `${WHOLE}maxPods: 50\n`, PAUSED)
  t.match((await run('apply', '-f', 'a', 'base', '--yes')).out, /It goes to 2 nodes as the base/, 'a pause of a base pauses nothing')
  putConfigMap(world, 'gpu', 'healthzPort: 10300\n', { ...over('middle'), ...PAUSED })
  const resume = /^.*kube-system\/gpu is paused: this base goes to its 2 nodes after kubectl kubelet-config rollout resume gpu$/m
  t.match((await run('undo', 'base', '--yes')).out, resume)
  putConfigMap(world, 'other', `${WHOLE}maxPods: 50\n`, PAUSED)
  t.match(
    (await run('apply', '-f', 'a', 'other', '--yes')).out,
    /It is paused: it goes to 1 node after kubectl kubelet-config rollout resume other\n/,
  )
  putConfigMap(world, 'other', `${WHOLE}maxPods: 50\n`, { ...PAUSED, [ROLLOUT_ANNOTATION]: 'r' })
  t.match((await run('apply', '-f', 'a', 'other', '--yes')).out, /It is paused: it goes to 1 node in stages after .* resume other\n/)
  const staged = await startStaged(t, PAUSED)
  const { out } = await staged.run('apply', '-f', 'a', 'base', '--yes')
  t.match(out, /is paused: this base goes to its 2 nodes in stages after .* rollout resume gpu\nThese stages begin when the part itself /)
  t.match(out, TOUCH)
})

t.test('without the right to list the ConfigMaps, it is not known which nodes use it', async (t) => {
  const world = await startPluginWorld(t)
  const { run, files, server } = world
  const elsewhere = { configMap: { namespace: 'pool', name: 'gpu', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '1' } }
  putConfigMap(world, 'base', `${WHOLE}maxPods: 50\n`)
  server.objects.put(nodeObject('n1', { said: { assigned: elsewhere, channel: 'annotation' } }))
  server.authorize = ({ path }) => !path.includes('/namespaces/pool/')
  files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await run('apply', '-f', 'a', 'base', '--yes')
  t.equal(code, 0)
  t.match(
    out,
    /It is not known whether more nodes use kube-system\/base as the base of a part: the right to list configmaps in the namespace pool/,
  )
  t.match(out, /which no node is known to use/)
  t.match(out, /No node is known to use it\./)
  t.notMatch(out, /no node uses/i)
})

const isPausedIn = ({ server }: PluginWorld, name: string) =>
  isPaused(metadataOf(server.objects.get('ConfigMap', name, NAMESPACE))?.annotations ?? {})

t.test('a pause of what is only a base or a layer is set, and no Node is known that it counts for', async (t) => {
  const world = await startWithBase(t)
  t.match(await world.run('rollout', 'pause', 'base'), {
    code: 1,
    out: 'ConfigMap kube-system/base is paused.\n',
    err: /no Node is known to be assigned kube-system\/base.*; nodes with kube-system\/gpu over .* are not paused: .* rollout pause gpu\n/,
  })
  t.ok(isPausedIn(world, 'base'))
  world.server.objects.put(nodeObject('n4', { config: 'base' }))
  t.match(await world.run('rollout', 'pause', 'base'), {
    code: 0,
    out: 'ConfigMap kube-system/base is paused.\n',
    err: 'Note: nodes with kube-system/gpu over kube-system/base are not paused: kubectl kubelet-config rollout pause gpu\n',
  })
  t.match(await world.run('rollout', 'pause', 'gpu'), { code: 0, err: '' })
  t.match(await world.run('rollout', 'pause', 'base'), { code: 0, err: '' }, 'the part is paused itself')
  world.server.objects.remove('Node', 'n4')
  t.match(await world.run('rollout', 'pause', 'base'), { code: 1, err: /no Node is known .*; the parts over it are paused\n/ })
  const layers = await startWithLayer(t)
  t.match(await layers.run('rollout', 'pause', 'gpu'), { code: 1, err: /nodes that kube-system\/gpu is a layer on are not paused/ })
  t.ok(isPausedIn(layers, 'gpu'))
  t.match(await layers.run('rollout', 'pause', 'chosen'), { code: 0, err: '' })
})

t.test('a pause comes before a look at the nodes, whose agents may not have told yet what they follow', async (t) => {
  const world = await startWithBase(t)
  world.server.objects.put(nodeObject('n4', { said: { channel: 'selector' } }))
  world.server.fault = ({ path }) => {
    // As an edit that comes while the nodes are read.
    if (path.endsWith('/nodes')) editConfigMap(world, 'base', `${WHOLE}maxPods: 51\n`)
    return undefined
  }
  const { err } = await world.run('rollout', 'pause', 'base')
  t.match(err, /no Node is known to be assigned kube-system\/base/)
  t.ok(isPausedIn(world, 'base'))
  const steps = world.server.requests.filter(({ verb, path }) => verb === 'patch' || path.endsWith('/api/v1/nodes'))
  t.match(steps, [{ verb: 'patch' }, { verb: 'list' }])
})

t.test('a pause needs no right to list', async (t) => {
  const world = await startWithBase(t)
  world.server.authorize = ({ verb }) => verb !== 'list'
  t.match(await world.run('rollout', 'pause', 'gpu'), {
    code: 0,
    out: /is paused/,
    err: /^Note: It is not known whether more nodes use .*list nodes/,
  })
  t.ok(isPausedIn(world, 'gpu'))
})

/** The layer gpu over the config chosen, which n1 has and n2 has not. */
async function startWithLayer(t: Parameters<typeof startPluginWorld>[0]): Promise<PluginWorld> {
  const world = await startPluginWorld(t)
  const layer = { [LAYER_ANNOTATION]: 'true', [NODE_SELECTOR_ANNOTATION]: 'gpu=yes' }
  world.server.objects.put({
    kind: 'ConfigMap',
    metadata: { name: 'gpu', namespace: NAMESPACE, labels: { [FLEET_LABEL]: 'true' }, annotations: layer },
    data: { kubelet: `${WHOLE}maxPods: 50\n` },
  })
  putConfigMap(world, 'chosen', `${WHOLE}podsPerCore: 10\n`)
  for (const [name, gpu] of [
    ['n1', 'yes'],
    ['n2', 'no'],
  ] as const)
    world.server.objects.put(
      nodeObject(name, { labels: { gpu }, said: { assigned: sourceOf('chosen'), active: sourceOf('chosen'), channel: 'selector' } }),
    )
  return world
}

t.test('a layer is used by the nodes that it selects', async (t) => {
  const { run, files } = await startWithLayer(t)
  files.set('a', `${WHOLE}maxPods: 60\n`)
  const { code, out } = await run('apply', '-f', 'a', 'gpu', '--yes')
  t.equal(code, 0)
  t.match(out, /^kube-system\/gpu is a layer on 1 node\.$/m)
  t.match(out, /Each node that it is a layer on checks it again/)
  t.match(out, /It goes to 1 node as a layer, spread/)
})

t.test('no rollout is set up that nodes refuse', async (t) => {
  const parts = await startWithBase(t)
  const before = writes(parts)
  t.match(await parts.run('rollout', 'init', 'base', '--yes'), {
    code: 1,
    out: '',
    err: /kube-system\/base is the base of kube-system\/gpu: .*use a copy of kube-system\/base as the base/,
  })
  t.match(await parts.run('rollout', 'init', 'middle', '--dry-run'), { code: 1, out: '', err: /middle is the base of kube-system\/gpu: / })
  t.equal(writes(parts), before)
  t.match(await parts.run('rollout', 'init', 'gpu', '--yes'), { code: 0, err: '' }, 'the part itself')
  const layers = await startWithLayer(t)
  t.match(await layers.run('rollout', 'init', 'gpu', '--yes'), { code: 1, err: /kube-system\/gpu is a layer on 1 node: / })
  t.match(await layers.run('rollout', 'init', 'chosen', '--yes'), {
    code: 1,
    err: /layers match nodes that use kube-system\/chosen \(gpu\): /,
  })
  t.equal(writes(layers), 0)
})

t.test('without the right to list Nodes, a rollout is set up, and what is not known is said', async (t) => {
  const world = await startWithBase(t)
  world.server.authorize = ({ verb, path }) => verb !== 'list' || !path.endsWith('/nodes')
  t.match(await world.run('rollout', 'init', 'gpu', '--yes'), {
    code: 0,
    err: /^Note: It is not known whether more nodes use kube-system\/gpu as the base of a part: the right to list nodes at the cluster scope is missing/,
  })
})

t.test('kept versions and other namespaces cost no list where all nodes use the config itself', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', WHOLE)
  world.server.objects.put(nodeObject('n1', { config: 'pods' }))
  t.match(await world.run('versions', 'pods'), { code: 0, out: /pods|VERSION/ })
  const lists = world.server.requests.filter(({ verb, path }) => verb === 'list' && path.endsWith('/configmaps'))
  t.equal(lists.length, 1, 'the kept versions')
})

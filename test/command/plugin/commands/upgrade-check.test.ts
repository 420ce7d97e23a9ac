// SPDX-License-Identifier: Apache-2.0
import t, { type Test } from 'tap'
import {
  BASE_ANNOTATION,
  CONFIG_LABEL,
  FLEET_LABEL,
  LAYER_ANNOTATION,
  NODE_SELECTOR_ANNOTATION,
} from '../../../../src/decision/channels.ts'
import { LAST_IN_TABLES, NEWEST_MINOR } from '../../../../src/kubelet/fields.ts'
import { NAMESPACE, nodeObject, type PluginWorld, putConfigMap, sourceOf, startPluginWorld } from '../world.ts'

const WHOLE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

/** n1 and n2 with one config on two kubelets, n3 with a part over another one, n4 with none. */
async function startFleet(t: Test): Promise<PluginWorld> {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'spelled', `${WHOLE}memoryThrottlingFactor: 0.9\nmaxPod: 5\n`)
  putConfigMap(world, 'under', `${WHOLE}eventRecordQPS: 0\n`)
  putConfigMap(world, 'part', 'maxPods: 50\n', { [BASE_ANNOTATION]: `${NAMESPACE}/under` })
  for (const [name, config, kubeletVersion] of [
    ['n1', 'spelled', 'v1.36.3'],
    ['n2', 'spelled', 'v1.37.2'],
    ['n3', 'part', 'v1.36.4'],
    ['n4', undefined, 'v1.36.4'],
  ] as const)
    world.server.objects.put(nodeObject(name, { ...(config && { config }), kubeletVersion }))
  return world
}

t.test('each config for each kubelet that uses it, from one list of nodes', async (t) => {
  const world = await startFleet(t)
  const { code, out, err } = await world.run('upgrade-check', '1.37')
  t.equal(code, 0, err)
  t.matchSnapshot(out)
  t.match(
    out,
    /^kube-system\/part:kubelet: warning: eventRecordQPS changes its meaning: to kubelet 1\.36: .*; to kubelet 1\.37: 0: no limit/m,
  )
  t.equal(out.match(/MemoryQoS, /g)?.length, 1, 'what is the same for all configs is said once')
  const lists = world.server.requests.filter(({ verb, path }) => verb === 'list' && path.startsWith('/api/v1/nodes'))
  t.equal(lists.length, 1)
})

t.test('for programs', async (t) => {
  const world = await startFleet(t)
  putConfigMap(world, 'part', 'maxPods: -1\n', { [BASE_ANNOTATION]: `${NAMESPACE}/under` })
  const { code, out } = await world.run('upgrade-check', 'v1.37.2', '-o', 'json')
  t.equal(code, 1)
  const document = JSON.parse(out)
  t.match(document, {
    kind: 'FleetUpgradeReport',
    version: '1.37.2',
    outcome: 'refused',
    configs: [
      {
        kind: 'ValidationReport',
        candidate: 'kube-system/spelled:kubelet',
        configMap: { namespace: NAMESPACE, name: 'spelled', kubeletConfigKey: 'kubelet' },
        kubelet: '1.36.3',
        nodes: ['n1'],
        outcome: 'accepted',
        ignores: ['maxPod'],
      },
      { kubelet: '1.37.2', nodes: ['n2'], outcome: 'accepted' },
      { candidate: 'kube-system/part:kubelet', kubelet: '1.36.4', nodes: ['n3'], outcome: 'refused', isPartial: false },
    ],
    nodesWithoutConfigMap: ['n4'],
    gap: null,
  })
  const rules = (index: number) => document.configs[index].findings.map(({ rule }: { rule: string }) => rule)
  t.ok(rules(0).includes('meaning/value'))
  t.notOk(
    rules(1).some((rule: string) => rule.startsWith('meaning/')),
    'these nodes have that kubelet already',
  )
  t.match((await world.run('upgrade-check', '1.37', '-o', 'yaml')).out, /^kind: FleetUpgradeReport$/m)
})

t.test('what cannot be checked', async (t) => {
  const world = await startFleet(t)
  t.match(await world.run('upgrade-check', `1.${NEWEST_MINOR + 2}`), {
    code: 2,
    out: /^not checked by the rules of kubelet .*: the rules cover/m,
  })
  t.match((await world.run('upgrade-check', `1.${LAST_IN_TABLES.minor}`)).out, /^accepted by the rules of .* is not released: judged by/m)
  world.server.objects.put(nodeObject('n5', { config: 'missing', kubeletVersion: 'v1.36.4' }))
  const { code, out } = await world.run('upgrade-check', '1.37')
  t.equal(code, 2)
  t.match(
    out,
    /^kube-system\/missing:kubelet on 1 node with kubelet 1\.36\.4\nnot checked by .*: ConfigMap kube-system\/missing does not exist$/m,
  )
  const made = { configMap: { namespace: 'x/secrets/y', name: 'a', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '1' } }
  world.server.objects.put(nodeObject('n6', { said: { assigned: made } }))
  t.match(await world.run('upgrade-check', '1.37'), { code: 2, out: /not a valid name of a namespace/ })
  t.match(await world.run('upgrade-check', 'newest'), { code: 2, err: /"newest" is not a kubelet version: write 1\.37 or v1\.37\.2/ })
  t.match(await world.run('upgrade-check'), { code: 2, err: /VERSION/ })
})

t.test('a part over the local config, a layer, and another key', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'own', 'eventRecordQPS: 0\n', { [BASE_ANNOTATION]: 'local' })
  world.server.objects.put(nodeObject('n1', { config: 'own', kubeletVersion: 'v1.36.3' }))
  putConfigMap(world, 'chosen', `${WHOLE}maxPods: 5\n`)
  world.server.objects.put({
    kind: 'ConfigMap',
    metadata: {
      name: 'gpu',
      namespace: NAMESPACE,
      labels: { [FLEET_LABEL]: 'true' },
      annotations: { [LAYER_ANNOTATION]: 'true', [NODE_SELECTOR_ANNOTATION]: 'gpu=yes' },
    },
    data: { kubelet: 'memoryThrottlingFactor: 0.9\n' },
  })
  const said = { assigned: sourceOf('chosen'), channel: 'selector' }
  world.server.objects.put(nodeObject('n2', { said, labels: { gpu: 'yes' }, kubeletVersion: 'v1.36.3' }))
  const { code, out } = await world.run('upgrade-check', '1.37')
  t.equal(code, 0, out)
  t.match(
    out,
    /^kube-system\/gpu:kubelet, a layer, on 1 node with kubelet 1\.36\.3\n.*warning: memoryThrottlingFactor changes its meaning/m,
  )
  t.match(out, /^kube-system\/own:kubelet: warning: eventRecordQPS changes its meaning/m)
  t.notMatch(out.replace(/^kube-system\/chosen.*$/gm, ''), /meaning\/(?:default|gate)/, 'the config under a part may set it')
  t.match(out, /^A part over the local config of each node was checked alone: /m)
})

t.test('nodes whose kubelet cannot be compared, or has another patch', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'own', `${WHOLE}maxPods: 5\n`)
  const versions = ['', 'v1.19.4', 'v1.36.3', 'v1.36.4']
  for (const [index, kubeletVersion] of versions.entries())
    world.server.objects.put(nodeObject(`n${index}`, { config: 'own', kubeletVersion }))
  const { code, out } = await world.run('upgrade-check', '1.37')
  t.equal(code, 0)
  t.match(
    out,
    /unknown version\naccepted by .*\nnot compared with what it means to these nodes now: their kubelet's version is not known$/m,
  )
  t.match(out, /1\.19\.4\naccepted by .*\nnot compared with .*: the tables cover/)
  t.match(out, / on 2 nodes with kubelet 1\.36\n/)
})

t.test('a key that the ConfigMap does not have', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'own', `${WHOLE}maxPods: 5\n`)
  const assigned = { configMap: { namespace: NAMESPACE, name: 'own', kubeletConfigKey: 'constructor', uid: 'u', resourceVersion: '1' } }
  world.server.objects.put(nodeObject('n1', { said: { assigned, channel: 'annotation' } }))
  t.match(await world.run('upgrade-check', '1.37'), { code: 1, out: /there is no key constructor/ })
})

t.test('nodes without a config: no agent, and an assignment that is not valid', async (t) => {
  const world = await startPluginWorld(t)
  world.server.objects.put(nodeObject('n1', { labels: { [CONFIG_LABEL]: 'Not_A_Name' } }))
  const { code, out } = await world.run('upgrade-check', '1.37')
  t.equal(code, 2)
  t.match(out, /^Not checked: what Node n1 asks for is not valid: "Not_A_Name" is not the name of a ConfigMap\.$/m)
  t.notMatch(out, /preflight-upgrade/)
  t.match(JSON.parse((await world.run('upgrade-check', '1.37', '-o', 'json')).out), {
    outcome: 'unjudged',
    nodesWithoutConfigMap: [],
    nodesWithInvalidSource: ['n1'],
  })
  world.server.objects.put({ kind: 'Node', metadata: { name: 'n1' }, spec: {}, status: {} })
  const bare = await world.run('upgrade-check', '1.37')
  t.equal(bare.code, 0)
  t.match(bare.out, /^From 1 node no agent has reported: the config there is not known\.$/m)
  t.notMatch(bare.out, /preflight-upgrade/)
})

t.test('a rule over fields that the config under a part may set', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'own', 'imageGCHighThresholdPercent: 75\n', { [BASE_ANNOTATION]: 'local' })
  world.server.objects.put(nodeObject('n1', { config: 'own', kubeletVersion: 'v1.36.3' }))
  t.match(await world.run('upgrade-check', '1.37'), { code: 2, out: /not checked by .*: a rule over several fields decides/ })
  putConfigMap(world, 'own', 'imageGCHighThresholdPercent: 75\nmaxPods: -1\n', { [BASE_ANNOTATION]: 'local' })
  t.equal((await world.run('upgrade-check', '1.37')).code, 1)
})

t.test('nothing is assigned', async (t) => {
  const world = await startPluginWorld(t)
  world.server.objects.put(nodeObject('n1'))
  t.match(await world.run('upgrade-check', '1.37'), {
    code: 0,
    out: /^No ConfigMap is assigned to a node\.\nTo 1 node no ConfigMap is assigned, and the local config is known there alone: /,
  })
})

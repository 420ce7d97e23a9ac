// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { contentHash } from '../../../../src/checkpoint/content.ts'
import { KEPT_LABEL } from '../../../../src/command/plugin/config-maps.ts'
import { hashVersion } from '../../../../src/command/plugin/kept-versions.ts'
import { CONFIG_LABEL } from '../../../../src/decision/channels.ts'
import { NAMESPACE, nodeObject, type PluginWorld, putConfigMap, sourceOf, startPluginWorld, withConfigz } from '../world.ts'

const WHOLE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const BASE = 'kubelet-cfg-agent.io/base'

const dataOf = ({ server }: PluginWorld, name: string) => server.objects.get('ConfigMap', name, NAMESPACE)?.data
const keptOf = ({ server }: PluginWorld) => server.objects.list('ConfigMap', NAMESPACE).filter(({ immutable }) => immutable === true)
const writes = ({ server }: PluginWorld) => server.requests.filter(({ verb }) => verb === 'create' || verb === 'patch').length
const hash = (text: string, base?: string) => hashVersion({ data: { kubelet: text }, base })

t.test('a new config is written with its version; an edit shows what changes, and keeps both', async (t) => {
  const world = await startPluginWorld(t)
  const { run, files, server } = world
  files.set('a.yaml', `${WHOLE}maxPods: 50\n`)
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), {
    code: 0,
    out: /is new: 0 nodes ask for it[\s\S]*Wrote ConfigMap kube-system\/pods, now version \d+ \(hash [0-9a-f]{10}\)\. No node uses it yet/,
  })
  t.same(dataOf(world, 'pods'), { kubelet: `${WHOLE}maxPods: 50\n` })
  const config = server.objects.get('ConfigMap', 'pods', NAMESPACE)
  const source = {
    configMap: {
      namespace: NAMESPACE,
      name: 'pods',
      kubeletConfigKey: 'kubelet',
      uid: config?.metadata.uid,
      resourceVersion: config?.metadata.resourceVersion,
    },
  }
  server.objects.put(nodeObject('n1', { config: 'pods', active: source }))
  server.objects.put(nodeObject('n2', { config: 'pods' }))
  files.set('a.yaml', `${WHOLE}maxPods: 60\n`)
  world.consent = 'yes'
  const { code, out } = await run('apply', '-f', 'a.yaml', 'pods')
  t.equal(code, 0)
  t.same(world.questions, ['Write ConfigMap kube-system/pods?'])
  t.matchSnapshot(out)
  t.same(
    keptOf(world)
      .map(({ metadata, data }) => [metadata.name, data])
      .sort(),
    [
      [`pods-${hash(`${WHOLE}maxPods: 50\n`)}`, { kubelet: `${WHOLE}maxPods: 50\n` }],
      [`pods-${hash(`${WHOLE}maxPods: 60\n`)}`, { kubelet: `${WHOLE}maxPods: 60\n` }],
    ].sort(),
  )
  t.match(keptOf(world)[0]?.metadata.labels, { [KEPT_LABEL]: 'pods' })
  t.match(await run('apply', '-f', 'a.yaml', 'pods'), { code: 0, out: /holds this already/ })
})

t.test('takes a config out of what another tool has, says so, and names what is none', async (t) => {
  const world = await startPluginWorld(t)
  const { run, files } = world
  const config = '    maxPods: 50 # enough'
  const nodeadm = `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n  ${config}\n`
  files.set('node.yaml', nodeadm)
  t.match(await run('apply', '-f', 'node.yaml', 'pods', '--yes'), {
    code: 0,
    out: /^node\.yaml: only what is in spec\.kubelet\.config of a NodeConfig of nodeadm, line 5 is taken\.\n[\s\S]*Each node checks it again, merged/,
  })
  t.same(dataOf(world, 'pods'), { kubelet: `${WHOLE}maxPods: 50 # enough\n` })
  t.match(world.server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata, { annotations: { 'kubelet-cfg-agent.io/base': 'local' } })
  files.set('wrong.yaml', nodeadm.replace('50', 'many'))
  t.match(await run('apply', '-f', 'wrong.yaml', 'pods', '--yes'), {
    code: 1,
    out: /^wrong\.yaml:6:7: error: maxPods must be a 32 bit integer \[fields\/type\]\n {3}6 \| {7}maxPods: many/m,
  })
  files.set('kubeadm.yaml', `apiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\n---\n${WHOLE}maxPod: 60\n`)
  t.match(await run('apply', '-f', 'kubeadm.yaml', 'whole', '--yes'), {
    code: 0,
    out: /only what is in document 2, line 4 is taken[\s\S]*kubeadm\.yaml:6:1: warning: unknown field maxPod[\s\S]*6 \| maxPod: 60/,
  })
  t.same(dataOf(world, 'whole'), { kubelet: `${WHOLE}maxPod: 60\n` })
  t.match(await run('apply', '-f', 'node.yaml', 'whole', '--yes'), {
    code: 1,
    err: /node\.yaml holds a part, and kube-system\/whole holds a whole config: give --base to make it a part, or give a whole config/,
  })
  const before = writes(world)
  files.set('kops.yaml', 'apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec:\n  kubelet: {maxPods: 5}\n')
  t.match(await run('apply', '-f', 'kops.yaml', 'pods', '--yes'), {
    code: 1,
    err: /kops\.yaml, line 4: this is an object of kOps, and no KubeletConfiguration: those fields are kOps' own/,
  })
  t.equal(writes(world), before)
})

t.test('versions are called as get and why call them, and hashes are said to be hashes', async (t) => {
  const world = await startPluginWorld(t)
  const { run, files, server } = world
  const write = async (pods: number) => {
    files.set('a.yaml', `${WHOLE}maxPods: ${pods}\n`)
    return (await run('apply', '-f', 'a.yaml', 'pods', '--yes')).out
  }
  const versionNow = () => server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata.resourceVersion ?? ''
  await write(50)
  const first = versionNow()
  const { uid } = server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata ?? {}
  const active = { configMap: { namespace: NAMESPACE, name: 'pods', kubeletConfigKey: 'kubelet', uid, resourceVersion: first } }
  const said = { contentHash: contentHash({ kubelet: `${WHOLE}maxPods: 50\n` }, 'kubelet') }
  server.objects.put(nodeObject('n1', { config: 'pods', version: first, active, said }))
  t.match((await run('get')).out, new RegExp(`^n1 +pods +${first} `, 'm'))
  const [old, now] = [hash(`${WHOLE}maxPods: 50\n`), hash(`${WHOLE}maxPods: 60\n`)]
  const out = await write(60)
  t.match(out, `Against version ${first} (hash ${old}), run by 1 of 1 node:`)
  t.match(out, `Wrote ConfigMap kube-system/pods, now version ${versionNow()} (hash ${now}). It goes`)
  const listed = (await run('versions', 'pods')).out
  t.match(listed, /^HASH +VERSION +AGE +NODES +BASE\n/)
  t.match(listed, new RegExp(`^${old} +${first} +\\S+ +1 +- +previous$`, 'm'), 'as the node runs it')
  t.match(listed, new RegExp(`^${now} +${versionNow()} +\\S+ +0 +- +current$`, 'm'))
  const [, second] = [first, versionNow()]
  t.match((await run('undo', 'pods', '--yes')).out, `From version ${second} (hash ${now}) to the kept version with hash ${old}:`)
})

t.test('what both versions of a part leave to the node is one sentence, and no row', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'part', 'maxPods: 50\n', { [BASE]: 'local' })
  world.files.set('a', 'evictionHard:\n  memory.available: 200Mi\n')
  const { out } = await world.run('apply', '-f', 'a', 'part', '--dry-run')
  t.match(out, /^~ +evictionHard\["memory.available"\] +as on the node +200Mi +evictions$/m)
  t.match(out, /^~ +maxPods +50 +as on the node +pod-admission$/m)
  t.match(
    out.replace(/\s+/g, ' '),
    'Neither sets these, and what they become is up to the local config of each node, since a default of kubelet may no longer count: evictionHard["nodefs.available"], evictionHard["nodefs.inodesFree"], ',
  )
  t.notMatch(out, /…/)
})

t.test('a node without an agent runs nothing else, and is on no way', async (t) => {
  const world = await startPluginWorld(t)
  const { run, files, server } = world
  putConfigMap(world, 'pods', `${WHOLE}maxPods: 50\n`)
  for (const name of ['bare-1', 'bare-2']) server.objects.put({ kind: 'Node', metadata: { name, labels: { [CONFIG_LABEL]: 'pods' } } })
  files.set('a.yaml', `${WHOLE}maxPods: 60\n`)
  for (const args of [
    ['apply', '-f', 'a.yaml', 'pods', '--dry-run'],
    ['versions', 'pods'],
  ]) {
    const { out } = await run(...args)
    t.match(out, 'Of 2 nodes, 2 have no agent that has reported: bare-1, bare-2. They get nothing until kubelet-cfg-agent runs there.')
    t.notMatch(out, /something else|not known/)
  }
  t.match((await run('get', '-o', 'sum')).out, /^pods {2}·{20} {2}2 NoAgent$/m)
  server.objects.put(nodeObject('bare-2', { config: 'pods', said: { active: undefined, assigned: undefined } }))
  server.objects.put(nodeObject('quiet', { config: 'pods', said: { active: { configMap: {} } } }))
  t.match((await run('versions', 'pods')).out, /Of 1 node it is not known which version it runs/, 'an agent that does not tell')
  t.match((await run('get', '-o', 'sum')).out, /^pods {2}█{13}·{7} {2}2 Promoted {2}1 NoAgent$/m)
})

t.test('a file replaces the key of kubelet alone, and a manifest all keys', async (t) => {
  const world = await startPluginWorld(t)
  const data = { kubelet: `${WHOLE}maxPods: 50\n`, extra: 'kept' }
  world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'pods', namespace: NAMESPACE }, data })
  world.files.set('a.yaml', `${WHOLE}maxPods: 60\n`)
  t.match(await world.run('apply', '-f', 'a.yaml', 'pods', '--yes'), { code: 0 })
  t.same(dataOf(world, 'pods'), { kubelet: `${WHOLE}maxPods: 60\n`, extra: 'kept' })
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pods' }, data: { kubelet: `${WHOLE}maxPods: 70\n` } }
  world.files.set('b.yaml', JSON.stringify(manifest))
  t.match(await world.run('apply', '-f', 'b.yaml', 'pods', '--yes'), { code: 0 })
  t.same(dataOf(world, 'pods'), manifest.data)
})

const manifestOf = (data: Readonly<Record<string, string>>) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pods' }, data })
const otherKey = { namespace: NAMESPACE, name: 'pods', kubeletConfigKey: 'other' }

/** ConfigMap pods with two keys: n1 uses kubelet, and n2 the other. */
async function startWithKeys(t: Parameters<typeof startPluginWorld>[0]) {
  const world = await startPluginWorld(t, { server: { storesConfigSource: true } })
  const { server, files } = world
  const data = { kubelet: `${WHOLE}maxPods: 50\n`, other: `${WHOLE}maxPods: 51\n` }
  server.objects.put({ kind: 'ConfigMap', metadata: { name: 'pods', namespace: NAMESPACE }, data })
  server.objects.put(nodeObject('n1', { config: 'pods' }))
  server.objects.put(nodeObject('n2', { spec: { configSource: { configMap: otherKey } } }))
  files.set('a.yaml', `${WHOLE}maxPods: 60\n`)
  return Object.assign(world, { data })
}

t.test('nothing is written where a node uses another key, which stays as it is', async (t) => {
  const world = await startWithKeys(t)
  const { run, server, files } = world
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), {
    code: 1,
    out: /^n2 uses another key of ConfigMap kube-system\/pods \(other\): only kubelet is checked and compared here/m,
    err: /n2 uses another key of ConfigMap kube-system\/pods \(other\), and would not get the change: give a manifest with a new text for that key too, /,
  })
  const said = { assigned: { configMap: { ...otherKey, uid: 'u', resourceVersion: '1' } } }
  server.objects.put(nodeObject('n3', { config: 'pods', said }))
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), { code: 1, err: /n2 uses .* \(other\), as does 1 more node, and would / })
  files.set('b.yaml', manifestOf({ kubelet: `${WHOLE}maxPods: 60\n` }))
  t.match(await run('apply', '-f', 'b.yaml', 'pods', '--yes'), {
    code: 1,
    err: /n2 uses .* \(other\), as does 1 more node, and that key would not exist: /,
  })
  t.same(world.questions, [])
  t.equal(writes(world), 0)
})

t.test('a manifest that changes the other key too gets to all nodes', async (t) => {
  const { run, files, data, ...world } = await startWithKeys(t)
  const changed = { kubelet: `${WHOLE}maxPods: 60\n`, other: `${WHOLE}maxPods: 61\n` }
  files.set('a.yaml', manifestOf(changed))
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), {
    code: 0,
    out: /^n2 uses another key of ConfigMap kube-system\/pods \(other\): [\s\S]*It goes to 2 nodes/m,
  })
  t.same(world.server.objects.get('ConfigMap', 'pods', NAMESPACE)?.data, changed)
})

t.test('what would write nothing is not refused for another key', async (t) => {
  const world = await startWithKeys(t)
  const { run, files, data } = world
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--dry-run'), { code: 0, out: /maxPods +50 +60[\s\S]*Nothing was changed/ })
  files.set('a.yaml', data.kubelet)
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), { code: 0, out: /holds this already/, err: '' })
  t.equal(writes(world), 0)
})

t.test('of a key that only an annotation names, which may be left over, the way out is named', async (t) => {
  const world = await startWithKeys(t)
  const { run, server } = world
  server.objects.put(nodeObject('n2', { said: { assigned: { configMap: { ...otherKey, uid: 'u', resourceVersion: '1' } } } }))
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), {
    code: 1,
    err: /; if no agent runs on n2 any more, remove its annotation kubelet-cfg-agent\.io\/status\n/,
  })
  server.objects.put({ kind: 'Node', metadata: { name: 'n2' } })
  t.match(await run('apply', '-f', 'a.yaml', 'pods', '--yes'), { code: 0, out: /It goes to 1 node/ })
})

t.test('what kubelet would refuse is not written', async (t) => {
  const world = await startPluginWorld(t)
  world.files.set('a.yaml', `${WHOLE}maxPods: -1\n`)
  const { code, out } = await world.run('apply', '-f', 'a.yaml', 'pods', '--yes')
  t.equal(code, 1)
  t.match(out, /a\.yaml:3:1: error: maxPods .*must not be a negative number/)
  t.equal(writes(world), 0)
  world.files.set('b.yaml', 'maxPods: -1\n')
  t.match(await world.run('apply', '-f', 'b.yaml', 'part', '--yes'), { code: 1, out: /b\.yaml:1:1: error: maxPods/ })
  t.equal(writes(world), 0)
})

t.test('what kubelet takes and does otherwise is said before it is written, and by diff', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run, server } = world
  const part = 'evictionHard:\n  memory.available: 300Mi\n'
  const says = /warning: kubelet starts, and evicts nothing for nodefs\.available, .* \[otherwise\/eviction-defaults\]/
  const local = /\(the node's local config or a flag of kubelet may supply what is missing\)/
  server.objects.put(nodeObject('n1', { config: 'part', said: { contentHash: 'ff' }, kubeletVersion: 'v1.34.1' }))
  files.set('part', part)
  world.consent = 'no'
  const asked = await run('apply', '-f', 'part', 'part')
  t.match(asked, { code: 1, out: says })
  t.match(asked.out, local)
  t.match(asked.out, /accepted by the rules of kubelet 1\.34\.1/)
  t.equal(writes(world), 0)
  files.set('whole', `${WHOLE}${part}`)
  const whole = await run('apply', '-f', 'whole', 'whole', '--yes')
  t.match(whole, { code: 0, out: /whole:3:1: warning: kubelet starts, and evicts nothing/ })
  t.notMatch(whole.out, local)
  putConfigMap(world, 'before', `${WHOLE}maxPods: 5\n`)
  server.objects.put(
    nodeObject('n2', {
      config: 'whole',
      active: sourceOf('before'),
      said: { contentHash: contentHash({ kubelet: `${WHOLE}maxPods: 5\n` }, 'kubelet') },
      kubeletVersion: 'v1.34.1',
    }),
  )
  t.match(await run('diff', 'n2'), { code: 1, out: /^ConfigMap kube-system\/whole:kubelet: warning: kubelet starts, and/m })
})

t.test('what the local config may have refuses no part', async (t) => {
  const { files, run } = await startPluginWorld(t)
  const lines = 'enforceNodeAllocatable: [pods, kube-reserved]\nkubeReserved: {memory: 1Gi}\n'
  files.set('part', lines)
  const { code, out } = await run('apply', '-f', 'part', 'part', '--dry-run')
  t.equal(code, 0)
  t.match(
    out,
    /warning: .*kubeReservedCgroup must be specified .* \(the node's local config or a flag of kubelet may supply what is missing\)/,
  )
  t.match(out, /part: accepted by the rules of every kubelet\n[\s\S]*Each node checks it again/)
  files.set('part', `${lines}maxPods: -1\n`)
  t.match(await run('apply', '-f', 'part', 'part', '--dry-run'), { code: 1, out: /part: refused/ })
  files.set('whole', `${WHOLE}${lines}`)
  t.match(await run('apply', '-f', 'whole', 'whole', '--dry-run'), { code: 1, out: /error: .*kubeReservedCgroup must be specified/ })
})

t.test('it is checked for each version of kubelet that uses it', async (t) => {
  const world = await startPluginWorld(t)
  const { server, files, run } = world
  server.objects.put(nodeObject('old', { config: 'pods', kubeletVersion: 'v1.20.2' }))
  server.objects.put(nodeObject('new', { config: 'pods', kubeletVersion: 'v1.34.1' }))
  files.set('a.yaml', `${WHOLE}maxPods: 60\n`)
  t.match(
    (await run('apply', '-f', 'a.yaml', 'pods', '--dry-run')).out,
    /accepted by the rules of kubelet 1\.20\.2\n[\s\S]*accepted by the rules of kubelet 1\.34\.1\n/,
  )
})

t.test('a dry run, a no and nobody to ask change nothing', async (t) => {
  const world = await startPluginWorld(t)
  world.files.set('-', `${WHOLE}maxPods: 60\n`)
  t.match(await world.run('apply', '-f', '-', 'pods', '--dry-run'), { code: 0, out: /Nothing was changed/ })
  world.consent = 'no'
  t.match(await world.run('apply', '-f', '-', 'pods'), { code: 1, err: /nothing was changed/ })
  world.consent = 'nobody'
  t.match(await world.run('apply', '-f', '-', 'pods'), { code: 1, err: /give --yes/ })
  t.equal(writes(world), 0)
  t.match(await world.run('apply', 'pods'), { code: 2, err: /-f is missing[\s\S]*apply --help says more/ })
  t.match(await world.run('apply', '-f', 'none', 'pods'), { code: 1, err: /apply: none does not exist\n$/ })
})

t.test('a part gets its annotation, from the manifest, from the flag or by its form', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run, server } = world
  const baseOf = (name: string) =>
    (server.objects.get('ConfigMap', name, NAMESPACE)?.metadata.annotations as Record<string, string>)?.[BASE]
  files.set('part', 'maxPods: 200\n')
  t.match(await run('apply', '-f', 'part', 'more', '--yes'), { code: 0, out: /Each node checks it again/ })
  t.equal(baseOf('more'), 'local')
  t.match(await run('apply', '-f', 'part', 'gpu', '--base', 'kube-system/none', '--yes'), {
    code: 1,
    err: /kube-system\/none.*(not exist|cannot be read)/,
  })
  putConfigMap(world, 'whole', `${WHOLE}podsPerCore: 10\n`)
  t.equal((await run('apply', '-f', 'part', 'gpu', '--base', 'kube-system/whole', '--yes')).code, 0)
  t.equal(baseOf('gpu'), 'kube-system/whole')
  files.set(
    'm.yaml',
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  annotations:\n    ${BASE}: local\ndata:\n  kubelet: |\n    maxPods: 201\n`,
  )
  t.equal((await run('apply', '-f', 'm.yaml', 'more', '--yes')).code, 0)
  t.same(dataOf(world, 'more'), { kubelet: 'maxPods: 201\n' })
})

t.test('a whole config does not become a part because its kind was forgotten', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run } = world
  putConfigMap(world, 'pods', `${WHOLE}maxPods: 50\nhealthzPort: 10300\n`)
  files.set('a', 'maxPods: 60\n')
  t.match(await run('apply', '-f', 'a', 'pods', '--yes'), {
    code: 1,
    err: /a has no kind, so it is a part, and kube-system\/pods holds a whole config: give --base to make it a part, or add apiVersion and kind/,
  })
  t.equal(writes(world), 0)
  t.match(await run('apply', '-f', 'a', 'pods', '--base', 'local', '--yes'), { code: 0, out: /Wrote ConfigMap/ })
})

t.test('of what a part leaves to each node, no default is shown', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run } = world
  putConfigMap(world, 'pods', `${WHOLE}maxPods: 50\nhealthzPort: 10300\n`)
  files.set('a', 'maxPods: 60\n')
  const { out } = await run('apply', '-f', 'a', 'pods', '--base', 'local', '--yes')
  t.match(out, /healthzPort +10300 +as on the node /)
  t.match(out, /maxPods +50 +60 /)
  t.match((await run('undo', 'pods', '--dry-run')).out, /healthzPort +as on the node +10300 /)
  files.set('a', 'maxPods: 60\nhealthzPort: 10248\n')
  t.match(
    (await run('apply', '-f', 'a', 'pods', '--dry-run')).out,
    /no field differs over the defaults of kubelet: what changes is up to the local config of each node/,
  )
})

t.test('a comparison fits 80 columns', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run } = world
  const dns = (last: number) => JSON.stringify(Array.from({ length: 3 }, (_, index) => `2001:db8:aaaa:bbbb:cccc:dddd:${index}:${last}`))
  putConfigMap(world, 'pods', `${WHOLE}maxPods: 50\nclusterDNS: ${dns(1)}\n`)
  files.set('a', `${WHOLE}maxPods: 60\nclusterDNS: ${dns(2)}\nclusterDomain: ${'example.'.repeat(6)}org\n`)
  const { code, out } = await run('apply', '-f', 'a', 'pods', '--dry-run')
  t.equal(code, 0)
  for (const line of out.split('\n')) t.ok(line.length <= 80, line)
  t.match(out, /clusterDomain +not set +example\.example\.exampl… +cluster-wide\n/)
  t.match(out, /clusterDNS +…\S+:0:1\S* +…\S+:0:2\S* +drain\n/, 'the difference is shown, wherever it is')
  t.match(out, /maxPods +50 +60 +pod-admission\n/, 'what is short is whole')
})

t.test('what somebody else writes meanwhile is not overwritten', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', `${WHOLE}maxPods: 50\n`)
  world.files.set('a', `${WHOLE}maxPods: 60\n`)
  world.server.fault = ({ verb }) => {
    if (verb === 'patch') putConfigMap(world, 'pods', `${WHOLE}maxPods: 70\n`)
    return undefined
  }
  t.match(await world.run('apply', '-f', 'a', 'pods', '--yes'), { code: 1, err: /somebody else has changed it since it was read/ })
  t.same(dataOf(world, 'pods'), { kubelet: `${WHOLE}maxPods: 70\n` })
})

t.test('versions and undo', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run, server } = world
  const texts = [50, 60, 70].map((pods) => `${WHOLE}maxPods: ${pods}\n`)
  for (const text of texts) {
    files.set('a', text)
    t.equal((await run('apply', '-f', 'a', 'pods', '--yes')).code, 0)
  }
  const [first = '', second = '', third = ''] = texts.map((text) => hash(text))
  server.objects.put(nodeObject('n1', { config: 'pods', said: { contentHash: contentHash({ kubelet: texts[1] ?? '' }, 'kubelet') } }))
  const { out } = await run('versions', 'pods')
  t.match(out, new RegExp(`^${third} .* 0 .*current$`, 'm'))
  t.match(out, new RegExp(`^${second} .* 1 .*previous$`, 'm'))
  t.match(JSON.parse((await run('versions', 'pods', '-o', 'json')).out), { config: 'kube-system/pods', items: { length: 3 } })
  t.match(await run('undo', 'pods', '--dry-run'), { code: 0, out: /maxPods +70 +60/ })
  t.same(dataOf(world, 'pods'), { kubelet: texts[2] })
  t.match(await run('undo', 'pods', '--yes'), {
    code: 0,
    out: new RegExp(`Wrote ConfigMap kube-system/pods, now version \\d+ \\(hash ${second}\\)\\. It goes to 1 node`),
  })
  t.same(dataOf(world, 'pods'), { kubelet: texts[1] })
  t.equal((await run('undo', 'pods', '--yes')).code, 0)
  t.same(dataOf(world, 'pods'), { kubelet: texts[2] }, 'a second undo takes back the first')
  t.equal((await run('undo', 'pods', '--to', first.slice(0, 6), '--yes')).code, 0)
  t.same(dataOf(world, 'pods'), { kubelet: texts[0] })
  t.match(await run('undo', 'pods', '--to', 'ffff'), { code: 1, err: /no version of pods with hash ffff is kept/ })
  t.match(await run('versions', 'none'), { code: 1, err: /ConfigMap kube-system\/none does not exist/ })
})

t.test('assign and unassign', async (t) => {
  const world = await startPluginWorld(t, { server: { storesConfigSource: true } })
  const { run, server } = world
  putConfigMap(world, 'pods', WHOLE)
  const labelOf = (name: string) =>
    (server.objects.get('Node', name)?.metadata.labels as Record<string, string> | undefined)?.[CONFIG_LABEL]
  server.objects.put(nodeObject('n1', { labels: { role: 'w' } }))
  server.objects.put(nodeObject('n2', { labels: { role: 'w' } }))
  t.match(await run('assign', 'pods', 'n1'), { code: 0, out: /^n1: asks for pods, by the label / })
  t.equal(labelOf('n1'), 'pods')
  t.match(await run('assign', 'pods', '-l', 'role=w'), { code: 1, err: /give --yes/ })
  t.equal(labelOf('n2'), undefined)
  t.equal((await run('assign', 'pods', '-l', 'role=w', '--yes')).code, 0)
  t.equal(labelOf('n2'), 'pods')
  t.match(await run('assign', 'none', 'n1'), { code: 1, err: /does not exist: create it first/ })
  t.match(await run('assign', 'pods'), { code: 2, err: /name a Node, or give -l/ })
  t.match(await run('assign', 'pods', 'nobody'), { code: 1, err: /Node nobody does not exist/ })
  t.equal((await run('assign', 'pods', 'n1', '--by', 'config-source')).code, 0)
  t.match(await run('assign', 'pods', 'n1'), {
    code: 1,
    out: '',
    err: /n1: spec\.configSource of the Node comes before label .* would still decide: unassign the node, then assign pods again\n/,
  })
  t.equal((await run('unassign', 'n1', 'n2', '--yes')).code, 0)
  t.same([labelOf('n1'), labelOf('n2')], [undefined, undefined])
  t.notOk((server.objects.get('Node', 'n1')?.spec as { configSource?: unknown } | undefined)?.configSource)
  t.match(await run('assign', 'pods', 'n1', '--by', 'annotation'), {
    code: 0,
    out: /by the annotation kubelet-cfg-agent\.io\/config-source/,
  })
  server.authorize = ({ verb }) => verb !== 'patch'
  t.match(await run('assign', 'pods', 'n1'), { code: 1, err: /the right to patch nodes at the cluster scope is missing/ })
})

t.test('an assignment that another one would win over is not written', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  putConfigMap(world, 'pods', WHOLE)
  server.objects.put(nodeObject('n1', { config: 'other', labels: { role: 'w' } }))
  server.objects.put(nodeObject('n2', { labels: { role: 'w' } }))
  t.match(await run('assign', 'pods', '-l', 'role=w', '--by', 'annotation'), {
    code: 1,
    out: '',
    err: /^n1: label \S+ of the Node comes before annotation \S+ of the Node and would still decide: unassign the node, then assign pods again\n.*: nothing was changed: .* 1 of 2 nodes\n$/,
  })
  t.same(world.questions, [])
  t.equal(writes(world), 0)
  t.equal((await run('assign', 'pods', '-l', 'role=w', '--yes')).code, 0, 'the same channel is overwritten')
})

t.test('where one node fails, the others are changed', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  putConfigMap(world, 'pods', WHOLE)
  const labelOf = (name: string) =>
    (server.objects.get('Node', name)?.metadata.labels as Record<string, string> | undefined)?.[CONFIG_LABEL]
  const names = ['n1', 'n2', 'n3', 'n4']
  for (const name of names) server.objects.put(nodeObject(name))
  server.fault = ({ verb, path }) => {
    if (verb === 'patch' && path.endsWith('/n1') && labelOf('n1') === undefined) server.objects.remove('Node', 'n2')
    return verb === 'patch' && path.endsWith('/n3') ? { kind: 'answer', status: 429 } : undefined
  }
  t.match(await run('assign', 'pods', ...names, '--yes'), {
    code: 1,
    out: /^n1: asks for pods, .*\nn4: asks for pods, .*\n$/,
    err: /^n2: Node n2 does not exist\nn3: cannot patch nodes n3: .*429.*\n.*: 2 of 4 Nodes ask for pods now; .*\n$/,
  })
  t.equal(labelOf('n4'), 'pods')
  t.match(await run('unassign', 'n1', 'n3', 'n4', '--yes'), {
    code: 1,
    out: 'n1: has no assignment now\nn4: has no assignment now\n',
    err: /^n3: cannot patch nodes n3: .*\n.*: 2 of 3 Nodes have no assignment now; .*\n$/,
  })
  t.equal(labelOf('n4'), undefined)
})

t.test('unassign says what the answer of the API server shows', async (t) => {
  const world = await startPluginWorld(t, { server: { storesConfigSource: true } })
  const { run, server } = world
  server.objects.put(nodeObject('n1', { config: 'pods' }))
  const configSource = { configMap: { namespace: NAMESPACE, name: 'other', kubeletConfigKey: 'kubelet' } }
  server.fault = ({ verb }) => {
    if (verb === 'patch') server.objects.edit('Node', 'n1', undefined, (node) => ({ ...node, spec: { configSource } }))
    return undefined
  }
  t.match(await run('unassign', 'n1'), {
    code: 1,
    out: 'n1: is still assigned other by spec.configSource of the Node, which was set meanwhile: run the command again\n',
  })
  server.fault = undefined
  t.match(await run('unassign', 'n1'), { code: 0, out: 'n1: has no assignment now\n' })
  t.match(await run('unassign', 'n1'), { code: 0, out: 'n1: had no assignment\n' })
})

t.test('a signal ends it before the next node', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  putConfigMap(world, 'pods', WHOLE)
  for (const name of ['n1', 'n2', 'n3']) server.objects.put(nodeObject(name))
  const stopper = new AbortController()
  world.context.signal = stopper.signal
  server.fault = ({ verb }) => {
    if (verb === 'patch') stopper.abort()
    return undefined
  }
  t.match(await run('assign', 'pods', 'n1', 'n2', 'n3', '--yes'), {
    code: 1,
    out: /^n1: asks for pods, by the label .*\n$/,
    err: /cannot patch nodes n2: stopped by a signal/,
  })
  t.equal(server.requests.filter(({ verb }) => verb === 'patch').length, 1)
})

t.test('a signal does not wait for an answer that changes nothing', async (t) => {
  const world = await startPluginWorld(t)
  const stopper = new AbortController()
  world.context.signal = stopper.signal
  world.context.api = { ...world.context.api, request: () => new Promise(() => stopper.abort()), watch: () => new Promise(() => {}) }
  t.match(await world.run('get'), { code: 1, err: /cannot list nodes: stopped by a signal/ })
})

t.test('a server that drops spec.configSource is found out', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', WHOLE)
  world.server.objects.put(nodeObject('n1'))
  t.match(await world.run('assign', 'pods', 'n1', '--by', 'config-source'), {
    code: 1,
    out: /the API server has dropped spec\.configSource/,
  })
})

t.test('what a relative path names is a part of the field', async (t) => {
  const { files, run } = await startPluginWorld(t)
  for (const pods of ['hush', 'hushed']) {
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'static' },
      data: { kubelet: `${WHOLE}staticPodPath: pods.yaml\n`, 'pods.yaml': pods },
    }
    files.set('a', JSON.stringify(manifest))
    const { code, out } = await run('apply', '-f', 'a', 'static', '--yes')
    t.equal(code, 0)
    if (pods === 'hushed') t.match(out, /^~ +staticPodPath +\S.*static-pods$/m)
    t.notMatch(out, 'hush')
  }
})

t.test('diff of a node: with the kept version, and where none is kept with what kubelet reports', async (t) => {
  const world = await startPluginWorld(t)
  const { files, run, server, context } = world
  const texts = [50, 60].map((pods) => `${WHOLE}maxPods: ${pods}\n`)
  for (const text of texts) {
    files.set('a', text)
    await run('apply', '-f', 'a', 'pods', '--yes')
  }
  const said = { contentHash: contentHash({ kubelet: texts[0] ?? '' }, 'kubelet') }
  server.objects.put(nodeObject('n1', { config: 'pods', said }))
  t.match(await run('diff', 'n1'), { code: 1, out: /held by pods-[\s\S]*maxPods +50 +60/ })
  server.objects.put(nodeObject('n1', { config: 'pods', said: { contentHash: contentHash({ kubelet: texts[1] ?? '' }, 'kubelet') } }))
  t.match(await run('diff', 'n1'), { code: 0, out: /runs what ConfigMap kube-system\/pods:kubelet holds/ })
  server.objects.put(nodeObject('n1', { config: 'pods', said: { contentHash: 'ff' } }))
  t.match(await run('diff', 'n1'), { code: 2, err: /not kept as a version, and kubelet cannot be asked/ })
  const { diffConfigCommand: diffCommand } = await import('../../../../src/command/plugin/commands/diff.ts')
  const asked: string[] = []
  const api = withConfigz(context.api, { maxPods: 33 }, asked)
  t.equal(await diffCommand.execute({ ...context, api }, { options: {}, args: ['n1'], shared: {} }), 1)
  t.same(asked, ['/api/v1/nodes/n1/proxy/configz'])
  putConfigMap(world, 'other', `${WHOLE}maxPods: 70\n`)
  server.objects.put(
    nodeObject('n3', {
      config: 'pods',
      active: sourceOf('other'),
      said: { contentHash: contentHash({ kubelet: `${WHOLE}maxPods: 70\n` }, 'kubelet') },
    }),
  )
  t.match(await run('diff', 'n3'), { code: 1, out: /held by other\)[\s\S]*maxPods +70 +60/ })
  server.objects.put(nodeObject('n2', {}))
  t.match(await run('diff', 'n2'), { code: 2, err: /no ConfigMap is assigned to n2/ })
})

t.test('says what a change does not do on a registered Node, unless it is up to the node whether it is one', async (t) => {
  const { files, run } = await startPluginWorld(t)
  const apply = async (text: string, name: string) => {
    files.set('a', text)
    return (await run('apply', '-f', 'a', name, '--yes')).out.replace(/\s+/g, ' ')
  }
  const effect = /has no effect on a registered Node: .* = change the Node itself: kubectl taint nodes NODE gpu:NoSchedule/
  const taints = 'registerWithTaints: [{key: gpu, effect: NoSchedule}]\n'
  await apply(WHOLE, 'whole')
  t.match(await apply(`${WHOLE}${taints}`, 'whole'), effect)
  await apply(`maxPods: 5\n${taints}`, 'part')
  t.notMatch(await apply('maxPods: 5\n', 'part'), effect)
})

t.test('a namespace that a node makes up becomes no path', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  const evil = { configMap: { namespace: 'x/secrets/y', name: 'other', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '1' } }
  putConfigMap(world, 'pods', WHOLE)
  server.objects.put(nodeObject('n1', { config: 'pods', active: evil }))
  server.objects.put(nodeObject('n2', { said: { assigned: evil } }))
  for (const name of ['n1', 'n2']) t.match(await run('diff', name), { code: 2, err: /"x\/secrets\/y" is not a valid name of a namespace/ })
  t.notOk(server.requests.some(({ path }) => path.includes('secrets')))
})

t.test('a config that computes values says what each node gets, before it is written', async (t) => {
  const world = await startPluginWorld(t, { width: 200 })
  const { run, files, server } = world
  const put = (name: string, cpu: string, labels: Record<string, string>) => {
    const node = nodeObject(name, { config: 'sized', labels })
    server.objects.put({ ...node, status: { ...node.status, capacity: { cpu } } })
  }
  for (const name of ['a1', 'a2', 'a3']) put(name, '4', { pids: '100' })
  put('b1', '16', { pids: '100' })
  const text = (lines: string) => `apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: ComputedKubeletConfiguration\ncomputed:\n${lines}`
  files.set('a.yaml', text('  maxPods: "[250, node.cpus * 20].min()"\n'))
  t.match(await run('apply', '-f', 'a.yaml', 'sized', '--dry-run'), {
    code: 0,
    out: /a.yaml: its values on the nodes that use it:\nmaxPods 80 on 3 nodes, 250 on 1\n(.*\n)*a.yaml, as on a1: accepted .*\n(.*\n)*a.yaml, as on b1: accepted/,
  })
  put('c1', '4', {})
  files.set('a.yaml', text("  podPidsLimit: int(node.labels['pids'])\n"))
  t.match(await run('apply', '-f', 'a.yaml', 'sized', '--dry-run'), {
    code: 0,
    out: /On 1 node it fails, .*: c1: computed podPidsLimit at line 4/,
  })
  files.set('a.yaml', text("  podPidsLimit: int(node.labels['pid'])\n"))
  t.match(await run('apply', '-f', 'a.yaml', 'sized', '--yes'), { code: 1, out: /On 5 nodes it fails/ })
  files.set('a.yaml', text('  imageGCHighThresholdPercent: node.cpus * 25\n'))
  t.match(await run('apply', '-f', 'a.yaml', 'sized', '--yes'), { code: 1, out: /a.yaml, as on b1: refused/ })
  t.equal(writes(world), 0)
  files.set('a.yaml', text('  maxPods: node.cpus * 10\n'))
  t.match(await run('apply', '-f', 'a.yaml', 'sized', '--yes'), { code: 0, out: /maxPods 40 on 4 nodes, 160 on 1\n/ })
  world.context.api = withConfigz(world.context.api, { maxPods: 110 }, [])
  t.match(await run('diff', 'b1'), { code: 1, out: /maxPods +110 +160/ })
})

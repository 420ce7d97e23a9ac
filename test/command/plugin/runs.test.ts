// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { contentHash } from '../../../src/checkpoint/content.ts'
import { diffConfigCommand } from '../../../src/command/plugin/commands/diff.ts'
import { mergeText } from '../../../src/command/plugin/merged-text.ts'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import { editConfigMap, NAMESPACE, nodeObject, type PluginWorld, putConfigMap, startPluginWorld, withConfigz } from './world.ts'

const WHOLE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const OVER_WHOLE = { [BASE_ANNOTATION]: `${NAMESPACE}/whole` }

/** Of the ConfigMap as it is now. */
function sourceNow({ server }: PluginWorld, name: string) {
  const { uid, resourceVersion } = server.objects.get('ConfigMap', name, NAMESPACE)?.metadata ?? {}
  return { configMap: { namespace: NAMESPACE, name, kubeletConfigKey: 'kubelet', uid, resourceVersion } }
}

async function hashOfMerged({ context }: PluginWorld, text: string, base: string): Promise<string> {
  const merged = await mergeText(context, { data: { kubelet: text }, base })
  if (!merged.ok) throw new Error(merged.detail)
  return contentHash(merged.data, 'kubelet')
}

/** A node that follows the part gpu over the config whole, and runs what both hold now. */
async function startWithPart(t: Parameters<typeof startPluginWorld>[0]): Promise<PluginWorld> {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'whole', `${WHOLE}maxPods: 50\n`)
  putConfigMap(world, 'gpu', 'podsPerCore: 10\n', OVER_WHOLE)
  const said = { contentHash: await hashOfMerged(world, 'podsPerCore: 10\n', `${NAMESPACE}/whole`) }
  world.server.objects.put(nodeObject('n1', { config: 'gpu', active: sourceNow(world, 'gpu'), said }))
  return world
}

/** @param reported what kubelet answers */
async function diffWith({ context }: PluginWorld, reported: object): Promise<{ code: number; asked: readonly string[] }> {
  const asked: string[] = []
  const api = withConfigz(context.api, reported, asked)
  return { code: await diffConfigCommand.execute({ ...context, api }, { options: {}, args: ['n1'], shared: {} }), asked }
}

t.test('diff sees that the base has changed where the part has not', async (t) => {
  const world = await startWithPart(t)
  t.match(await world.run('diff', 'n1'), { code: 0, out: /n1 runs what ConfigMap kube-system\/gpu:kubelet holds/ })
  editConfigMap(world, 'whole', `${WHOLE}maxPods: 60\n`)
  t.match(await world.run('diff', 'n1'), { code: 2, err: /kubelet cannot be asked/ }, 'kubelet is asked')
  t.match(await diffWith(world, { maxPods: 50, podsPerCore: 10 }), { code: 1, asked: { length: 1 } })
  t.match(await diffWith(world, { maxPods: 60, podsPerCore: 10 }), { code: 0, asked: { length: 1 } })
  editConfigMap(world, 'whole', WHOLE)
  t.match(await diffWith(world, { maxPods: 50, podsPerCore: 10 }), { code: 1 }, 'also where the base has lost a field')
})

t.test('diff says the same to programs', async (t) => {
  const world = await startWithPart(t)
  const none = await world.run('diff', 'n1', '-o', 'json')
  t.match([none.code, JSON.parse(none.out)], [0, { kind: 'ConfigDiff', node: 'n1', changes: [] }])
  editConfigMap(world, 'whole', `${WHOLE}maxPods: 60\n`)
  const api = withConfigz(world.context.api, { maxPods: 50, podsPerCore: 10 }, [])
  let out = ''
  const terminal = {
    ...world.context.terminal,
    out: (text: string) => {
      out = text
    },
  }
  const line = { options: { output: 'json' }, args: ['n1'], shared: {} }
  t.equal(await diffConfigCommand.execute({ ...world.context, terminal, api }, line), 1)
  t.match(JSON.parse(out), { to: /^kube-system\/gpu:kubelet@/, changes: [{ path: 'maxPods', before: 50, after: 60, leftToNode: [] }] })
})

t.test('diff compares what the bases of a part set over the local config of the node', async (t) => {
  const world = await startWithPart(t)
  putConfigMap(world, 'whole', 'maxPods: 60\n', { [BASE_ANNOTATION]: 'local' })
  t.match(await diffWith(world, { maxPods: 50, podsPerCore: 10, healthzPort: 1 }), { code: 1 })
  t.match(await diffWith(world, { maxPods: 60, podsPerCore: 10, healthzPort: 1 }), { code: 0 })
})

t.test('a part over the local config alone is what its version says', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'more', 'maxPods: 200\n', { [BASE_ANNOTATION]: 'local' })
  world.server.objects.put(nodeObject('n1', { config: 'more', active: sourceNow(world, 'more'), said: { contentHash: 'ff' } }))
  t.match(await world.run('diff', 'n1'), { code: 0, out: /n1 runs what ConfigMap/ })
  t.match((await world.run('versions', 'more')).out, / 1 +local +current/)
})

t.test('versions and apply count a node only where it is known what it runs', async (t) => {
  const world = await startWithPart(t)
  const { run, files } = world
  files.set('a', 'podsPerCore: 11\n')
  const unknown = /Of 1 node it is not known which version it runs/
  t.match((await run('versions', 'gpu')).out, / 1 +kube-system\/whole +current/)
  t.match((await run('apply', '-f', 'a', 'gpu', '--dry-run')).out, /, run by 1 of 1 node:/)
  editConfigMap(world, 'whole', `${WHOLE}maxPods: 60\n`)
  const { out } = await run('versions', 'gpu')
  t.match(out, / 0 +kube-system\/whole +current/)
  t.match(out, unknown)
  t.match(JSON.parse((await run('versions', 'gpu', '-o', 'json')).out), { nodesUnknown: 1, items: [{ nodes: 0 }] })
  const applied = (await run('apply', '-f', 'a', 'gpu', '--dry-run')).out
  t.match(applied, /, known to be run by 0 of 1 node:/)
  t.match(applied, unknown)
  t.notMatch(applied, /runs something else/)
})

t.test('a kept version of a part is told by the bytes that it makes', async (t) => {
  const world = await startWithPart(t)
  const { run, files } = world
  for (const cores of [11, 12]) {
    files.set('a', `podsPerCore: ${cores}\n`)
    t.equal((await run('apply', '-f', 'a', 'gpu', '--yes')).code, 0)
  }
  const { out } = await run('versions', 'gpu')
  t.match(out, / 1 +kube-system\/whole *\n/, 'the oldest')
  t.match(out, / 0 +kube-system\/whole +current/)
  t.notMatch(out, /not known/)
  t.match(await run('diff', 'n1'), { code: 1, out: /held by gpu-[\s\S]*podsPerCore +10 +12/ })
})

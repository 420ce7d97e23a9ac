import t from 'tap'
import { hashVersion, PREVIOUS_ANNOTATION } from '../../src/plugin/kept-versions.ts'
import { editConfigMap, NAMESPACE, type PluginWorld, putConfigMap, startPluginWorld } from './world.ts'

const WHOLE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

const textOf = (pods: number) => `${WHOLE}maxPods: ${pods}\n`
const hashOf = (pods: number) => hashVersion({ data: { kubelet: textOf(pods) }, base: undefined })
const dataOf = ({ server }: PluginWorld) => server.objects.get('ConfigMap', 'pods', NAMESPACE)?.data

async function applyEach({ files, run }: PluginWorld, ...counts: readonly number[]): Promise<void> {
  for (const pods of counts) {
    files.set('a', textOf(pods))
    await run('apply', '-f', 'a', 'pods', '--yes')
  }
}

t.test('undo does not jump over an edit by another tool, which keeps the annotation', async (t) => {
  const world = await startPluginWorld(t)
  await applyEach(world, 50, 60)
  editConfigMap(world, 'pods', textOf(70))
  const { code, err, out } = await world.run('undo', 'pods', '--yes')
  t.equal(code, 1)
  t.match(err, /ConfigMap kube-system\/pods has been changed by something else than apply and undo/)
  t.match(err, /give --to/)
  for (const pods of [50, 60]) t.match(err, hashOf(pods), 'the versions that exist are named')
  t.equal(out, '')
  t.same(dataOf(world), { kubelet: textOf(70) })
  t.notMatch((await world.run('versions', 'pods')).out, /previous/, 'no version counts as the one before')
  t.equal((await world.run('undo', 'pods', '--to', hashOf(60), '--yes')).code, 0)
  t.same(dataOf(world), { kubelet: textOf(60) })
  t.equal((await world.run('undo', 'pods', '--yes')).code, 0)
  t.same(dataOf(world), { kubelet: textOf(70) }, 'what the edit wrote was kept')
})

t.test('undo refuses after an edit that brought back a kept text', async (t) => {
  const world = await startPluginWorld(t)
  await applyEach(world, 50, 60, 70)
  editConfigMap(world, 'pods', textOf(50))
  t.match(await world.run('undo', 'pods', '--yes'), { code: 1, err: /changed by something else/ })
  t.same(dataOf(world), { kubelet: textOf(50) })
})

t.test('an annotation of an earlier plugin counts where what is there now is kept', async (t) => {
  const world = await startPluginWorld(t)
  await applyEach(world, 50, 60)
  putConfigMap(world, 'pods', textOf(60), { [PREVIOUS_ANNOTATION]: hashOf(50) })
  t.match(await world.run('undo', 'pods', '--dry-run'), { code: 0, out: /maxPods +60 +50/ })
  putConfigMap(world, 'pods', textOf(70), { [PREVIOUS_ANNOTATION]: hashOf(50) })
  t.match(await world.run('undo', 'pods', '--dry-run'), { code: 1, err: /changed by something else/ })
})

t.test('without an annotation and without versions it says so', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', textOf(50))
  t.match(await world.run('undo', 'pods'), { code: 1, err: /it is not known what pods held before[\s\S]*no version of it is kept/ })
})

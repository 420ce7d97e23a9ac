// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { hashVersion } from '../../../../src/command/plugin/kept-versions.ts'
import { BASE_ANNOTATION } from '../../../../src/decision/channels.ts'
import { editConfigMap, NAMESPACE, type PluginWorld, putConfigMap, startPluginWorld } from '../world.ts'

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
  putConfigMap(world, 'pods', textOf(60), { 'kubelet-cfg-agent.io/previous-version': hashOf(50) })
  t.match(await world.run('undo', 'pods', '--dry-run'), { code: 0, out: /maxPods +60 +50/ })
  putConfigMap(world, 'pods', textOf(70), { 'kubelet-cfg-agent.io/previous-version': hashOf(50) })
  t.match(await world.run('undo', 'pods', '--dry-run'), { code: 1, err: /changed by something else/ })
})

t.test('without an annotation and without versions it says so', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', textOf(50))
  t.match(await world.run('undo', 'pods'), { code: 1, err: /it is not known what pods held before[\s\S]*no version of it is kept/ })
})

/** Configs that a person may have written with another tool. */
const UNDECODABLE: readonly string[] = ['maxPods: [', `${WHOLE}maxPods: many\n`, 'maxPods: 60\n']

t.test('undo replaces what cannot be compared', async (t) => {
  const world = await startPluginWorld(t)
  await applyEach(world, 50, 60)
  for (const text of UNDECODABLE) {
    editConfigMap(world, 'pods', text)
    const dry = await world.run('undo', 'pods', '--to', hashOf(60), '--dry-run')
    t.match(dry, { code: 0, out: /What version \d+ \(hash \S+\) holds cannot be compared: .*\n\nNothing was changed/, err: '' }, text)
    t.match(await world.run('undo', 'pods', '--to', hashOf(60), '--yes'), { code: 0, out: /Wrote ConfigMap/ }, text)
    t.same(dataOf(world), { kubelet: textOf(60) })
  }
  putConfigMap(world, 'pods', undefined)
  t.match(await world.run('undo', 'pods', '--to', hashOf(60), '--yes'), { code: 0, out: /cannot be compared: there is no key kubelet/ })
  t.same(dataOf(world), { kubelet: textOf(60) })
})

t.test('apply replaces what cannot be compared', async (t) => {
  const world = await startPluginWorld(t)
  await applyEach(world, 50)
  world.files.set('a', textOf(60))
  for (const text of [...UNDECODABLE, undefined]) {
    putConfigMap(world, 'pods', text)
    const dry = await world.run('apply', '-f', 'a', 'pods', '--dry-run')
    t.match(
      dry,
      { code: 0, out: /What version \d+ \(hash \S+\) holds cannot be compared: [\s\S]*Nothing was changed/, err: '' },
      String(text),
    )
    t.match(await world.run('apply', '-f', 'a', 'pods', '--yes'), { code: 0, out: /Wrote ConfigMap/ }, String(text))
    t.same(dataOf(world), { kubelet: textOf(60) })
  }
})

t.test('apply corrects a part whose base does not exist', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'whole', textOf(50))
  putConfigMap(world, 'pods', 'maxPods: 60\n', { [BASE_ANNOTATION]: `${NAMESPACE}/none` })
  world.files.set('a', 'maxPods: 60\n')
  t.match(await world.run('apply', '-f', 'a', 'pods', '--base', `${NAMESPACE}/whole`, '--yes'), {
    code: 0,
    out: /cannot be compared: ConfigMap kube-system\/none:kubelet cannot be read: it does not exist/,
  })
  t.match(world.server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata.annotations, { [BASE_ANNOTATION]: `${NAMESPACE}/whole` })
})

t.test('undo does not write what cannot be decoded', async (t) => {
  const world = await startPluginWorld(t)
  await applyEach(world, 50)
  editConfigMap(world, 'pods', 'maxPods: [')
  await applyEach(world, 60)
  const hash = hashVersion({ data: { kubelet: 'maxPods: [' }, base: undefined })
  t.match(await world.run('undo', 'pods', '--to', hash, '--yes'), { code: 1, err: new RegExp(`the kept version with hash ${hash}: `) })
  t.same(dataOf(world), { kubelet: textOf(60) })
})

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../../src/checkpoint/files.ts'
import { mergeAround } from '../../../src/preflight/drop-ins/merge-drop-ins.ts'
import { findDropIns } from '../../../src/preflight/drop-ins/read-drop-ins.ts'
import { dropInWiring, fileWiring } from '../../../src/systemd/wiring-kinds.ts'
import { FakeDisk } from '../../checkpoint/fake/fake-disk.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const LOCAL = '/etc/kubernetes/kubelet/config.json'
const DIRECTORY = '/etc/kubernetes/kubelet/config.json.d'
const FILES: Readonly<Record<string, string>> = {
  [LOCAL]: `${HEAD}maxPods: 10\npodsPerCore: 10\nregistryBurst: 10\nstaticPodPath: manifests\n`,
  [`${DIRECTORY}/40-nodeadm.conf`]: `${HEAD}podsPerCore: 40\nregistryBurst: 40\n`,
  [`${DIRECTORY}/90-kubelet-cfg-agent.conf`]: 'what the agent wrote before',
  [`${DIRECTORY}/99-admin.conf`]: `${HEAD}eventBurst: 99\n`,
}

function find(place: 'local' | 'assigned', wiring = dropInWiring(DIRECTORY), files = FILES) {
  const disk = new FakeDisk(() => 0)
  for (const [path, text] of Object.entries(files)) disk.plant(path, text)
  const command = { path: '/usr/bin/kubelet', words: [`--config=${LOCAL}`, '--config-dir', DIRECTORY] }
  return findDropIns({ command, wiring, localConfigPath: LOCAL }, place, { files: new DurableFiles(disk), yaml: IN_PLACE })
}

t.test('a config that the agent adds as a drop-in has its place among the files, over the local config', async (t) => {
  const found = await find('assigned')
  if (found?.kind !== 'usable') throw new Error('not usable')
  t.match(mergeAround({ registryBurst: 90, eventBurst: 90 }, found.order, { major: 1, minor: 34, patch: 0 }), {
    maxPods: 10,
    podsPerCore: 40,
    registryBurst: 90,
    eventBurst: 99,
    staticPodPath: '/etc/kubernetes/kubelet/manifests',
  })
})

t.test("the local config is merged with the others' files, without that of the agent", async (t) => {
  const found = await find('local')
  t.match(found, { kind: 'usable', order: { below: [], above: [{ path: /40-nodeadm/ }, { path: /99-admin/ }] } })
  t.equal(found?.kind === 'usable' ? found.order.above.length : 0, 2)
})

t.test('a local config that kubelet cannot load makes a drop-in useless', async (t) => {
  t.match(await find('assigned', undefined, { ...FILES, [LOCAL]: 'maxPods: 5\n' }), { kind: 'unusable', path: LOCAL })
})

t.test('for a config that replaces the file, a drop-in that the agent left is one like any other', async (t) => {
  const left = { ...FILES, [`${DIRECTORY}/90-kubelet-cfg-agent.conf`]: `${HEAD}maxPods: 90\n` }
  t.match(await find('assigned', fileWiring(LOCAL), left), { order: { above: [{}, { config: { maxPods: 90 } }, {}] } })
})

t.test('without --config-dir there is nothing to merge', async (t) => {
  const files = new DurableFiles(new FakeDisk(() => 0))
  const command = { path: '/usr/bin/kubelet', words: [`--config=${LOCAL}`] }
  t.equal(
    await findDropIns({ command, wiring: fileWiring(LOCAL), localConfigPath: LOCAL }, 'assigned', { files, yaml: IN_PLACE }),
    undefined,
  )
})

t.test('a config whose name does not end in .conf is skipped, unless somebody has set it aside', async (t) => {
  const named = (names: readonly string[], text = `${HEAD}maxPods: 1\n`) =>
    Object.fromEntries(names.map((name) => [`${DIRECTORY}/${name}`, text]))
  const skipped = async (files: Readonly<Record<string, string>>) => {
    const found = await find('assigned', undefined, { ...FILES, ...files })
    return found?.kind === 'usable' ? found.skipped : found
  }
  t.equal(await skipped({}), undefined)
  const configs = ['10-a.yaml', '20-b.CONF', '30-c', 'below/40.json']
  t.strictSame(await skipped(named(configs)), configs.map((name) => `${DIRECTORY}/${name}`).sort())
  const aside = [
    'a.conf.bak',
    'b.conf~',
    '.c.conf.swp',
    '.90-kubelet-cfg-agent.conf.fallback',
    'd.conf.rpmsave',
    'e.conf.disabled',
    'f.conf.1',
    'README.md',
  ]
  t.equal(await skipped(named(aside)), undefined)
  t.equal(await skipped(named(['README', 'x.yaml'], 'what these files are for')), undefined)
  t.equal(await skipped({ [`${DIRECTORY}/large.yaml`]: `${HEAD}${'#'.repeat(1 << 20)}` }), undefined)
})

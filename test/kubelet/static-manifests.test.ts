import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readStaticManifests } from '../../src/kubelet/static-manifests.ts'

const ETCD =
  'apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: kube-system\n  name: etcd\nspec:\n  containers:\n  - name: main\n    image: x\n'

t.test('the files of a directory, as kubelet finds them', async (t) => {
  const directory = t.testdir({ 'etcd.yaml': ETCD, '.hidden.yaml': ETCD, 'api.json': '{"metadata":{"name":"api","namespace":"x"}}' })
  mkdirSync(join(directory, 'folder'))
  symlinkSync(join(directory, 'etcd.yaml'), join(directory, 'link'))
  symlinkSync('/nowhere', join(directory, 'dead'))
  execFileSync('mkfifo', [join(directory, 'pipe')])
  writeFileSync(join(directory, 'long.yaml'), '')
  truncateSync(join(directory, 'long.yaml'), (10 << 20) + 1)
  const manifests = await readStaticManifests([`${directory}/`])
  t.same(
    manifests.map(({ path, names }) => [path, names]),
    [
      [join(directory, 'api.json'), ['api']],
      [join(directory, 'etcd.yaml'), ['etcd', 'main']],
      [join(directory, 'link'), ['etcd', 'main']],
    ],
  )
  t.equal(manifests[1]?.digest, manifests[2]?.digest)
  t.not(manifests[0]?.digest, manifests[1]?.digest)
})

t.test('single files, and what is not there', async (t) => {
  const directory = t.testdir({ 'etcd.yaml': ETCD })
  const path = join(directory, 'etcd.yaml')
  t.match(await readStaticManifests([path, path, join(directory, 'none')]), [{ path }])
  t.same(await readStaticManifests([join(directory, 'none')]), [])
  t.same(await readStaticManifests([]), [])
})

t.test('every way to write a name', async (t) => {
  const texts = [
    'name: a',
    '- name: a',
    'metadata: {name: a}',
    'name: "a"',
    "name: 'a'",
    '"name" : "a"',
    'x: y\nname:   a # comment',
    '{"x":1,"name":"a"}',
  ]
  for (const text of texts) {
    const directory = t.testdir({ m: text })
    t.match(await readStaticManifests([directory]), [{ names: ['a'] }], text)
  }
  t.same((await readStaticManifests([t.testdir({ m: 'hostname: b\nnamespace: c' })]))[0]?.names, [])
})

// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import t from 'tap'
import type { Binding } from '../../src/checkpoint/binding.ts'
import { chooseGuessedName, compareBinding, readBinding, setForeignStateAside, writeBinding } from '../../src/checkpoint/binding.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { SetAside } from '../../src/checkpoint/set-aside.ts'
import { crashEverywhere, ROOT } from './crash.ts'
import { FakeDisk } from './fake/fake-disk.ts'

const layout = layoutOf(ROOT)
const ENV_FILES = [`${ROOT}/kubelet.env`, `${ROOT}/kubelet.env.fallback`]
const bound = (nodeName: string, ...caHashes: string[]): Binding => ({ nodeName, caHashes })

t.test('the state of another node, or of a cluster without a common CA, is foreign', (t) => {
  t.equal(compareBinding(undefined, bound('n', 'a')), 'fresh')
  t.equal(compareBinding(bound('n', 'a'), bound('n', 'a')), 'same')
  t.equal(compareBinding(bound('n', 'a'), bound('n', 'a', 'b')), 'same', 'a rotation starts')
  t.equal(compareBinding(bound('n', 'a', 'b'), bound('n', 'b')), 'same', 'a rotation ends')
  t.equal(compareBinding(bound('n', 'a'), bound('n', 'b')), 'foreign')
  t.equal(compareBinding(bound('n', 'a'), bound('m', 'a')), 'foreign')
  t.equal(compareBinding(bound('n'), bound('n', 'a')), 'same', 'a directory of manifests has no CA')
  t.equal(compareBinding(bound('n', 'a'), bound('n')), 'same')
  t.equal(compareBinding(bound('n'), bound('m')), 'foreign')
  t.end()
})

t.test('a name that was only guessed holds on the machine that guessed it, and localhost is none', (t) => {
  const kept = { ...bound('n', 'a'), machineHash: 'machine' }
  t.equal(chooseGuessedName(kept, 'machine', 'host'), 'n')
  t.equal(chooseGuessedName(kept, 'clone', 'host'), 'host')
  t.equal(chooseGuessedName(kept, undefined, 'host'), 'n', 'the ID cannot be read now')
  t.equal(chooseGuessedName(bound('n', 'a'), 'machine', 'host'), 'n', 'an older agent recorded no machine')
  t.equal(chooseGuessedName(bound('localhost', 'a'), 'machine', 'host'), 'host')
  t.equal(chooseGuessedName(undefined, 'machine', 'host'), 'host')
  t.equal(chooseGuessedName(kept, 'new at this boot', 'localhost'), 'n', 'the machine has no host name yet')
  t.equal(compareBinding(bound('localhost', 'a'), bound('n', 'a')), 'same')
  t.equal(compareBinding(bound('localhost', 'a'), bound('n', 'b')), 'foreign')
  const files = new DurableFiles(new FakeDisk(() => 0))
  writeBinding(files, layout, bound('localhost', 'a'))
  t.equal(readBinding(files, layout), undefined)
  t.end()
})

t.test('the binding is stored and written only on change; garbage counts as none', (t) => {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  t.equal(readBinding(files, layout), undefined)
  writeBinding(files, layout, bound('n', 'a'))
  t.same(readBinding(files, layout), bound('n', 'a'))
  disk.full = true
  t.doesNotThrow(() => writeBinding(files, layout, bound('n', 'a')))
  for (const garbage of ['', 'x', '{}', '{"nodeName":"n","caHashes":[1]}']) {
    disk.plant(layout.binding, garbage)
    t.equal(readBinding(files, layout), undefined)
  }
  t.end()
})

const STATE = ['meta/assigned', 'meta/cluster', 'checkpoints/u/1/kubelet', 'requests/hold', 'history.jsonl']

const reset = (files: DurableFiles) => () => {
  for (const path of ENV_FILES) files.remove(path)
  return true
}

function plantState(disk: FakeDisk): void {
  for (const path of STATE) disk.plant(`${ROOT}/${path}`, path)
  for (const path of ENV_FILES) disk.plant(path, 'KUBELET_CONFIG_ARGS=')
  disk.plant(`${ROOT}/lock`, '1')
}

t.test('foreign state is moved completely, each time to another directory; the lock stays', (t) => {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  const aside: SetAside[] = []
  for (const round of [1, 2]) {
    plantState(disk)
    disk.full = false
    files.makeDirectory(`${ROOT}/foreign-${round}`)
    disk.full = true
    setForeignStateAside(files, layout, reset(files), (what) => aside.push(what))
    for (const path of STATE) t.equal(files.read(`${ROOT}/foreign-${round}/${path}`)?.toString(), path)
  }
  t.same(files.list(ROOT), ['foreign-1', 'foreign-2', 'lock'])
  t.same(
    aside.map(({ to }) => to),
    [`${ROOT}/foreign-1`, `${ROOT}/foreign-2`],
  )
  t.end()
})

t.test('a crash at any point: kubelet never starts with a missing checkpoint, and the next start finishes the move', (t) => {
  const setAside = (files: DurableFiles) => setForeignStateAside(files, layout, reset(files), () => undefined)
  crashEverywhere({
    prepare: (_files, disk) => {
      plantState(disk)
      disk.plant(layout.binding, JSON.stringify(bound('other', 'a')))
    },
    act: setAside,
    check: (files, where) => {
      if (files.read(`${ROOT}/kubelet.env`) !== undefined) assert.ok(files.read(`${ROOT}/checkpoints/u/1/kubelet`), where)
      const check = compareBinding(readBinding(files, layout), bound('n', 'b'))
      if (check === 'foreign') setAside(files)
      assert.deepEqual(files.list(ROOT), ['foreign-1', 'lock'], where)
      for (const path of STATE) assert.ok(files.read(`${ROOT}/foreign-1/${path}`), `${where}: ${path}`)
    },
  })
  t.pass('always finished')
  t.end()
})

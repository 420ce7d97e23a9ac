// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { MergedFiles } from '../../src/systemd/merged-files.ts'
import { codedError } from '../../src/values/errors.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'

const PATHS = { directory: '/d', own: '/d/90-agent.conf', base: '/base' }

function world() {
  const disk = new FakeDisk(() => 1)
  const files = new DurableFiles(disk)
  let reads = 0
  let failing = false
  const fail = <T>(work: () => T): T => {
    if (failing) throw codedError('EIO', 'the disk returns nothing')
    return work()
  }
  const tree = {
    stat: (path: string) => fail(() => files.stat(path)),
    list: (path: string) => fail(() => files.list(path)),
    read: (path: string) => {
      reads += 1
      return fail(() => files.read(path))
    },
  }
  return {
    files,
    tree,
    plant: (path: string, text: string) => disk.plant(path, text),
    reads: () => reads,
    setFailing: (is: boolean) => {
      failing = is
    },
  }
}

t.test('it changes with each file that kubelet merges, and with their order, but not with that of the agent', async (t) => {
  const { files, tree, plant } = world()
  const merged = new MergedFiles(tree)
  const seen = new Set<string>()
  const isNew = (what: string) => {
    const identity = merged.identify(PATHS)
    t.notOk(seen.has(identity), what)
    seen.add(identity)
    t.equal(new MergedFiles(tree).identify(PATHS), identity, 'another process says the same')
    return identity
  }
  isNew('nothing is there')
  plant('/base', 'a')
  isNew('the file')
  plant('/d/10.conf', 'one')
  const one = isNew('a drop-in')
  plant('/d/10.conf', 'two')
  isNew('its content')
  plant('/d/10.conf', 'one')
  t.equal(merged.identify(PATHS), one, 'as before')
  plant('/d/sub/5.conf', 'one')
  const both = isNew('one in a directory')
  for (const other of ['/d/90-agent.conf', '/d/.90-agent.conf.fallback', '/d/note.txt']) plant(other, 'of the agent, or not read')
  t.equal(merged.identify(PATHS), both)
  files.remove('/d/10.conf')
  plant('/d/95.conf', 'one')
  isNew('the same content in another place: over the config of the agent')
  t.not(merged.identify({ ...PATHS, base: undefined }), merged.identify(PATHS), 'where the agent replaces the file, that does not count')
})

t.test('what the disk does not return makes no other kubelet, and what has not changed is not read again', async (t) => {
  const { tree, plant, reads, setFailing } = world()
  const merged = new MergedFiles(tree)
  plant('/base', 'a')
  plant('/d/10.conf', 'one')
  const before = merged.identify(PATHS)
  const after = reads()
  t.equal(merged.identify(PATHS), before)
  t.equal(reads(), after)
  setFailing(true)
  t.equal(merged.identify(PATHS), before)
  setFailing(false)
  t.equal(merged.identify(PATHS), before)
})

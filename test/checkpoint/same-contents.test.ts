// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { SameContents } from '../../src/checkpoint/same-contents.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { faultsOver } from './faults.ts'
import { silentLog } from './silent-log.ts'

const LAYOUT = layoutOf('/state')

function open(disk = new FakeDisk(() => 0)) {
  let nowUs = 0
  const same = new SameContents({
    files: new DurableFiles(disk),
    layout: LAYOUT,
    log: silentLog(),
    faults: faultsOver(() => nowUs),
    runtimeDir: '/run/agent',
  })
  const pass = (seconds: number) => {
    nowUs += seconds * 1e6
  }
  return { disk, same, pass }
}

t.test('a content without an entry is its own', async (t) => {
  t.equal(open().same.of('a'), 'a')
})

t.test('what was written is known again, and leads to the first of them', async (t) => {
  const { disk, same } = open()
  same.add('b', 'a')
  same.add('c', 'b')
  t.equal(same.of('c'), 'a')
  t.equal(open(disk).same.of('b'), 'a')
  t.equal(open(disk).same.of('c'), 'a')
})

t.test('on a full disk it holds in memory until it can be written', async (t) => {
  const { disk, same } = open()
  disk.full = true
  same.add('b', 'a')
  t.equal(same.of('b'), 'a')
  t.equal(open(disk).same.of('b'), 'b')
  t.throws(() => same.keep(), { code: 'ENOSPC' }, 'which is told to what depends on it')
  disk.full = false
  same.keep()
  t.equal(open(disk).same.of('b'), 'a')
  same.write()
  t.equal(open(disk).same.of('b'), 'a')
})

t.test('a damaged file counts as empty, and one that cannot be read is read again', async (t) => {
  const { disk } = open()
  disk.plant(LAYOUT.sameContents, '[{"content":1}]')
  t.equal(open(disk).same.of('b'), 'b')
  disk.plant(LAYOUT.sameContents, '[{"content":"b","same":"a"}]')
  const { same } = open(disk)
  disk.readFaultOf = () => 'EIO'
  t.throws(() => same.of('b'), { code: 'EIO' })
  disk.readFaultOf = () => undefined
  t.equal(same.of('b'), 'a')
})

t.test('only the newest are kept', async (t) => {
  const { disk, same } = open()
  for (let number = 0; number < 150; number += 1) same.add(`c${number}`, 'a')
  t.equal(open(disk).same.of('c149'), 'a')
  t.equal(open(disk).same.of('c0'), 'c0')
})

t.test('a copy under /run is read where the file is lost or damaged, and writes it anew', async (t) => {
  for (const damage of [undefined, '', '{}']) {
    const { disk, same } = open()
    same.add('b', 'a')
    disk.unlink(LAYOUT.sameContents)
    if (damage !== undefined) disk.plant(LAYOUT.sameContents, damage)
    const again = open(disk).same
    t.equal(again.of('b'), 'a')
    again.write()
    disk.unlink('/run/agent/same')
    t.equal(open(disk).same.of('b'), 'a')
  }
})

t.test('a copy that is damaged or stays unreadable counts as empty', async (t) => {
  const { disk } = open()
  disk.plant('/run/agent/same', '{}')
  t.equal(open(disk).same.of('b'), 'b')
  for (const code of ['EIO', 'EUCLEAN', 'EBADMSG'] as const) {
    const { same, pass } = open(disk)
    disk.readFaultOf = (path) => (path === '/run/agent/same' ? code : undefined)
    t.throws(() => same.of('b'), { code }, 'a short fault says nothing')
    pass(60)
    t.equal(same.of('b'), 'b')
  }
})

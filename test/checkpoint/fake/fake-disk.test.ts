// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../../src/checkpoint/files.ts'
import { filesContract } from '../files-contract.ts'
import type { FakeStep } from './fake-disk.ts'
import { FakeDisk } from './fake-disk.ts'

function fresh() {
  const disk = new FakeDisk(() => 1_000)
  disk.makeDirectory('/root', 0o700)
  disk.syncDirectory('/')
  return { disk, root: '/root', files: new DurableFiles(disk) }
}
class Crash extends Error {}
const keepNothing = () => 0
const keepEverything = () => 0.99

filesContract(fresh)

t.test('completed operations survive a power loss that keeps nothing unsynced', (t) => {
  const { disk, files } = fresh()
  files.replace('/root/f', 'bytes')
  files.makeDirectory('/root/a/b')
  files.createTree('/root/a/tree', new Map([['k', Buffer.from('v')]]))
  files.rename('/root/f', '/root/a/b/f')
  files.replace('/root/gone', '')
  files.remove('/root/gone')
  disk.powerLoss(keepNothing)
  t.same(files.list('/root'), ['a'])
  t.equal(files.read('/root/a/b/f')?.toString(), 'bytes')
  t.equal(files.read('/root/a/tree/k')?.toString(), 'v')
  t.end()
})

t.test('without an fsync, names and bytes are lost or torn', (t) => {
  const { disk, files } = fresh()
  files.replace('/root/f', 'old')
  disk.write('/root/g', Buffer.from('new'), 0o600)
  disk.rename('/root/g', '/root/f')
  t.equal(files.read('/root/f')?.toString(), 'new')
  disk.powerLoss(keepNothing)
  t.equal(files.read('/root/f')?.toString(), 'old', 'the rename was not synced')

  disk.write('/root/g', Buffer.from('new'), 0o600)
  disk.rename('/root/g', '/root/f')
  disk.powerLoss(keepEverything)
  t.equal(files.read('/root/f')?.toString(), 'new', 'it may be kept')

  files.append('/root/log', '0123456789')
  disk.syncDirectory('/root')
  const answers = [0.8, 0.5]
  disk.powerLoss(() => answers.shift() ?? 0)
  t.same(files.read('/root/log'), Buffer.from('01234\0\0\0\0\0'), 'the name was synced, the bytes were not')
  t.end()
})

t.test('if a change is lost, later changes of the same file are lost too', (t) => {
  const { disk, files } = fresh()
  disk.write('/root/a', Buffer.from('x'), 0o600)
  disk.rename('/root/a', '/root/b')
  const answers = [0.1, 0.99]
  disk.powerLoss(() => answers.shift() ?? 0)
  t.same(files.list('/root'), [])
  t.end()
})

t.test('a rename across directories is atomic: an fsync of either makes it durable', (t) => {
  for (const synced of ['/root/a', '/root/b']) {
    const { disk, files } = fresh()
    files.makeDirectory('/root/a')
    files.makeDirectory('/root/b')
    files.replace('/root/a/f', 'x')
    disk.rename('/root/a/f', '/root/b/f')
    disk.syncDirectory(synced)
    disk.powerLoss(keepNothing)
    t.same([files.list('/root/a'), files.list('/root/b')], [[], ['f']])
  }
  t.end()
})

t.test('the steps of each method, in order', (t) => {
  const { disk, files } = fresh()
  const steps: string[] = []
  disk.onStep = ({ kind, path }: FakeStep, phase) => {
    if (phase === 'before') steps.push(`${kind} ${path}`)
  }
  const stepsOf = (action: () => void) => {
    steps.length = 0
    action()
    return [...steps]
  }
  t.same(
    stepsOf(() => files.replace('/root/f', 'x')),
    ['write /root/..f.fake', 'fsync /root/..f.fake', 'rename /root/..f.fake', 'fsync /root'],
  )
  t.same(
    stepsOf(() => files.makeDirectory('/root/d')),
    ['mkdir /root/d', 'fsync /root'],
  )
  t.same(
    stepsOf(() => files.makeDirectory('/root/d')),
    [],
  )
  t.same(
    stepsOf(() => files.createTree('/root/d/t', new Map([['k', Buffer.from('v')]]))),
    [
      'mkdir /root/d/..t.fake',
      'write /root/d/..t.fake/..k.fake',
      'fsync /root/d/..t.fake/..k.fake',
      'rename /root/d/..t.fake/..k.fake',
      'fsync /root/d/..t.fake',
      'rename /root/d/..t.fake',
      'fsync /root/d',
    ],
  )
  t.same(
    stepsOf(() => files.rename('/root/f', '/root/d/f')),
    ['rename /root/f', 'fsync /root/d', 'fsync /root'],
  )
  t.same(
    stepsOf(() => files.remove('/root/d/f')),
    ['unlink /root/d/f', 'fsync /root/d'],
  )
  t.same(
    stepsOf(() => files.removeTree('/root/d/t')),
    ['rename /root/d/t', 'fsync /root/d', 'unlink /root/d/..t.fake/k', 'unlink /root/d/..t.fake'],
  )
  t.end()
})

t.test('a crash is passed on unchanged, and the crashed process does not clean up', (t) => {
  const { disk, files } = fresh()
  files.replace('/root/f', 'old')
  const crash = new Crash()
  disk.onStep = (step, phase) => {
    if (step.kind === 'rename' && phase === 'before') throw crash
  }
  t.throws(() => files.replace('/root/f', 'new'), crash)
  t.throws(() => files.remove('/root/f'), crash, 'nothing works until restart')
  disk.onStep = undefined
  disk.restart()
  t.same(disk.list('/root').sort(), ['..f.fake', 'f'])
  t.equal(files.read('/root/f')?.toString(), 'old')
  files.settle('/root')
  t.same(disk.list('/root'), ['f'])
  t.end()
})

t.test('after a disk error the old file is intact, and no temporary file is left', (t) => {
  for (const fault of ['ENOSPC', 'EIO', 'short-write'] as const) {
    const { disk, files } = fresh()
    files.replace('/root/f', 'old')
    disk.faultOf = (step) => (step.kind === 'write' ? fault : undefined)
    t.throws(() => files.replace('/root/f', 'new'), { name: 'FileError', code: fault })
    t.throws(() => files.createTree('/root/t', new Map([['k', Buffer.from('new')]])), { code: fault })
    t.equal(files.read('/root/f')?.toString(), 'old')
    t.same(disk.list('/root'), ['f'])
  }
  t.end()
})

t.test('renames and removals work on a full disk', (t) => {
  const { disk, files } = fresh()
  files.replace('/root/f', 'old')
  disk.full = true
  t.throws(() => files.replace('/root/g', 'x'), { code: 'ENOSPC' })
  t.throws(() => files.append('/root/log', 'x'), { code: 'ENOSPC' })
  t.throws(() => files.makeDirectory('/root/d'), { code: 'ENOSPC' })
  files.rename('/root/f', '/root/g')
  files.remove('/root/g')
  t.same(disk.list('/root'), [])
  t.end()
})

t.test('a directory whose fsync failed is synced with the next write anywhere', (t) => {
  const { disk, files } = fresh()
  files.makeDirectory('/root/a')
  files.makeDirectory('/root/b')
  disk.faultOf = (step) => (step.kind === 'fsync' && step.path === '/root/a' ? 'EIO' : undefined)
  t.throws(() => files.replace('/root/a/f', 'x'), { code: 'EIO' })
  t.doesNotThrow(() => files.replace('/root/b/f', 'x'), 'one bad directory does not stop writes to another')
  disk.faultOf = undefined
  files.replace('/root/b/f', 'y')
  disk.powerLoss(keepNothing)
  t.equal(files.read('/root/a/f')?.toString(), 'x')
  t.end()
})

t.test('settle makes durable what an earlier process renamed but did not sync', (t) => {
  const { disk, files } = fresh()
  const crash = new Crash()
  disk.onStep = (step, phase) => {
    if (step.path === '/root/..t.fake' && step.kind === 'rename' && phase === 'after') throw crash
  }
  t.throws(() => files.createTree('/root/t', new Map([['k', Buffer.from('v')]])), crash)
  disk.onStep = undefined
  disk.restart()
  new DurableFiles(disk).settle('/root')
  disk.powerLoss(keepNothing)
  t.equal(files.read('/root/t/k')?.toString(), 'v')
  t.end()
})

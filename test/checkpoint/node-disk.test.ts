// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readlinkSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { filesContract } from './files-contract.ts'

const made: string[] = []
function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'node-disk-'))
  made.push(root)
  return root
}
t.teardown(() => {
  for (const root of made) rmSync(root, { recursive: true, force: true })
})

filesContract(() => ({ disk: new NodeDisk(), root: newRoot() }))

t.test('a link is replaced, not followed, also at the path of a temporary file', (t) => {
  const root = newRoot()
  const disk = new NodeDisk()
  const files = new DurableFiles(disk)
  writeFileSync(join(root, 'victim'), 'untouched')
  symlinkSync('victim', join(root, 'link'))
  symlinkSync('victim', join(root, `..link.${disk.owner}`))
  t.equal(files.stat(join(root, 'link'))?.kind, 'other')
  files.replace(join(root, 'link'), 'new')
  t.ok(lstatSync(join(root, 'link')).isFile())
  t.equal(files.read(join(root, 'victim'))?.toString(), 'untouched')
  t.end()
})

t.test('settle does not follow links out of the directory', (t) => {
  const outside = newRoot()
  writeFileSync(join(outside, '..data'), 'not ours')
  const root = newRoot()
  symlinkSync(outside, join(root, 'link'))
  new DurableFiles(new NodeDisk()).settle(root)
  t.ok(lstatSync(join(outside, '..data')).isFile())
  t.equal(readlinkSync(join(root, 'link')), outside)
  t.end()
})

const small = newRoot()
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', small], { encoding: 'utf8' })
const skip = mounted.status === 0 ? false : `cannot mount a small tmpfs here: ${mounted.stderr || mounted.error?.message}`.trim()

t.test('a disk that is really full', { skip }, (t) => {
  t.teardown(() => spawnSync('umount', [small]))
  const root = small
  const files = new DurableFiles(new NodeDisk())
  files.replace(`${root}/f`, 'the old bytes')
  files.makeDirectory(`${root}/d`)
  // A full disk answers in two ways: success after some of the bytes, or ENOSPC at the first.
  const page = statfsSync(root).bsize
  for (const leftPages of [2, 0]) {
    const filler = (statfsSync(root).bavail - leftPages) * page
    writeFileSync(`${root}/filler-${leftPages}`, Buffer.alloc(Math.max(0, filler), 'x'))
    const code = leftPages === 0 ? 'ENOSPC' : 'short-write'
    t.throws(() => files.replace(`${root}/f`, Buffer.alloc(100_000, 'n')), { code })
    t.throws(() => files.createTree(`${root}/tree`, new Map([['k', Buffer.alloc(100_000, 'n')]])), { name: 'FileError' })
    t.equal(files.read(`${root}/f`)?.toString(), 'the old bytes')
    t.equal(files.stat(`${root}/tree`), undefined)
    t.notOk(
      new NodeDisk().list(root).some((name) => name.startsWith('..')),
      'nothing unfinished is left to fill the disk further',
    )
  }
  files.rename(`${root}/f`, `${root}/d/f`)
  t.equal(files.read(`${root}/d/f`)?.toString(), 'the old bytes')
  files.remove(`${root}/d/f`)
  files.removeTree(`${root}/d`)
  t.equal(files.stat(`${root}/d`), undefined)
  t.end()
})

t.test('an error has the same text each time, whatever the name of the temporary file', (t) => {
  const files = new DurableFiles(new NodeDisk())
  const root = newRoot()
  writeFileSync(join(root, 'file'), '')
  const path = join(root, 'file', 'below')
  const messages = [1, 2].map(() => {
    try {
      files.replace(path, 'new')
      return 'no error'
    } catch (error) {
      return String(error)
    }
  })
  t.match(messages[0], `cannot write ${path}: ENOTDIR: not a directory; `)
  t.equal(messages[1], messages[0])
  t.end()
})

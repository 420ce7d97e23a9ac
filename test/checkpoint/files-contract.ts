// SPDX-License-Identifier: Apache-2.0
/** The contract of DurableFiles, for the real disk and the one in memory. */
import t from 'tap'
import type { Disk } from '../../src/checkpoint/disk.ts'
import { FileError } from '../../src/checkpoint/file-error.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { codedError } from '../../src/values/errors.ts'

interface DiskUnderTest {
  readonly disk: Disk
  /** An existing, empty directory. */
  readonly root: string
}

export function filesContract(open: () => DiskUnderTest): void {
  const fresh = () => {
    const { disk, root } = open()
    return { disk, root, files: new DurableFiles(disk) }
  }

  t.test('a missing entry is undefined, not an error', (t) => {
    const { files, root } = fresh()
    t.equal(files.read(`${root}/none`), undefined)
    t.equal(files.list(`${root}/none`), undefined)
    t.equal(files.stat(`${root}/none`), undefined)
    t.doesNotThrow(() => files.remove(`${root}/none`))
    t.doesNotThrow(() => files.removeTree(`${root}/none`))
    t.end()
  })

  t.test('replace writes text and bytes completely, with the given mode', (t) => {
    const { files, root } = fresh()
    files.replace(`${root}/f`, 'grüß')
    t.equal(files.read(`${root}/f`)?.toString(), 'grüß')
    t.equal(files.stat(`${root}/f`)?.mode, 0o600)
    const bytes = Buffer.from([0, 255, 10, 13])
    files.replace(`${root}/f`, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), { mode: 0o644 })
    t.same(files.read(`${root}/f`), bytes)
    t.equal(files.stat(`${root}/f`)?.mode, 0o644)
    files.replace(`${root}/f`, '')
    t.equal(files.read(`${root}/f`)?.length, 0)
    t.same(files.list(root), ['f'])
    t.end()
  })

  t.test('the longest name that a ConfigMap key can have', (t) => {
    const { files, root } = fresh()
    const name = 'k'.repeat(253)
    files.replace(`${root}/${name}`, 'x')
    files.createTree(`${root}/tree`, new Map([[name, Buffer.from('y')]]))
    t.equal(files.read(`${root}/tree/${name}`)?.toString(), 'y')
    t.end()
  })

  t.test('the identity of a file changes when it is replaced, and only then', (t) => {
    const { files, root } = fresh()
    files.replace(`${root}/f`, 'one')
    const before = files.stat(`${root}/f`)?.identity
    t.equal(files.stat(`${root}/f`)?.identity, before)
    files.replace(`${root}/f`, 'two')
    t.not(files.stat(`${root}/f`)?.identity, before)
    t.end()
  })

  t.test('stat returns kind and size', (t) => {
    const { files, root } = fresh()
    files.replace(`${root}/f`, 'four')
    t.match(files.stat(`${root}/f`), { kind: 'file', size: 4 })
    t.match(files.stat(root), { kind: 'directory' })
    t.end()
  })

  t.test('makeDirectory creates parents, accepts an existing directory, rejects a file', (t) => {
    const { files, root } = fresh()
    files.makeDirectory(`${root}/a/b/c`)
    files.makeDirectory(`${root}/a/b/c`)
    t.match(files.stat(`${root}/a/b`), { kind: 'directory', mode: 0o700 })
    files.replace(`${root}/f`, '')
    t.throws(() => files.makeDirectory(`${root}/f`), { name: 'FileError', code: 'ENOTDIR', path: `${root}/f` })
    t.throws(() => files.makeDirectory(`${root}/f/below`), { name: 'FileError', code: 'ENOTDIR' })
    t.end()
  })

  t.test('errors name the path and say what to do', (t) => {
    const { files, root } = fresh()
    t.throws(() => files.replace(`${root}/no/f`, ''), {
      code: 'ENOENT',
      path: `${root}/no/f`,
      message: /cannot write .*\/no\/f: .*create its directory first/,
    })
    t.throws(() => files.read(root), { code: 'EISDIR' })
    t.throws(() => files.rename(`${root}/none`, `${root}/x`), { code: 'ENOENT' })
    files.makeDirectory(`${root}/d`)
    t.throws(() => files.replace(`${root}/d`, ''), FileError)
    t.throws(() => files.remove(`${root}/d`), FileError)
    files.replace(`${root}/f`, '')
    t.throws(() => files.read(`${root}/f/x`), { code: 'ENOTDIR' })
    t.throws(() => files.list(`${root}/f`), { code: 'ENOTDIR' })
    t.same(files.list(root), ['d', 'f'], 'failures leave no temporary files')
    t.end()
  })

  t.test('an error that libuv does not name has its name and says what to do', (t) => {
    for (const [errno, code, advice] of [
      [117, 'EUCLEAN', /repair the file system/],
      [74, 'EBADMSG', /repair the file system/],
      [122, 'EDQUOT', /free up space/],
      [116, 'ESTALE', /check the file system/],
    ] as const) {
      const { disk, files, root } = fresh()
      const unnamed = `Unknown system error -${errno}`
      t.capture(disk, 'read', (path: string) => {
        throw Object.assign(codedError(unnamed, `${unnamed}: ${unnamed}, open '${path}'`), { errno: -errno })
      })
      t.throws(() => files.read(`${root}/f`), { name: 'FileError', code, message: advice })
      t.throws(() => files.read(`${root}/f`), { message: new RegExp(`^cannot read ${root}/f: ${code}: [a-z ]+; `) })
    }
    const { disk, files, root } = fresh()
    t.capture(disk, 'read', () => {
      throw Object.assign(codedError('Unknown system error -999', 'Unknown system error -999: ?'), { errno: -999 })
    })
    t.throws(() => files.read(`${root}/f`), { name: 'FileError', code: 'Unknown system error -999' })
    t.end()
  })

  t.test('rename moves files and directories, over a file too', (t) => {
    const { files, root } = fresh()
    files.makeDirectory(`${root}/a`)
    files.makeDirectory(`${root}/b`)
    files.replace(`${root}/a/f`, 'new')
    files.replace(`${root}/b/f`, 'old')
    files.rename(`${root}/a/f`, `${root}/b/f`)
    t.equal(files.read(`${root}/b/f`)?.toString(), 'new')
    t.same(files.list(`${root}/a`), [])
    files.rename(`${root}/b`, `${root}/a/b`)
    t.equal(files.read(`${root}/a/b/f`)?.toString(), 'new')
    t.equal(files.stat(`${root}/b`), undefined)
    t.end()
  })

  t.test('createTree creates the complete directory, an empty one too, and never replaces one', (t) => {
    const { files, root } = fresh()
    files.createTree(
      `${root}/tree`,
      new Map([
        ['b', Buffer.from('2')],
        ['a', Buffer.from('1')],
      ]),
    )
    t.same(files.list(`${root}/tree`), ['a', 'b'])
    t.match(files.stat(`${root}/tree`), { kind: 'directory', mode: 0o700 })
    t.match(files.stat(`${root}/tree/a`), { mode: 0o600 })
    files.createTree(`${root}/empty`, new Map())
    t.same(files.list(`${root}/empty`), [])
    t.throws(() => files.createTree(`${root}/empty`, new Map([['a', Buffer.from('1')]])), { code: 'EEXIST' })
    t.same(files.list(`${root}/empty`), [])
    t.same(files.list(root), ['empty', 'tree'])
    t.end()
  })

  t.test('remove and removeTree', (t) => {
    const { files, root } = fresh()
    files.makeDirectory(`${root}/a/b`)
    files.replace(`${root}/a/b/f`, 'x')
    files.replace(`${root}/f`, 'x')
    files.remove(`${root}/f`)
    files.removeTree(`${root}/a`)
    t.same(files.list(root), [])
    t.end()
  })

  t.test('append adds to the file', (t) => {
    const { files, root } = fresh()
    files.append(`${root}/log`, 'one\n')
    files.append(`${root}/log`, 'two\n')
    t.equal(files.read(`${root}/log`)?.toString(), 'one\ntwo\n')
    t.match(files.stat(`${root}/log`), { mode: 0o600 })
    t.end()
  })

  t.test('unfinished files of a crash are not listed, do no harm, and are removed', (t) => {
    const { disk, files, root } = fresh()
    files.makeDirectory(`${root}/sub`)
    disk.write(`${root}/sub/..f.${disk.owner}`, Buffer.from('torn'), 0o644)
    disk.write(`${root}/..other.77.123`, Buffer.from('torn'), 0o644)
    disk.makeDirectory(`${root}/..tree.${disk.owner}`, 0o700)
    disk.write(`${root}/..tree.${disk.owner}/k`, Buffer.from('torn'), 0o600)
    t.same(files.list(root), ['sub'])
    files.replace(`${root}/sub/f`, 'whole')
    t.match(files.stat(`${root}/sub/f`), { mode: 0o600 })
    files.createTree(`${root}/tree`, new Map([['k', Buffer.from('whole')]]))
    t.equal(files.read(`${root}/tree/k`)?.toString(), 'whole')
    files.settle(root)
    t.same(disk.list(root).sort(), ['sub', 'tree'])
    t.same(disk.list(`${root}/sub`), ['f'])
    t.doesNotThrow(() => files.settle(`${root}/none`))
    t.end()
  })
}

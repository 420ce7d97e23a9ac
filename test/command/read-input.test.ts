// SPDX-License-Identifier: Apache-2.0
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { readInput } from '../../src/command/read-input.ts'

t.test('reads a whole file', async (t) => {
  const directory = t.testdir({ 'x.yaml': 'a: 1\n', empty: '' })
  t.same(await readInput(join(directory, 'x.yaml'), 100), { kind: 'read', bytes: Buffer.from('a: 1\n') })
  t.same(await readInput(join(directory, 'empty'), 100), { kind: 'read', bytes: Buffer.alloc(0) })
})

t.test('reads up to the limit', async (t) => {
  const directory = t.testdir({ just: 'a'.repeat(100), more: 'a'.repeat(101) })
  t.match(await readInput(join(directory, 'just'), 100), { kind: 'read' })
  t.same(await readInput(join(directory, 'more'), 100), { kind: 'too-large' })
  t.same(await readInput('/dev/zero', 1 << 20), { kind: 'too-large' }, 'an endless file')
})

t.test('reports why a file cannot be read', async (t) => {
  const directory = t.testdir({ 'x.yaml': '' })
  symlinkSync(join(directory, 'loop'), join(directory, 'loop'))
  const code = async (path: string) => {
    const reading = await readInput(path, 100)
    return reading.kind === 'unreadable' ? reading.code : reading.kind
  }
  t.equal(await code(join(directory, 'none')), 'ENOENT')
  t.equal(await code(directory), 'EISDIR')
  t.equal(await code(join(directory, 'x.yaml', 'y')), 'ENOTDIR')
  t.equal(await code(join(directory, 'loop')), 'ELOOP')
})

t.test('reads standard input', async (t) => {
  t.same(await readInput(undefined, 100, Readable.from([Buffer.from('a'), 'b'])), { kind: 'read', bytes: Buffer.from('ab') })
  t.same(await readInput(undefined, 100, Readable.from([])), { kind: 'read', bytes: Buffer.alloc(0) })
  t.same(await readInput(undefined, 2, Readable.from(['a', 'b', 'c'])), { kind: 'too-large' })
})

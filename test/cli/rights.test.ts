import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type PathNeed, readRights } from '../../src/cli/rights.ts'

const root = process.getuid?.() === 0

function state(path: string, need: PathNeed['need']) {
  return readRights([{ path, need }])[0]
}

t.test('existing paths', async (t) => {
  const directory = t.testdir({ file: 'x' })
  const file = join(directory, 'file')
  t.match(state(directory, 'write'), { state: 'granted' })
  t.match(state(file, 'read'), { state: 'granted' })
  t.match(state(file, 'execute'), { state: 'refused', detail: 'permission denied' }, 'root cannot execute a file without any execute bit')
  chmodSync(file, 0o755)
  t.match(state(file, 'execute'), { state: 'granted' })
})

t.test('missing paths', async (t) => {
  const directory = t.testdir({ file: 'x' })
  t.match(state(join(directory, 'none'), 'read'), { state: 'missing' })
  t.match(state(join(directory, 'a/b/c'), 'write'), { state: 'missing', detail: 'will be created' })
  t.match(state(join(directory, 'file/b'), 'write'), { state: 'refused', detail: 'ENOTDIR' })
  t.strictSame(t.testdir(), directory)
})

t.test('refused paths', { skip: root && 'root may access these paths' }, async (t) => {
  const directory = t.testdir({ closed: {} })
  const closed = join(directory, 'closed')
  writeFileSync(join(closed, 'file'), '', { mode: 0o000 })
  chmodSync(closed, 0o500)
  t.match(state(join(closed, 'file'), 'read'), { state: 'refused', detail: 'permission denied' })
  t.match(state(join(closed, 'new'), 'write'), { state: 'refused', detail: /cannot be created in .*closed: permission denied/ })
})

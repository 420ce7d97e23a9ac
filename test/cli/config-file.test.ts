import { join } from 'node:path'
import t from 'tap'
import { type ParseYaml, readConfigFile } from '../../src/cli/config-file.ts'

const parse: ParseYaml = (text) =>
  text.startsWith('{') ? { ok: true, value: JSON.parse(text) } : { ok: false, detail: 'line 1: not a mapping' }

t.test('reads a settings file', async (t) => {
  const directory = t.testdir({ good: '{"kind":"x"}', bad: ':' })
  const read = (name: string) => readConfigFile(join(directory, name), parse)
  t.same(read('good'), { kind: 'document', path: join(directory, 'good'), value: { kind: 'x' } })
  t.match(read('bad'), { kind: 'unreadable', detail: 'line 1: not a mapping' })
  t.match(read('none'), { kind: 'absent' })
  t.match(read('good/none'), { kind: 'absent' })
  t.match(read('.'), { kind: 'unreadable', detail: 'cannot be read: EISDIR' })
})

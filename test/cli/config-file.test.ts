import { join } from 'node:path'
import t from 'tap'
import { openSettingsParser, type ParseYaml, readConfigFile, takesYaml } from '../../src/cli/config-file.ts'
import { parseLocated } from '../../src/kubelet/yaml.ts'

const parse: ParseYaml = (text) =>
  text.startsWith('{') ? { ok: true, value: JSON.parse(text), repeated: [] } : { ok: false, detail: 'line 1: not a mapping' }

t.test('reads a settings file', async (t) => {
  const directory = t.testdir({ good: '{"kind":"x"}', bad: ':' })
  const read = (name: string) => readConfigFile(join(directory, name), parse)
  t.same(read('good'), { kind: 'document', path: join(directory, 'good'), value: { kind: 'x' } })
  t.match(read('bad'), { kind: 'unreadable', detail: 'line 1: not a mapping' })
  t.match(read('none'), { kind: 'absent' })
  t.match(read('good/none'), { kind: 'absent' })
  t.match(read('.'), { kind: 'unreadable', detail: 'cannot be read: EISDIR' })
})

t.test('the parser of YAML is loaded only for a file that takes it', async (t) => {
  const directory = t.testdir({ plain: 'spread: 1m\n', nested: 'evidence:\n  pods: off\n' })
  t.same(
    ['plain', 'nested', 'none'].map((name) => takesYaml(join(directory, name))),
    [false, true, false],
  )
})

t.test('a key that is there twice is ambiguous', async (t) => {
  const directory = t.testdir({ twice: 'spread: 1m\ntrialDuration: 5m\nspread: 2m\n', inner: 'evidence:\n  pods: must\n  pods: off\n' })
  const read = (name: string) => readConfigFile(join(directory, name), parseLocated)
  t.match(read('twice'), { kind: 'unreadable', detail: 'duplicate key spread at line 3, column 1' })
  t.match(read('inner'), { kind: 'unreadable', detail: 'duplicate key evidence.pods at line 3, column 3' })
})

t.test('only the agent reads its settings, so kubelet may read them differently', async (t) => {
  const parser = openSettingsParser()
  await parser.load()
  t.match(parser.parse('spread: !!str 1m\nconfigFile: |\n  /x'), { ok: true, value: { spread: '1m', configFile: '/x' } })
})

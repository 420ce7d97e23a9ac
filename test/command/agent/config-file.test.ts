// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path'
import t from 'tap'
import { readConfigFile } from '../../../src/command/agent/config-file.ts'

t.test('reads a settings file', async (t) => {
  const directory = t.testdir({ good: '{"kind":"x"}', plain: 'kind: x\n', bad: 'a: [' })
  const read = (name: string) => readConfigFile(join(directory, name))
  t.same(await read('good'), { kind: 'document', path: join(directory, 'good'), value: { kind: 'x' } })
  t.match(await read('plain'), { kind: 'document', value: { kind: 'x' } })
  t.match(await read('bad'), { kind: 'unreadable', detail: /line 1/ })
  t.match(await read('none'), { kind: 'absent' })
  t.match(await read('good/none'), { kind: 'absent' })
  t.match(await read('.'), { kind: 'unreadable', detail: 'is a directory: name a file in it' })
})

t.test('a key that is there twice is ambiguous', async (t) => {
  const directory = t.testdir({ twice: 'spread: 1m\ntrialDuration: 5m\nspread: 2m\n', inner: 'evidence:\n  pods: must\n  pods: off\n' })
  const read = (name: string) => readConfigFile(join(directory, name))
  t.match(await read('twice'), { kind: 'unreadable', detail: 'duplicate key spread at line 3, column 1' })
  t.match(await read('inner'), { kind: 'unreadable', detail: 'duplicate key evidence.pods at line 3, column 3' })
})

t.test('only the agent reads its settings, so kubelet may read them differently', async (t) => {
  const directory = t.testdir({ own: 'spread: !!str 1m\nconfigFile: |\n  /x' })
  t.match(await readConfigFile(join(directory, 'own')), { kind: 'document', value: { spread: '1m', configFile: '/x' } })
})

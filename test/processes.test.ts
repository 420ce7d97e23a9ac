// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { listTests, planProcesses, readFrom } from './processes.ts'

/** Where one test file, and what it imports, gets a process. */
function processOf(text: string, others: Readonly<Record<string, string>> = {}) {
  const { alone, shared } = planProcesses(['test/values/one.test.ts'], (path) => ({ ...others, 'test/values/one.test.ts': text })[path])
  return alone.length > 0 ? 'alone' : [...shared.keys()].join()
}

t.test('tests of what only computes share a process', async (t) => {
  t.equal(processOf("import { posix } from 'node:path'\nimport t from 'tap'\nt.test('one', (t) => t.end())\n"), 'test/values, part 1')
  t.equal(processOf("import type { Stats } from 'node:fs'\n"), 'test/values, part 1', 'a type is no code')
  t.equal(
    processOf("import {\n  one,\n  two,\n} from '../../src/a.ts'\n", {
      'src/a.ts': "import rules from './rules.json' with { type: 'json' }",
    }),
    'test/values, part 1',
  )
})

t.test('a test that does more has a process of its own', async (t) => {
  t.equal(processOf("import { readFileSync } from 'node:fs'\n"), 'alone')
  t.equal(processOf("import {\n  readFileSync,\n} from 'node:fs'\n"), 'alone')
  t.equal(processOf("await import('node:fs')\n"), 'alone')
  t.equal(processOf("import '../../src/a.ts'\n", { 'src/a.ts': "export { b } from './b.ts'\n", 'src/b.ts': "import 'node:fs'\n" }), 'alone')
  t.equal(processOf("import '../../src/unknown.ts'\n"), 'alone')
  t.equal(processOf("const { connect } = process.getBuiltinModule('node:net')\n"), 'alone')
  t.equal(processOf("import '../../src/a.ts'\n", { 'src/a.ts': "process.getBuiltinModule('node:net')\n" }), 'alone')
})

t.test('so has a test that reaches for what all files of a process share', async (t) => {
  for (const text of ['process.env.HOME', 't.setTimeout(1)', 'await t.rejects(one)', 't.testdir({})', "t.matchSnapshot('')"]) {
    t.equal(processOf(`${text}\n`), 'alone', text)
    t.equal(processOf("import './helper.ts'\n", { 'test/values/helper.ts': `${text}\n` }), 'alone', `${text} in a helper`)
  }
})

t.test('each test of the project has one process', async (t) => {
  const root = join(import.meta.dirname, '..')
  const tests = execFileSync('npx', ['tap', 'list'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
  t.strictSame(listTests(root), tests.sort())
  const { alone, shared } = planProcesses(tests, readFrom(root))
  t.strictSame([...alone, ...[...shared.values()].flat()].sort(), tests)
  t.ok(alone.includes('test/processes.test.ts'))
  t.ok(shared.size < tests.length / 4, `${shared.size} shared processes`)
})

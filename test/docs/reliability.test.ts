// SPDX-License-Identifier: Apache-2.0
/** docs/reliability.md names tests and commits that exist, so that anybody can check its rows. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readRows } from '../../scripts/reliability/read-rows.ts'
import { outcomeOf } from '../../scripts/reliability/read-tap.ts'
import { ROOT } from './pages.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/reliability.md')
const rows = readRows(page)
/** Where the names of these tests are. */
const NAMES: Readonly<Record<string, string>> = { 'test/sim/regressions.test.ts': 'test/sim/regressions.ts' }

/** undefined: there is no history, as in a tarball or a shallow clone. */
function listHistory(): ReadonlySet<string> | undefined {
  try {
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim()
    return git('rev-parse', '--is-shallow-repository') === 'true' ? undefined : new Set(git('rev-list', 'HEAD').split('\n'))
  } catch {
    return undefined
  }
}

/** As a string, or as a template that may give it. */
function isNamed(title: string, text: string): boolean {
  if ([`'${title.replaceAll("'", "\\'")}'`, `"${title}"`].some((quoted) => text.includes(quoted))) return true
  const templates = [...text.matchAll(/`([^`\n]+)`/g)].map(([, template = '']) => template.split(/\$\{[^}]*\}/))
  return templates.some((parts) =>
    new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('.+')}$`).test(title),
  )
}

t.test('each row has a number, and a test of today', async (t) => {
  t.ok(rows.length >= 25, `${rows.length} rows`)
  t.same(
    rows.map(({ number }) => number),
    rows.map((_, index) => index + 1),
  )
  for (const { number, file, title } of rows) {
    t.ok(existsSync(join(ROOT, file)), `row ${number}: ${file} exists`)
    const text = read(NAMES[file] ?? file)
    t.ok(isNamed(title, text), `row ${number}: ${file} has a test "${title}"`)
  }
  const tests = rows.map(({ file, title }) => `${file}: ${title}`)
  t.equal(new Set(tests).size, tests.length, 'no test stands for two faults')
  t.ok(page.split('\n').length - rows.length <= 80, 'the page is its rows')
})

const history = listHistory()
t.test('each commit is in the history', { skip: history === undefined && 'there is no history' }, async (t) => {
  for (const { number, commit } of rows)
    t.ok(
      [...(history ?? [])].some((hash) => hash.startsWith(commit)),
      `row ${number}: ${commit}`,
    )
})

t.test('a row of another shape is not passed over', async (t) => {
  t.throws(() => readRows('| 1 | a fault | a review | test/a.test.ts: title | `0123abcd` |'), /row 1 is not of the shape/)
  t.throws(() => readRows('| 1 | a fault | a review | `test/a.test.ts`: title | 0123abcd |'), /row 1 is not of the shape/)
  t.same(readRows('| 7 | a fault | a review | `test/a.test.ts`: a title, with `code` | `0123abcd` |'), [
    { number: 7, fault: 'a fault', foundBy: 'a review', file: 'test/a.test.ts', title: 'a title, with `code`', commit: '0123abcd' },
  ])
})

t.test('what became of a test, by the output of its file', async (t) => {
  const output =
    'TAP version 14\n    ok 1 - within\nok 1 - good # time=3ms\nnot ok 2 - bad \\# 2 # time=4ms\nok 3 - with more # time=1ms {\n'
  t.equal(outcomeOf('good', output), 'passed')
  t.equal(outcomeOf('with more', output), 'passed')
  t.equal(outcomeOf('bad # 2', output), 'failed')
  t.equal(outcomeOf('within', output), 'not run')
})

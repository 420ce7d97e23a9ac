// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run reliability -- [ROW...]`: checks rows of docs/reliability.md, by default all. The test
 * of a row, as the mending commit has it, must fail with the sources of that commit's parent, pass
 * with its own, and pass today. Needs the history. Works in a temporary worktree, and exits with 1
 * where a row does not hold.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CommandError, run } from '../../test/real/lab/processes.ts'
import { type Row, readRows } from './read-rows.ts'
import { outcomeOf } from './read-tap.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const LIMIT_MS = 15 * 60e3

const wanted = process.argv.slice(2).map(Number)
const rows = readRows(readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8')).filter(
  ({ number }) => wanted.length === 0 || wanted.includes(number),
)
const parent = mkdtempSync(join(tmpdir(), 'reliability-'))
const worktree = join(parent, 'worktree')
await run('git', ['worktree', 'add', '--quiet', '--detach', worktree, 'HEAD'], { cwd: ROOT })
try {
  symlinkSync(join(ROOT, 'node_modules'), join(worktree, 'node_modules'))
  for (const row of rows) await check(row)
} finally {
  await run('git', ['worktree', 'remove', '--force', worktree], { cwd: ROOT })
  rmSync(parent, { recursive: true, force: true })
}

async function check(row: Row): Promise<void> {
  const { number, commit, file, title } = row
  await git('checkout', '--quiet', '--force', '--detach', commit)
  await git('rm', '-r', '--quiet', 'src')
  await git('checkout', '--quiet', `${commit}^`, '--', 'src')
  const then = { title, file: await findFile(row) }
  const before = await test(worktree, then)
  await git('reset', '--quiet', '--hard', commit)
  const after = await test(worktree, then)
  const now = await test(ROOT, row)
  const wrong = [
    ...(before === 'failed' ? [] : [`it ${before} before ${commit}`]),
    ...(after === 'passed' ? [] : [`it ${after} with ${commit}`]),
    ...(now === 'passed' ? [] : [`it ${now} today`]),
  ]
  console.log(wrong.length === 0 ? `row ${number} holds` : `row ${number} does not hold: ${file}: ${title}: ${wrong.join(', ')}`)
  if (wrong.length > 0) process.exitCode = 1
}

/** A test may have moved to another file since. */
async function findFile({ file, title }: Row): Promise<string> {
  const found = (await git('ls-files', 'test')).split('\n').filter((path) => path.endsWith('.test.ts'))
  const naming = found.filter((path) => readFileSync(join(worktree, path), 'utf8').includes(title))
  return naming.includes(file) ? file : (naming[0] ?? file)
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: worktree })).stdout
}

/** Runs that test alone. A file that does not load is `not run`. */
async function test(cwd: string, { file, title }: Pick<Row, 'file' | 'title'>): Promise<'passed' | 'failed' | 'not run'> {
  const env = { TAP_GREP: `/^${title.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$/`, TAP_FILTER_QUIETLY: '1' }
  try {
    return outcomeOf(title, (await run(process.execPath, ['--import', 'tsx', file], { cwd, env, timeoutMs: LIMIT_MS })).stdout)
  } catch (error) {
    // A file with a test that fails exits with 1.
    if (error instanceof CommandError) return outcomeOf(title, error.stdout)
    throw error
  }
}

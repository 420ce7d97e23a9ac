// SPDX-License-Identifier: Apache-2.0
/**
 * `npm test [-- OPTIONS]`: all tests, in few processes. The options are tap's: `--jobs`,
 * `--reporter`, `--timeout`, `--bail`. `npx tap FILE...` runs single files.
 *
 * The processes get nothing of tap but what a test imports. What `tap` itself preloads into them,
 * and into all that they start, is for mocks and coverage, and takes 0.2 s of CPU each.
 */
import { join } from 'node:path'
import t from 'tap'
import { listTests, planProcesses, readFrom } from './processes.ts'
import { LOADER } from './typescript/loader.ts'

const ROOT = join(import.meta.dirname, '..')
const TOGETHER = join(import.meta.dirname, 'together.ts')

// Here they would choose among processes, and so leave out all tests.
if (process.env.TAP_GREP || process.env.TAP_ONLY === '1') throw new Error('--grep and --only need the file: npx tap --grep WORD FILE')

t.jobs = Number(process.env.TAP_JOBS ?? 1)
// Of each process; the whole run has no limit.
const timeout = 1000 * Number(process.env.TAP_TIMEOUT ?? 30)
t.setTimeout(0)

const { alone, shared } = planProcesses(listTests(ROOT), readFrom(ROOT))
for (const file of alone) start(file, [file])
// Their files have no snapshots, and tap would name the file of them by all arguments.
for (const [name, files] of shared) start(name, [TOGETHER, ...files], ['TAP_SNAPSHOT=0'])

function start(name: string, program: readonly string[], variables: readonly string[] = []): void {
  // t.spawn() puts tap's preloads into NODE_OPTIONS.
  const command = ['--unset=NODE_OPTIONS', ...variables, process.execPath, `--import=${LOADER}`, ...program]
  t.spawn('env', command, { cwd: ROOT, timeout }, name)
}

/**
 * `npm test [-- OPTIONS of tap]`: all tests, in few processes. `npx tap FILE` runs one file.
 *
 * The processes get nothing of tap but what a test imports. What `tap` itself preloads into them,
 * and into all that they start, is for mocks and for coverage, and takes 0.2 s of CPU each.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listTests, planProcesses } from './processes.ts'
import { LOADER } from './typescript/loader.ts'

const ROOT = join(import.meta.dirname, '..')
const TOGETHER = join(import.meta.dirname, 'together.ts')

t.jobs = Number(process.env.TAP_JOBS ?? 1)

const { alone, shared } = planProcesses(listTests(ROOT), (path) =>
  existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined,
)
// These first: they are long.
for (const [name, files] of shared) start(name, [TOGETHER, ...files])
for (const file of alone) start(file, [file])

function start(name: string, program: readonly string[]): void {
  // t.spawn() has the preloads of tap in this variable.
  const command = ['--unset=NODE_OPTIONS', process.execPath, `--import=${LOADER}`, ...program]
  t.spawn('env', command, { cwd: ROOT }, name)
}

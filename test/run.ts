/**
 * `npm test`: runs the test files, a few of them side by side, each in a process of its own. With
 * words, only those that have one of them in their path. Prints a line for each file, and all that
 * a file printed if it failed. The last line counts the tests, as tap does.
 *
 * tap's own runner, for a file or for its options: `npx tap FILE`. For all files it takes a third
 * of the CPU of the whole run, for coverage that nobody measures and modules that nobody replaces.
 */
import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const LOADER = './test/typescript/register.mjs'
/** Only ends a hang: some files take minutes where the machine is busy. */
const LIMIT_S = 3600
/** Some files wait more than they work. */
const AT_ONCE = availableParallelism() + 1
/** They wait the longest, so they begin first. */
const FIRST = ['test/demo/', 'test/preflight/hostile-size', 'test/sim/', 'test/monitoring/']
const COUNTS = ['total', 'pass', 'fail', 'skip', 'todo'] as const

type Counts = Readonly<Record<(typeof COUNTS)[number], number>>

interface Result {
  readonly counts: Counts
  /** What it printed, and how it ended if that was no success. */
  readonly output: string
  readonly isGood: boolean
}

/** test/real needs root, and more than this machine. */
async function listFiles(words: readonly string[]): Promise<string[]> {
  const names = await readdir(join(ROOT, 'test'), { recursive: true })
  const files = names.filter((name) => name.endsWith('.test.ts') && !name.startsWith('real/')).map((name) => `test/${name}`)
  const isMeant = (file: string) => words.length === 0 || words.some((word) => file.includes(word))
  const rank = (file: string) => (FIRST.findIndex((start) => file.startsWith(start)) + FIRST.length + 1) % (FIRST.length + 1)
  return files.filter(isMeant).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

function runFile(file: string): Promise<Result> {
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', LOADER, file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TAP_TIMEOUT: String(LIMIT_S) },
    timeout: LIMIT_S * 1000,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((done) => {
    child.once('error', (error) => done(judge(output, String(error))))
    child.once('close', (code, signal) => done(judge(output, code === 0 ? '' : (signal ?? `exit status ${code}`))))
  })
}

/** A file that ends badly, or that tests nothing, has failed, whatever its tests say. */
function judge(output: string, ending: string): Result {
  const counts = readCounts(output)
  if (ending === '' && counts.fail === 0 && counts.total > 0) return { counts, output, isGood: true }
  const { total, fail } = counts
  const told = fail > 0 ? counts : { ...counts, total: total + 1, fail: 1 }
  return { counts: told, output: `${output}\n# ${ending || 'no test has run'}\n`, isGood: false }
}

/** tap's last line but one: `# { total: 3, pass: 2, fail: 1 }`. */
function readCounts(output: string): Counts {
  const [line = ''] = /^# \{ total: .*\}$/m.exec(output.slice(output.lastIndexOf('\n# { total: ') + 1)) ?? []
  const read = (name: string) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
  return { total: read('total'), pass: read('pass'), fail: read('fail'), skip: read('skip'), todo: read('todo') }
}

const queue = await listFiles(process.argv.slice(2))
const results: Result[] = []
const startedMs = performance.now()

async function work(): Promise<void> {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const fileStartedMs = performance.now()
    const result = await runFile(file)
    results.push(result)
    if (!result.isGood) process.stdout.write(result.output.replace(/^(?=.)/gm, '    '))
    const seconds = ((performance.now() - fileStartedMs) / 1000).toFixed(1)
    console.log(`${result.isGood ? 'ok' : 'not ok'} ${results.length} - ${file} # ${seconds} s`)
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work))
const sum = (name: keyof Counts) => results.reduce((total, { counts }) => total + counts[name], 0)
const told = COUNTS.map((name) => [name, sum(name)] as const).filter(([name, count]) => count > 0 || name === 'total' || name === 'pass')
console.log(`1..${results.length}`)
console.log(`# ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
console.log(`# { ${told.map(([name, count]) => `${name}: ${count}`).join(', ')} }`)
process.exitCode = results.length > 0 && results.every(({ isGood }) => isGood) ? 0 : 1

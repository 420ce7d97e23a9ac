// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run mutants -- FILE...`: changes each file of `src/` in many small ways, one at a time, and
 * lists the changes that no test notices (mutation testing, by StrykerJS). The tests of the module
 * run first, then those of its folder. The tests of the whole agent and of the simulation run for
 * the changes that survive those. Results are kept in `.tap/mutants/`, so that the next run tests
 * only what has changed.
 *
 * With --own, the tests of the whole agent do not run. Exits with 1 where a change survives that
 * `explained.ts` does not explain.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../../test/real/lab/processes.ts'
import { EXPLAINED } from './explained.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const KEPT = join(ROOT, '.tap/mutants')
/** Pinned in `stryker/` beside this file, and installed where no other tool reads. */
const INSTALLED = join(ROOT, '.tap/stryker')
const STRYKER = join(INSTALLED, 'node_modules/@stryker-mutator')
/** The tests of everything together. They notice what no test of one module does. */
const WHOLE = ['test/agent', 'test/sim']
/** Changes that do not load, or that nothing could run. */
const INVALID: readonly Mutant['status'][] = ['RuntimeError', 'CompileError', 'Ignored']
const LIMIT_MS = 6 * 3600e3
/** StrykerJS starts the `node` of the PATH for each test. */
const SAME_NODE = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }

interface Position {
  readonly line: number
  readonly column: number
}

/** Of the report's schema, version 2 (mutation-testing-report-schema). */
interface Mutant {
  readonly mutatorName: string
  readonly replacement?: string
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored' | 'Pending'
  readonly location: { readonly start: Position; readonly end: Position }
}

const { values, positionals } = parseArgs({ options: { own: { type: 'boolean', default: false } }, allowPositionals: true })
const files = positionals.map((path) => relative(ROOT, resolve(path)))
const wrong = files.filter((file) => !file.startsWith('src/') || !existsSync(join(ROOT, file)))
if (files.length === 0 || wrong.length > 0) {
  console.error(wrong.length > 0 ? `not a file of src/: ${wrong.join(', ')}` : 'usage: npm run mutants -- [--own] src/FOLDER/FILE.ts...')
  process.exit(2)
}
if (!existsSync(STRYKER)) {
  cpSync(join(import.meta.dirname, 'stryker'), INSTALLED, { recursive: true })
  await run('npm', ['ci'], { cwd: INSTALLED, timeoutMs: LIMIT_MS })
}

let unexplained = 0
for (const file of files) unexplained += await test(file)
process.exitCode = unexplained === 0 ? 0 : 1

/** @returns how many changes survive without an explanation */
async function test(file: string): Promise<number> {
  const text = readFileSync(join(ROOT, file), 'utf8').split('\n')
  let places: readonly string[] = [file]
  let count: number | undefined
  let left: readonly Mutant[] = []
  for (const [round, testFiles] of listRounds(file).entries()) {
    const valid = (await mutate(file, places, testFiles, round)).filter(({ status }) => !INVALID.includes(status))
    count ??= valid.length
    const known = new Set(left.map((mutant) => nameOf(mutant, text)))
    // A place holds changes that an earlier round noticed, too.
    left = valid.filter((mutant) => isLeft(mutant) && (round === 0 || known.has(nameOf(mutant, text))))
    if (left.length === 0) break
    places = [...new Set(left.map(({ location }) => `${file}:${placeOf(location)}`))]
  }
  const open = left.filter((mutant) => !EXPLAINED.some((row) => row.file === file && row.change === nameOf(mutant, text)))
  const all = count ?? 0
  console.log(`${file}: ${all - left.length} of ${all} noticed, ${left.length - open.length} explained, ${open.length} not noticed`)
  for (const mutant of open) console.log(`  ${file}:${mutant.location.start.line}  ${nameOf(mutant, text)}`)
  return open.length
}

/** The tests of each round, the cheapest first. */
function listRounds(file: string): readonly (readonly string[])[] {
  const test = file.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts')
  const rounds = [existsSync(join(ROOT, test)) ? [test] : [], testsIn(dirname(test)), ...(values.own ? [] : [WHOLE.flatMap(testsIn)])]
  return rounds.filter((testFiles) => testFiles.length > 0)
}

/** As the option `mutate` takes it: columns begin at 0 there, and at 1 in the report. */
function placeOf({ start, end }: Mutant['location']): string {
  return `${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`
}

function isLeft({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

/** The change without its line number, which moves: `before -> after in the line`. */
function nameOf({ location: { start, end }, replacement = '' }: Mutant, text: readonly string[]): string {
  const lines = text.slice(start.line - 1, end.line)
  const [first = ''] = lines
  const before = lines.length === 1 ? first.slice(start.column - 1, end.column - 1) : first.slice(start.column - 1)
  return `${before} -> ${replacement} in ${first.trim()}`
}

function testsIn(folder: string): readonly string[] {
  const path = join(ROOT, folder)
  if (!existsSync(path)) return []
  return readdirSync(path).flatMap((name) => (name.endsWith('.test.ts') ? [`${folder}/${name}`] : []))
}

async function mutate(file: string, places: readonly string[], testFiles: readonly string[], round: number): Promise<readonly Mutant[]> {
  mkdirSync(KEPT, { recursive: true })
  const name = `${basename(dirname(file))}-${basename(file, '.ts')}-${round}`
  const report = join(KEPT, `${name}.report.json`)
  const config = join(KEPT, `${name}.config.json`)
  const options = {
    testRunner: 'tap',
    plugins: [join(STRYKER, 'tap-runner/dist/src/index.js')],
    tap: { testFiles, nodeArgs: ['--import=./test/typescript/register.mjs'], forceBail: true },
    coverageAnalysis: 'perTest',
    disableTypeChecks: false,
    mutate: places,
    incremental: true,
    incrementalFile: join(KEPT, `${name}.json`),
    reporters: ['json'],
    jsonReporter: { fileName: report },
    ignorePatterns: ['.tap', 'biome.json', 'dist', 'docs', 'packaging', 'scripts'],
    tempDirName: '.tap/mutants/sandbox',
    allowConsoleColors: false,
  }
  writeFileSync(config, JSON.stringify(options))
  await run(process.execPath, [join(STRYKER, 'core/bin/stryker.js'), 'run', config], { cwd: ROOT, env: SAME_NODE, timeoutMs: LIMIT_MS })
  const { files: reported } = JSON.parse(readFileSync(report, 'utf8')) as { files: Record<string, { mutants: readonly Mutant[] }> }
  return reported[file]?.mutants ?? []
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Which test files share a process. tap starts one for each file, and for most of them that takes
 * more CPU than the tests do. Files share one only where that can change nothing: no module that
 * they load does I/O, and they leave alone what belongs to the process.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { PURE_BUILTINS, PURE_PACKAGES } from './pure-modules.ts'

/** Paths from the root of the project. */
interface Processes {
  readonly alone: readonly string[]
  /** The files of each process that several share, under its name. */
  readonly shared: ReadonlyMap<string, readonly string[]>
}

/** Of a process. With more, the last processes of a run would be long. */
const MOST_FILES = 8

/** Modules that a test may import besides its own files. */
const PURE = new Set([...[...PURE_BUILTINS, 'assert/strict'].map((name) => `node:${name}`), ...[...PURE_PACKAGES, 'fast-check', 'tap']])

/** The process itself, and what tap has once in each: a directory, snapshots, a root. */
const OF_THE_PROCESS =
  /(?<!\.)\bprocess\.(?:argv|chdir|cpuUsage|env|exit|kill|memoryUsage|on|std|umask)|globalThis|testdir|matchSnapshot|^(?:await )?t\.(?!test\()/m

/** Imports of values, in the form that biome gives them. */
const IMPORT = /^(?:import|export) (?!type )(?:[^']*? from )?'([^']+)'|\b(?:import|getBuiltinModule)\('([^']+)'/gm

/** The files that `tap` runs without arguments. */
export function listTests(root: string): readonly string[] {
  const paths = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => path.endsWith('.test.ts') && !path.startsWith('real/'))
    .map((path) => `test/${path}`)
    .sort()
}

/** The text of a file, unless there is no such file. */
type Read = (path: string) => string | undefined

export function readFrom(root: string): Read {
  return (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined)
}

export function planProcesses(tests: readonly string[], read: Read): Processes {
  const loads = new Map<string, readonly string[] | undefined>()
  const importsOf = (file: string) => {
    if (!loads.has(file)) loads.set(file, pureImports(file, read(file)))
    return loads.get(file)
  }
  const alone: string[] = []
  const folders = new Map<string, string[]>()
  for (const test of tests) {
    if (!isPure(test, importsOf)) alone.push(test)
    else folders.set(folderOf(test), [...(folders.get(folderOf(test)) ?? []), test])
  }
  const shared = new Map<string, readonly string[]>()
  for (const [folder, files] of folders) {
    for (let first = 0; first < files.length; first += MOST_FILES) {
      shared.set(`test/${folder}, part ${1 + first / MOST_FILES}`, files.slice(first, first + MOST_FILES))
    }
  }
  return { alone, shared }
}

/** The first folder below test/. */
function folderOf(test: string): string {
  const [, folder = '', file] = test.split('/')
  return file === undefined ? '' : folder
}

function isPure(test: string, importsOf: (file: string) => readonly string[] | undefined): boolean {
  const loaded = new Set([test])
  // A loop over a set also comes to what is added meanwhile.
  for (const file of loaded) {
    const imports = importsOf(file)
    if (imports === undefined) return false
    for (const imported of imports) loaded.add(imported)
  }
  return true
}

/**
 * The files that a file imports. undefined: it is none, or does more than compute.
 * test/architecture.test.ts holds that no pure module of src/ touches its process.
 */
function pureImports(file: string, text: string | undefined): readonly string[] | undefined {
  if (text === undefined || (!file.startsWith('src/') && OF_THE_PROCESS.test(text))) return undefined
  const modules = Array.from(text.matchAll(IMPORT), ([, fixed, dynamic]) => fixed ?? dynamic ?? '')
  const files = modules.filter((module) => module.startsWith('.') && module.endsWith('.ts'))
  if (modules.some((module) => !files.includes(module) && !module.endsWith('.json') && !PURE.has(module))) return undefined
  return files.map((module) => posix.join(posix.dirname(file), module))
}

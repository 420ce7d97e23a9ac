// SPDX-License-Identifier: Apache-2.0
/**
 * The programs that build packages: the required ones with their Debian packages, and how to run
 * them.
 */
import { execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The Debian package of each program. */
export const TOOLS: Readonly<Record<string, string>> = {
  npm: 'npm',
  git: 'git',
  'dpkg-buildpackage': 'dpkg-dev',
  dh: 'debhelper',
  rpmbuild: 'rpm',
  lintian: 'lintian',
  rpmlint: 'rpmlint',
  shellcheck: 'shellcheck',
  man: 'man-db',
  'x86_64-linux-gnu-strip': 'binutils-x86-64-linux-gnu',
  'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu',
  readelf: 'binutils',
  tar: 'tar',
  gzip: 'gzip',
}

/** Throws with the names of those that are not on the PATH, and what to install. */
export async function requireTools(tools: Readonly<Record<string, string>> = TOOLS): Promise<void> {
  const missing: string[] = []
  for (const tool of Object.keys(tools)) if ((await findTool(tool)) === undefined) missing.push(tool)
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((tool) => tools[tool]))].join(' ')
  throw new Error(`not found: ${missing.join(', ')}; on Debian 12: apt-get install --no-install-recommends ${packages}`)
}

/** Its path; undefined: it is not on the PATH. */
export async function findTool(name: string): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(directory, name)
    if (await isExecutable(path)) return path
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Exit codes besides 0 that are not failures. */
  readonly accept?: readonly number[]
}

/**
 * Returns standard output and standard error. Throws with the last lines of them if the program
 * fails.
 */
export function run(file: string, args: readonly string[], { cwd, env = process.env, accept = [] }: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const limits = { timeout: 15 * 60_000, maxBuffer: 64 * 1024 * 1024 }
    execFile(file, [...args], { ...limits, env, ...(cwd === undefined ? {} : { cwd }) }, (error, stdout, stderr) => {
      const output = stdout + stderr
      if (error === null || (typeof error.code === 'number' && accept.includes(error.code))) return resolve(output)
      const tail = output.trimEnd().split('\n').slice(-40).join('\n')
      reject(new Error(`${file} ${args.join(' ')}: ${error.killed ? 'timed out' : `exit code ${error.code}`}\n${tail}`, { cause: error }))
    })
  })
}

/** For what takes minutes: its output is this program's. Throws if it fails. */
export function runVisibly(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`${file} ${args.join(' ')}: ${signal ?? `exit code ${code}`}`))
    })
  })
}

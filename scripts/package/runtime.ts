// SPDX-License-Identifier: Apache-2.0
/**
 * The Node.js in the packages. npm fetches it for each platform, whatever this machine is, and
 * checks it against the lockfile beside the pin. The build runs only the binary of its own
 * platform, to read `process.versions`.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runtime } from './components.ts'
import { type Requirement, unmetNeeds } from './elf.ts'
import type { Pin } from './pins.ts'
import { run } from './tools.ts'

export interface Fetched {
  readonly pin: Pin
  /** The binary as published, with symbols. */
  readonly binary: string
  readonly version: string
  readonly integrity: string
  readonly licenceText: string
}

export interface Described {
  readonly fetched: Fetched
  readonly runtime: Runtime
}

/** Fetches into a directory, which is reused as long as the lockfile is the same. */
export async function fetchRuntime(pin: Pin, directory: string): Promise<Fetched> {
  const { folder, npmName, os, cpu } = pin
  const lockText = await readFile(join(folder, 'package-lock.json'), 'utf8')
  const { version, integrity } = readPin(lockText, pin)
  const stamp = join(directory, 'complete')
  if ((await readFile(stamp, 'utf8').catch(() => undefined)) !== lockText) {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) await copyFile(join(folder, name), join(directory, name))
    await run('npm', ['ci', `--os=${os}`, `--cpu=${cpu}`, '--ignore-scripts'], { cwd: directory })
    await writeFile(stamp, lockText)
  }
  const home = join(directory, 'node_modules', npmName)
  const licenceText = await readFile(join(home, 'LICENSE'), 'utf8').catch((cause: unknown) => {
    throw new Error(`npm ci did not install ${npmName}, which is for another platform: use npm 10.8 or later`, { cause })
  })
  return { pin, binary: join(home, 'bin/node'), version, integrity, licenceText }
}

/** Throws if a binary for Linux would not start on a system that has what is required. */
export async function checkNeeds({ binary, pin: { npmName, os } }: Fetched, requirement: Requirement): Promise<void> {
  if (os !== 'linux') return
  const [dynamicSection, versionNeeds] = await Promise.all([
    run('readelf', ['--dynamic', '--wide', binary]),
    run('readelf', ['--version-info', '--wide', binary]),
  ])
  const unmet = unmetNeeds(dynamicSection, versionNeeds, requirement)
  if (unmet.length > 0) throw new Error(`${npmName} needs what ${requirement.statedIn} does not ask for: ${unmet.join(', ')}`)
}

/**
 * Copies the binary without its symbols, a fifth of the size, which nothing reads at run time. The
 * result contains no build time or path.
 */
export async function placeBinary({ binary, pin: { triplet } }: Fetched, target: string): Promise<void> {
  if (triplet === undefined) await copyFile(binary, target)
  else await run(`${triplet}-strip`, ['-o', target, binary])
}

/**
 * All platforms of one version are built from one source, so the versions in this machine's binary
 * apply to all.
 */
export async function describeRuntimes(fetched: readonly Fetched[]): Promise<Described[]> {
  const own = fetched.find(({ pin }) => pin.os === process.platform && pin.cpu === process.arch)
  if (own === undefined)
    throw new Error(`packages cannot be built on ${process.arch}: the build must run one of the Node.js binaries that it packages`)
  const answer = JSON.parse(await run(own.binary, ['-p', 'JSON.stringify(process.versions)'], { env: {} })) as Record<string, string>
  // Versions of interfaces, not libraries.
  const { modules: _abi, napi: _api, ...parts } = answer
  for (const { pin, version } of fetched) {
    if (parts.node !== version)
      throw new Error(`${pin.npmName} has version ${version}, but ${own.pin.npmName} contains Node.js ${parts.node}: pin one version`)
  }
  return fetched.map((each) => ({ fetched: each, runtime: describe(each, parts) }))
}

function describe({ pin, version, integrity, licenceText }: Fetched, parts: Runtime['parts']): Runtime {
  return {
    name: 'Node.js',
    npmName: pin.npmName,
    version,
    // Of Node.js itself. Its LICENSE file also has the licences of its libraries.
    licence: 'MIT',
    licenceText,
    homepage: 'https://nodejs.org',
    integrity,
    isStripped: pin.triplet !== undefined,
    parts,
  }
}

function readPin(lockText: string, { folder, npmName }: Pin): { version: string; integrity: string } {
  const { packages } = JSON.parse(lockText) as { packages: Record<string, { version?: string; integrity?: string }> }
  const { version, integrity } = packages[`node_modules/${npmName}`] ?? {}
  if (version === undefined || integrity === undefined) throw new Error(`${folder}/package-lock.json does not pin ${npmName}`)
  return { version, integrity }
}

/**
 * The Node.js in the packages. npm fetches it for each architecture, whatever this machine is, and
 * checks it against the lockfile in packaging/node. The build runs only the binary of its own
 * architecture, to read `process.versions`.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Architecture } from './architectures.ts'
import type { Runtime } from './components.ts'
import { unmetNeeds } from './elf.ts'
import { run } from './tools.ts'

const PINNED = 'packaging/node'

export interface Fetched {
  /** The binary as published, with symbols. */
  readonly binary: string
  readonly npmName: string
  readonly version: string
  readonly integrity: string
  readonly licenceText: string
}

/** Fetches into a directory, which is reused as long as the lockfile is the same. */
export async function fetchRuntime(cpu: string, directory: string): Promise<Fetched> {
  const lockText = await readFile(join(PINNED, 'package-lock.json'), 'utf8')
  const npmName = `node-linux-${cpu}`
  const { version, integrity } = pinOf(lockText, npmName)
  const stamp = join(directory, 'complete')
  if ((await readFile(stamp, 'utf8').catch(() => undefined)) !== lockText) {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) await copyFile(join(PINNED, name), join(directory, name))
    await run('npm', ['ci', '--os=linux', `--cpu=${cpu}`, '--ignore-scripts'], { cwd: directory })
    await writeFile(stamp, lockText)
  }
  const home = join(directory, 'node_modules', npmName)
  const licenceText = await readFile(join(home, 'LICENSE'), 'utf8').catch((cause: unknown) => {
    throw new Error(`npm ci did not install ${npmName}, which is for another architecture: use npm 10.8 or later`, { cause })
  })
  return { binary: join(home, 'bin/node'), npmName, version, integrity, licenceText }
}

/** Throws if debian/control allows systems on which the binary would not start. */
export async function checkNeeds({ binary, npmName }: Fetched): Promise<void> {
  const [dynamicSection, versionNeeds, control] = await Promise.all([
    run('readelf', ['--dynamic', '--wide', binary]),
    run('readelf', ['--version-info', '--wide', binary]),
    readFile('packaging/deb/control', 'utf8'),
  ])
  const unmet = unmetNeeds(dynamicSection, versionNeeds, control)
  if (unmet.length > 0) throw new Error(`${npmName} needs what packaging/deb/control does not depend on: ${unmet.join(', ')}`)
}

/**
 * Removes symbols, a fifth of the size, which nothing reads at run time. The result contains no
 * build time or path.
 */
export async function strip({ binary }: Fetched, { triplet }: Architecture, target: string): Promise<void> {
  await run(`${triplet}-strip`, ['-o', target, binary])
}

/**
 * All architectures are built from one source, so the versions in this machine's binary apply to
 * all.
 */
export async function describeRuntimes(fetched: readonly Fetched[]): Promise<Runtime[]> {
  const own = fetched.find(({ npmName }) => npmName === `node-linux-${process.arch}`)
  if (own === undefined)
    throw new Error(`packages cannot be built on ${process.arch}: the build must run one of the Node.js binaries that it packages`)
  const answer = JSON.parse(await run(own.binary, ['-p', 'JSON.stringify(process.versions)'], { env: {} })) as Record<string, string>
  // Versions of interfaces, not libraries.
  const { modules: _abi, napi: _api, ...parts } = answer
  for (const { npmName, version } of fetched) {
    if (parts.node !== version)
      throw new Error(`${npmName} has version ${version}, but ${own.npmName} contains Node.js ${parts.node}: pin one version`)
  }
  return fetched.map(({ npmName, version, integrity, licenceText }) => ({
    name: 'Node.js',
    npmName,
    version,
    // Of Node.js itself. Its LICENSE file also has the licences of its libraries.
    licence: 'MIT',
    licenceText,
    homepage: 'https://nodejs.org',
    integrity,
    parts,
  }))
}

function pinOf(lockText: string, npmName: string): { version: string; integrity: string } {
  const { packages } = JSON.parse(lockText) as { packages: Record<string, { version?: string; integrity?: string }> }
  const { version, integrity } = packages[`node_modules/${npmName}`] ?? {}
  if (version === undefined || integrity === undefined) throw new Error(`${PINNED}/package-lock.json does not pin ${npmName}`)
  return { version, integrity }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run release`: packages, SHA256SUMS, provenance, and repositories for apt and dnf, in one
 * directory. docs/release.md says how a release is made and how one is verified.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { LOCKFILES } from '../package/pins.ts'
import { readProject } from '../package/project.ts'
import { requireTools, run, runVisibly, TOOLS } from '../package/tools.ts'
import { writeAptRepository } from './apt-repository.ts'
import { audit, judgeAudit } from './audit.ts'
import { formatSums, parseSums } from './checksums.ts'
import { digestFile, digestTree, place } from './files.ts'
import { type Options, readOptions } from './options.ts'
import { provenance } from './provenance.ts'
import { openSigner } from './signer.ts'
import { readSource } from './source.ts'
import { writeYumRepository } from './yum-repository.ts'

const DIST = 'dist'
/** Of `npm run package`: the binaries of Node.js, and what it builds. */
const FETCHED = 'dist/package'
const PINS = ['package-lock.json', ...LOCKFILES]
/** The Debian package of each program that a release needs besides those of `npm run package`. */
const OWN_TOOLS = { 'dpkg-deb': 'dpkg', createrepo_c: 'createrepo-c', gpg: 'gpg', 'gpg-agent': 'gpg-agent', rpmsign: 'rpm' }

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  await requireTools(options.packages === undefined ? { ...TOOLS, ...OWN_TOOLS } : { git: 'git', ...OWN_TOOLS })
  // The time and the cleanness of a release are those of its commit, whatever the environment says.
  delete process.env.SOURCE_DATE_EPOCH
  const project = await readProject()
  const source = await readSource(project, options.trial)
  // Before the long build: a key that is missing is said at once.
  const signer = options.signWith === undefined ? undefined : await openSigner(options.signWith)
  const destination = resolve(options.output)
  await refuseForeign(destination)
  // Packages that are there already have been looked at by whoever built them.
  const remark = options.packages === undefined ? judgeAudit(await audit(), options.despiteAudit) : undefined
  if (remark !== undefined) console.log(remark)
  const made = await findPackages(options)
  const after = await readSource(await readProject(), options.trial)
  if (after.commit !== source.commit) throw new Error(`the commit changed from ${source.commit} to ${after.commit} while it was built`)
  // The directory gets its name when it is whole.
  const output = `${destination}.making`
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  for (const { directory, name } of made) await place(join(directory, name), join(output, name), project.epoch)
  const names = made.map(({ name }) => name)
  const ending = (suffix: string) => names.filter((name) => name.endsWith(suffix)).map((name) => join(output, name))
  const { name, version, description, epoch } = project
  if (names.some((each) => !each.includes(version) && each !== 'kubelet-config.yaml'))
    throw new Error(`not all of version ${version}: ${names}`)
  const files = await digestTree(output)
  const pins = await Promise.all(PINS.map((path) => digestFile('.', path)))
  const { url, source: address, builder } = options
  const tools = await readToolVersions()
  await writeFile(
    join(output, 'provenance.intoto.json'),
    provenance({ ...source, files, version, epoch, source: address, url, builder, tools, pins }),
  )
  await writeAptRepository(join(output, 'apt'), { name, description, packages: ending('.deb'), epoch, signer })
  await writeYumRepository(join(output, 'yum'), { packages: ending('.rpm'), epoch, signer })
  await signer?.publicKey(join(output, `${name}.asc`))
  const sums = join(output, 'SHA256SUMS')
  const all = await digestTree(output)
  await writeFile(sums, formatSums(all))
  await signer?.detach(sums, `${sums}.asc`)
  await rm(destination, { recursive: true, force: true })
  await rename(output, destination)
  const what = source.tag ?? `a trial of ${source.commit.slice(0, 12)}`
  console.log(
    `${what}, ${signer === undefined ? 'unsigned' : `signed with ${signer.fingerprint}`}: ${all.length + 1} files in ${options.output}`,
  )
  // Some minutes of output are above the first time.
  if (remark !== undefined) console.log(remark)
}

/** Refuses a directory that is not an earlier release, since the directory is deleted. */
async function refuseForeign(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return []
    throw new Error(`--output ${directory}: cannot be a directory for a release`, { cause: error })
  })
  if (names.length === 0 || ['SHA256SUMS', 'provenance.intoto.json'].every((name) => names.includes(name))) return
  throw new Error(`--output ${directory}: has something in it that is not a release. Name a new directory`)
}

interface Made {
  readonly directory: string
  readonly name: string
}

/** The packages, built twice and compared, or those that are there. Their SHA256SUMS says which. */
async function findPackages({ packages, url }: Options): Promise<Made[]> {
  if (packages === undefined) {
    // The files in these directories are not known to git: npm fetches all of them anew, by the
    // hashes of the lockfiles.
    await rm(FETCHED, { recursive: true, force: true })
    await runVisibly('npm', ['ci'])
    const address = url === undefined ? [] : ['--url', url]
    await runVisibly(process.execPath, ['--import', 'tsx', 'scripts/package/main.ts', '--check', ...address])
  }
  const directory = packages ?? DIST
  const sums = parseSums(await readFile(join(directory, 'SHA256SUMS'), 'utf8'))
  const present = await readdir(directory)
  for (const [name, sha256] of sums) {
    if (!present.includes(name)) throw new Error(`${join(directory, name)} is missing, and SHA256SUMS names it`)
    if ((await digestFile(directory, name)).sha256 !== sha256) throw new Error(`${join(directory, name)} is not what SHA256SUMS says`)
  }
  return [...sums.keys()].map((name) => ({ directory, name }))
}

/** First lines, as in `gzip 1.12`. */
async function readToolVersions(): Promise<Record<string, string>> {
  const firstLine = async (tool: string) => (await run(tool, ['--version'])).split('\n')[0] ?? ''
  return {
    node: process.version,
    'dpkg-deb': await firstLine('dpkg-deb'),
    rpm: await firstLine('rpm'),
    createrepo_c: await firstLine('createrepo_c'),
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})

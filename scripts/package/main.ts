// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run package`: builds deb and rpm for every architecture, with a bill of materials each, into
 * dist/. Fails if a package is too big or incomplete, or if lintian or rpmlint reports anything.
 * With `--check` it builds everything a second time, in another directory and another environment,
 * and compares the bytes. With `--again` it builds only that second time, and compares with what is
 * in dist/ from before, built with the same options. With `--only amd64.deb` (or `aarch64.rpm`) it
 * builds only that package, which is quicker; it may be given several times. With `--quick` it
 * compresses less, for tests. The archives of the kubectl plugin and their manifest for krew are
 * built beside them, or with `--only plugin` alone; `--url` is where the archives will be. The Helm
 * chart is packed too, or with `--only chart` alone. The image that installs the packages is built
 * where all of them are, and with `--again --only image` once more from those in dist/.
 */
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { errorMessage } from '../../src/values/errors.ts'
import { ARCHITECTURES, type Architecture } from './architectures.ts'
import { packChart } from './chart.ts'
import { type Compression, QUICK, SHIPPED } from './compression.ts'
import { buildDeb } from './deb.ts'
import { digestOf } from './digest.ts'
import { type Requirement, requiredBy, WORKSTATION } from './elf.ts'
import { buildImage } from './image.ts'
import { inspectDeb, inspectRpm } from './inspect.ts'
import { inspectPlugin } from './inspect-plugin.ts'
import { lintDeb, lintManPages, lintRpms, lintScripts } from './lint.ts'
import { layOut, readComponents } from './payload.ts'
import { AGENT_PINS, type Pin, PLUGIN_PINS } from './pins.ts'
import { buildPlugin } from './plugin-archive.ts'
import { type Project, readProject } from './project.ts'
import { buildRpm } from './rpm.ts'
import { checkNeeds, type Described, describeRuntimes, fetchRuntime } from './runtime.ts'
import { requireTools, run } from './tools.ts'

const DIST = 'dist'
const WORK = join(DIST, 'package')
/** A placeholder: `krew install --manifest --archive` does not look at it. */
const URL = 'https://example.org/kubelet-cfg-agent'

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      check: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      url: { type: 'string', default: URL },
    },
  })
  const wanted = choose(values.only, values.again)
  const compression = values.quick ? QUICK : SHIPPED
  await requireTools()
  const project = await readProject()
  if (project.dirty) console.log('The working tree has uncommitted changes: a build of the same commit will give other bytes.')
  const runtimes = await timed('Node.js fetched', () => fetchRuntimes(wanted))
  const options = { url: values.url, compression }
  const buildAgain = () =>
    timed('built again', () => inAnotherEnvironment(() => build(project, runtimes, wanted, { work: join(WORK, 'again'), ...options })))
  if (values.again) {
    const again = await buildAgain()
    await compare(
      again.map((file) => join(DIST, basename(file))),
      again,
    )
    await rm(join(WORK, 'again'), { recursive: true, force: true })
    return
  }
  // Directories of the same depth: the source maps contain relative paths.
  const files = await timed('built', () => build(project, runtimes, wanted, { work: join(WORK, 'first'), ...options }))
  await timed('inspected and checked', () => check(files, join(WORK, 'first'), runtimes, compression))
  if (values.check) {
    await compare(files, await buildAgain())
  }
  await publish(files)
  for (const name of ['first', 'again']) await rm(join(WORK, name), { recursive: true, force: true })
}

type Format = 'deb' | 'rpm'

interface Wanted {
  readonly packages: ReadonlyMap<Architecture, readonly Format[]>
  readonly hasPlugin: boolean
  readonly hasChart: boolean
  readonly hasImage: boolean
}

function choose(only: readonly string[] | undefined, isAgain: boolean): Wanted {
  const formats: readonly Format[] = ['deb', 'rpm']
  const names = [...ARCHITECTURES.flatMap((each) => formats.map((format) => `${each[format]}.${format}`)), 'plugin', 'chart', 'image']
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: is not one of ${names.join(', ')}`)
  const hasImage = only?.includes('image') ?? true
  if (only !== undefined && hasImage && !isAgain) throw new Error('--only image: needs --again, since the image is made of all packages')
  const chosen = ARCHITECTURES.map(
    (each) => [each, formats.filter((format) => only?.includes(`${each[format]}.${format}`) ?? true)] as const,
  )
  return {
    packages: new Map(chosen.filter(([, each]) => each.length > 0)),
    hasPlugin: only?.includes('plugin') ?? true,
    hasChart: only?.includes('chart') ?? true,
    hasImage,
  }
}

interface Runtimes {
  readonly agent: readonly Described[]
  readonly plugin: readonly Described[]
}

async function fetchRuntimes({ packages, hasPlugin }: Wanted): Promise<Runtimes> {
  const debian = requiredBy(await readFile('packaging/deb/control', 'utf8'))
  return {
    agent: packages.size === 0 ? [] : await fetchAll(AGENT_PINS, 'runtime', debian),
    plugin: hasPlugin ? await fetchAll(PLUGIN_PINS, 'plugin-runtime', WORKSTATION) : [],
  }
}

/** Throws if one of them would not start where it is to run. */
async function fetchAll(pins: readonly Pin[], name: string, requirement: Requirement): Promise<Described[]> {
  const fetched = await Promise.all(pins.map((pin) => fetchRuntime(pin, resolve(WORK, `${name}-${pin.os}-${pin.cpu}`))))
  await Promise.all(fetched.map((each) => checkNeeds(each, requirement)))
  return describeRuntimes(fetched)
}

interface BuildOptions {
  readonly work: string
  readonly url: string
  readonly compression: Compression
}

/** @returns packages, their bills, the plugin's archives and manifest, the chart, the image */
async function build(project: Project, runtimes: Runtimes, wanted: Wanted, { work, url, compression }: BuildOptions): Promise<string[]> {
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true })
  const agent = join(work, 'agent')
  const metafile = join(work, 'metafile.json')
  await run(process.execPath, ['scripts/build.mjs', 'src/main.ts', agent, metafile])
  const components = await readComponents(metafile)
  const built = [...wanted.packages].map(async ([architecture, formats]) => {
    const described = runtimes.agent.find(({ fetched }) => fetched.pin.cpu === architecture.cpu)
    if (described === undefined) throw new Error(`no Node.js for ${architecture.deb}`)
    const payload = join(work, `payload-${architecture.deb}`)
    await layOut(payload, { project, architecture, agent, components, ...described })
    const directory = join(work, architecture.deb)
    await mkdir(directory)
    const files: string[] = []
    const input = { payload, directory, architecture, compression, project }
    if (formats.includes('deb')) files.push(await buildDeb(input))
    if (formats.includes('rpm')) files.push(await buildRpm(input))
    const bill = join(directory, `${project.name}_${project.version}_${architecture.deb}.cdx.json`)
    await copyFile(join(payload, 'doc/sbom.cdx.json'), bill)
    return [...files, bill]
  })
  const packages = (await Promise.all(built)).flat()
  const pluginInput = { project, agent, components, runtimes: runtimes.plugin, url, compression }
  const plugin = wanted.hasPlugin ? await buildPlugin(join(work, 'plugin'), pluginInput) : []
  const chart = wanted.hasChart ? [await packChart(work, project)] : []
  return [...packages, ...plugin, ...chart, ...(wanted.hasImage ? [await imageOf(join(work, 'image'), project, packages)] : [])]
}

/** @param built those that are not among them are taken from dist/ */
async function imageOf(work: string, project: Project, built: readonly string[]): Promise<string> {
  const present = (await readdir(DIST)).map((name) => join(DIST, name))
  return buildImage(work, { project, packages: [...built, ...present], fetched: join(WORK, 'busybox') })
}

/** Side by side: lintian takes as long as all the rest. */
async function check(files: readonly string[], work: string, { plugin }: Runtimes, { mostBytes }: Compression): Promise<void> {
  const debs = files.filter((file) => file.endsWith('.deb'))
  const rpms = files.filter((file) => file.endsWith('.rpm'))
  const payloads = (await readdir(work)).filter((name) => name.startsWith('payload-'))
  const results = await Promise.allSettled([
    ...debs.map(lintDeb),
    ...(rpms.length > 0 ? [lintRpms(rpms)] : []),
    lintScripts(),
    ...payloads.map((name) => lintManPages(join(work, name))),
    ...ARCHITECTURES.map(async (architecture) => {
      const deb = debs.find((file) => file.endsWith(`_${architecture.deb}.deb`))
      if (deb !== undefined) await inspectDeb(deb, join(work, `inspect-${architecture.deb}`), architecture, mostBytes)
    }),
    ...rpms.map((rpm) => inspectRpm(rpm, mostBytes)),
    ...plugin.map(async ({ fetched }) => {
      const { os, arch } = fetched.pin
      const archive = files.find((file) => file.endsWith(`_${os}_${arch}.tar.gz`))
      if (archive === undefined) throw new Error(`there is no archive for ${os}/${arch}`)
      await inspectPlugin(archive, join(work, `inspect-${os}-${arch}`), fetched)
    }),
  ])
  const causes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (causes.length > 0) throw new AggregateError(causes, causes.map(errorMessage).join('\n'))
}

/** Changes what must not affect a package: user, time zone, locale and umask of the build. */
async function inAnotherEnvironment<T>(work: () => Promise<T>): Promise<T> {
  const before = { ...process.env }
  const umask = process.umask(0o027)
  Object.assign(process.env, { TZ: 'Pacific/Kiritimati', LC_ALL: 'C.UTF-8', LANG: 'C.UTF-8', USER: 'somebody', LOGNAME: 'somebody' })
  try {
    return await work()
  } finally {
    process.umask(umask)
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

async function compare(first: readonly string[], again: readonly string[]): Promise<void> {
  for (const [index, path] of first.entries()) {
    const other = again[index] ?? ''
    if ((await digestOf(path)) !== (await digestOf(other))) throw new Error(`${path} and ${other} differ: the build is not reproducible`)
  }
  console.log(`${first.length} files were built twice with the same bytes`)
}

async function publish(files: readonly string[]): Promise<void> {
  for (const name of await readdir(DIST))
    if (/\.(deb|rpm|cdx\.json|tar\.gz|tgz|oci\.tar)$|^(SHA256SUMS|kubelet-config\.yaml)$/.test(name)) await rm(join(DIST, name))
  const sums: string[] = []
  for (const file of [...files].sort()) {
    const target = join(DIST, basename(file))
    await copyFile(file, target)
    const { size } = await stat(target)
    sums.push(`${await digestOf(target)}  ${basename(file)}\n`)
    console.log(`${target}\t${size < 1e6 ? `${Math.ceil(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`}`)
  }
  await writeFile(join(DIST, 'SHA256SUMS'), sums.join(''))
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  const result = await work()
  console.log(`${what} in ${Math.round((performance.now() - startedMs) / 1000)} s`)
  return result
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})

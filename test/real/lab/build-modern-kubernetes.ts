/**
 * Kubernetes of today, without Dynamic Kubelet Configuration: kubelet of several releases, and
 * kube-apiserver of the newest one, which serves them all. It drops `configSource`, admits by
 * ValidatingAdmissionPolicy and binds tokens to nodes. Taken from `KUBEBUILDER_ASSETS` where that
 * is set. Otherwise each release is built once, into the lab's cache, from the Go module
 * `k8s.io/kubernetes`: the folders of `kubernetes/` pin it and all that it needs by their hashes,
 * and their `tools.go` names the commands. A build takes some minutes and needs the module proxy.
 * Run by itself it builds the releases that it is given, or else the newest:
 * `node --import tsx test/real/lab/build-modern-kubernetes.ts 1.28`.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Binaries, cacheDirectory, ensureBinaries } from './build.ts'
import { findGo } from './go-toolchain.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'
import { readVersion } from './servers.ts'

export type ModernBinaries = Pick<Binaries, 'kubeApiserver' | 'kubelet'>

export const MODULES = join(import.meta.dirname, 'kubernetes')
/** The minor versions of the releases that are pinned, in ascending order. */
export const MODERN_MINORS: readonly number[] = readdirSync(MODULES)
  .map((folder) => Number(folder.replace(/^1\./, '')))
  .sort((a, b) => a - b)
export const NEWEST_MINOR = Math.max(...MODERN_MINORS)
/** Policies that admit are v1 from here on. */
const FIRST_WITH_POLICIES = 30

/** Why they are not available; undefined: they are, or they can be built. */
export async function whyNoModernKubernetes(): Promise<string | undefined> {
  if (!isGiven()) return undefined
  const { minor } = await readVersion((await ensureBinaries()).kubeApiserver)
  return minor >= FIRST_WITH_POLICIES
    ? undefined
    : `KUBEBUILDER_ASSETS has a kube-apiserver of 1.${minor}: these need 1.${FIRST_WITH_POLICIES} or later`
}

/** The newest kube-apiserver, and kubelet of `kubeletMinor`. Builds them if need be. */
export async function ensureModernKubernetes(kubeletMinor = NEWEST_MINOR, report?: Report): Promise<ModernBinaries> {
  if (isGiven()) return ensureBinaries()
  const newest = await ensureRelease(NEWEST_MINOR, report)
  const kubelets = await ensureRelease(kubeletMinor, report)
  return { kubeApiserver: join(newest, 'kube-apiserver'), kubelet: join(kubelets, 'kubelet') }
}

type Report = (line: string) => void

/** The folder that holds the commands of a release, each under its name. Builds them if need be. */
export async function ensureRelease(minor: number, report: Report = console.log): Promise<string> {
  const release = readRelease(minor)
  const built = builtDirectory(release)
  if (!existsSync(built)) {
    await mkdir(cacheDirectory(), { recursive: true })
    await withLock(join(cacheDirectory(), 'build.lock'), async () => {
      if (!existsSync(built)) await buildInto(built, release, report)
    })
  }
  return built
}

/** Whether `KUBEBUILDER_ASSETS` has them: then there is one kubelet, and none to choose. */
export function isGiven(): boolean {
  return (process.env.KUBEBUILDER_ASSETS ?? '') !== ''
}

export interface Release {
  readonly minor: number
  /** `v1.36.4` */
  readonly version: string
  /** Import paths. */
  readonly commands: readonly string[]
  /** The folder of the module. */
  readonly module: string
  /** Hashes that pin everything that goes into the build. */
  readonly pins: readonly string[]
}

function readRelease(minor: number): Release {
  if (!MODERN_MINORS.includes(minor)) throw new Error(`no Kubernetes 1.${minor} is pinned in ${MODULES}`)
  return readModule(minor)
}

/** The release that the folder of a minor pins now. */
export function readModule(minor: number): Release {
  const module = join(MODULES, `1.${minor}`)
  const read = (name: string) => readFileSync(join(module, name), 'utf8')
  const version = /^require k8s\.io\/kubernetes (\S+)$/m.exec(read('go.mod'))?.[1]
  if (version === undefined) throw new Error(`${module}/go.mod requires no version of k8s.io/kubernetes`)
  const commands = [...read('tools.go').matchAll(/_ "(k8s\.io\/kubernetes\/cmd\/[^"]+)"/g)].flatMap(([, path]) => path ?? [])
  return { minor, version, commands, module, pins: [read('go.mod'), read('go.sum')] }
}

function builtDirectory({ minor, commands, pins }: Release): string {
  const hash = createHash('sha256').update(JSON.stringify([process.arch, commands, pins]))
  return join(cacheDirectory(), `kubernetes-1.${minor}-${hash.digest('hex').slice(0, 16)}`)
}

/** Everything happens beside `destination`, which appears whole, by a rename, at the end. */
async function buildInto(destination: string, { minor, version, commands, module }: Release, report: Report): Promise<void> {
  const work = `${destination}.building`
  const bin = join(work, 'bin')
  await rm(work, { recursive: true, force: true })
  await mkdir(bin, { recursive: true })
  const names = commands.map((path) => path.slice(path.lastIndexOf('/') + 1))
  report(`building ${names.join(', ')} ${version} into ${destination}: this takes minutes, once`)
  const go = await findGo(join(work, 'go'), report)
  const values = { gitVersion: version, gitMajor: '1', gitMinor: String(minor) }
  const stamps = Object.entries(values).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
  const linker = ['-s -w', ...stamps].join(' ')
  await run(go.file, ['build', '-mod=readonly', '-ldflags', linker, '-o', `${bin}/`, ...commands], {
    cwd: module,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined, ...go.env },
    timeoutMs: 60 * 60_000,
  })
  await rename(bin, destination)
  await rm(work, { recursive: true })
}

if (import.meta.filename === process.argv[1]) {
  const given = process.argv.slice(2).map((word) => Number(word.replace(/^1\./, '')))
  const missing = await whyNoModernKubernetes()
  if (missing !== undefined) console.log(missing)
  else if (isGiven()) console.log(await ensureModernKubernetes())
  else for (const minor of given.length === 0 ? [NEWEST_MINOR] : given) console.log(await ensureRelease(minor))
}

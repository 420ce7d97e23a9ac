/**
 * kube-apiserver and kubelet of today: a server that drops `configSource`, admits by
 * ValidatingAdmissionPolicy and binds tokens to nodes, and a kubelet without Dynamic Kubelet
 * Configuration. Taken from `KUBEBUILDER_ASSETS` where that is set. Otherwise both are built once,
 * into the lab's cache, from the Go module `k8s.io/kubernetes`; `modern-kubernetes/` pins it and
 * all that it needs by their hashes. The build takes some minutes and needs the module proxy.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory, ensureBinaries } from './build.ts'
import { findGo } from './go-toolchain.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'
import { readVersion } from './servers.ts'

export interface ModernBinaries {
  readonly kubeApiserver: string
  /** undefined: the folder that was given has none. */
  readonly kubelet: string | undefined
}

const MODULE = join(import.meta.dirname, 'modern-kubernetes')
const COMMANDS = ['kube-apiserver', 'kubelet']
const release = { gitVersion: 'v1.34.1', gitMajor: '1', gitMinor: '34' }
/** Policies that admit are v1 from here on. */
const FIRST_MODERN = 30

/** Why they are not available; undefined: they are, or they can be built. */
export async function whyNoModernKubernetes(): Promise<string | undefined> {
  if (!isGiven()) return undefined
  const { minor } = await readVersion((await ensureBinaries()).kubeApiserver)
  return minor >= FIRST_MODERN ? undefined : `KUBEBUILDER_ASSETS has a kube-apiserver of 1.${minor}: these need 1.${FIRST_MODERN} or later`
}

/** Their paths. Builds them if need be. */
export async function ensureModernKubernetes(report: (line: string) => void = console.log): Promise<ModernBinaries> {
  if (isGiven()) return ensureBinaries()
  const built = builtDirectory()
  if (!existsSync(built)) {
    await mkdir(cacheDirectory(), { recursive: true })
    await withLock(join(cacheDirectory(), 'build.lock'), async () => {
      if (!existsSync(built)) await buildInto(built, report)
    })
  }
  return { kubeApiserver: join(built, 'kube-apiserver'), kubelet: join(built, 'kubelet') }
}

function isGiven(): boolean {
  return (process.env.KUBEBUILDER_ASSETS ?? '') !== ''
}

function builtDirectory(): string {
  const inputs = ['go.mod', 'go.sum'].map((name) => readFileSync(join(MODULE, name), 'utf8'))
  const hash = createHash('sha256').update(JSON.stringify([process.arch, release, COMMANDS, inputs]))
  return join(cacheDirectory(), `modern-kubernetes-${hash.digest('hex').slice(0, 16)}`)
}

/** Everything happens beside `destination`, which appears whole, by a rename, at the end. */
async function buildInto(destination: string, report: (line: string) => void): Promise<void> {
  const work = `${destination}.building`
  const bin = join(work, 'bin')
  await rm(work, { recursive: true, force: true })
  await mkdir(bin, { recursive: true })
  report(`building ${COMMANDS.join(' and ')} ${release.gitVersion} into ${destination}: this takes minutes, once`)
  const go = await findGo(join(work, 'go'), report)
  const values = Object.entries(release).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
  const linker = ['-s -w', ...values].join(' ')
  const packages = COMMANDS.map((name) => `k8s.io/kubernetes/cmd/${name}`)
  await run(go.file, ['build', '-mod=readonly', '-ldflags', linker, '-o', `${bin}/`, ...packages], {
    cwd: MODULE,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined, ...go.env },
    timeoutMs: 60 * 60_000,
  })
  await rename(bin, destination)
  await rm(work, { recursive: true })
}

if (import.meta.filename === process.argv[1]) console.log((await whyNoModernKubernetes()) ?? (await ensureModernKubernetes()))

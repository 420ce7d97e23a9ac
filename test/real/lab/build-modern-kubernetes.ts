/**
 * kube-apiserver and kubelet of today: a server that drops `configSource`, admits by ValidatingAdmissionPolicy and binds tokens to nodes, and a kubelet
 * without Dynamic Kubelet Configuration. Taken from `KUBEBUILDER_ASSETS` where that is set. Otherwise both are built once, into the lab's cache, from
 * the Go module `k8s.io/kubernetes` with the Go that is on the PATH; `modern-kubernetes/` pins it and all that it needs by their hashes. The build
 * takes some minutes and needs the module proxy. Where there is no such Go, the scenarios that need it are left out.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory, ensureBinaries } from './build.ts'
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
/** What the pinned modules ask for. */
const GO_MINOR = 24
/** Policies that admit are v1 from here on. */
const FIRST_MODERN = 30

/** Why they are not available; undefined: they are, or they can be built. */
export async function whyNoModernKubernetes(): Promise<string | undefined> {
  if (isGiven()) {
    const { minor } = await readVersion((await ensureBinaries()).kubeApiserver)
    return minor >= FIRST_MODERN
      ? undefined
      : `KUBEBUILDER_ASSETS has a kube-apiserver of 1.${minor}: these need 1.${FIRST_MODERN} or later`
  }
  if (existsSync(builtDirectory())) return undefined
  try {
    const { stdout } = await run('go', ['version'])
    const minor = Number(/ go1\.(\d+)/.exec(stdout)?.[1])
    return minor >= GO_MINOR ? undefined : `these need Go 1.${GO_MINOR} or later to build Kubernetes: this is ${stdout.trim()}`
  } catch {
    return `these need KUBEBUILDER_ASSETS with Kubernetes 1.${FIRST_MODERN} or later, or Go 1.${GO_MINOR} or later to build it`
  }
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
  await rm(work, { recursive: true, force: true })
  await mkdir(work)
  report(`building ${COMMANDS.join(' and ')} ${release.gitVersion} into ${destination}: this takes minutes, once`)
  const values = Object.entries(release).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
  const linker = ['-s -w', ...values].join(' ')
  const packages = COMMANDS.map((name) => `k8s.io/kubernetes/cmd/${name}`)
  await run('go', ['build', '-mod=readonly', '-ldflags', linker, '-o', `${work}/`, ...packages], {
    cwd: MODULE,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined },
    timeoutMs: 60 * 60_000,
  })
  await rename(work, destination)
}

if (import.meta.filename === process.argv[1]) console.log((await whyNoModernKubernetes()) ?? (await ensureModernKubernetes()))

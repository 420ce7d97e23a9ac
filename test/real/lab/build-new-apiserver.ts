/**
 * A kube-apiserver of this time: one that drops `configSource` because it knows it no more, admits by ValidatingAdmissionPolicy and binds tokens to nodes. Taken
 * from `KUBEBUILDER_ASSETS` where that is set. Otherwise built once, into the lab's cache, from the Go module `k8s.io/kubernetes` with the Go that is on the PATH;
 * `new-apiserver/` pins it and all it needs by their hashes. That build takes some minutes and needs the module proxy, so where there is no such Go nothing needs it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory, ensureBinaries } from './build.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'
import { readVersion } from './servers.ts'

const MODULE = join(import.meta.dirname, 'new-apiserver')
const release = { gitVersion: 'v1.34.1', gitMajor: '1', gitMinor: '34' }
/** What the pinned modules ask for. */
const GO_MINOR = 24
/** Policies that admit are v1 from here on. */
const FIRST_NEW = 30

/** Why there is none to be had; undefined: there is one, or it can be built. */
export async function whyNoNewApiserver(): Promise<string | undefined> {
  if (isGiven()) {
    const { minor } = await readVersion((await ensureBinaries()).kubeApiserver)
    return minor >= FIRST_NEW ? undefined : `KUBEBUILDER_ASSETS has a kube-apiserver of 1.${minor}: these need 1.${FIRST_NEW} or later`
  }
  if (existsSync(join(builtDirectory(), 'kube-apiserver'))) return undefined
  try {
    const { stdout } = await run('go', ['version'])
    const minor = Number(/ go1\.(\d+)/.exec(stdout)?.[1])
    return minor >= GO_MINOR ? undefined : `these need Go 1.${GO_MINOR} or later to build a kube-apiserver: this is ${stdout.trim()}`
  } catch {
    return `these need KUBEBUILDER_ASSETS with a kube-apiserver of 1.${FIRST_NEW} or later, or Go 1.${GO_MINOR} or later to build one`
  }
}

/** Its path. Builds it if need be. */
export async function ensureNewApiserver(report: (line: string) => void = console.log): Promise<string> {
  if (isGiven()) return (await ensureBinaries()).kubeApiserver
  const built = builtDirectory()
  if (!existsSync(built)) {
    await mkdir(cacheDirectory(), { recursive: true })
    await withLock(join(cacheDirectory(), 'build.lock'), async () => {
      if (!existsSync(built)) await buildInto(built, report)
    })
  }
  return join(built, 'kube-apiserver')
}

function isGiven(): boolean {
  return (process.env.KUBEBUILDER_ASSETS ?? '') !== ''
}

function builtDirectory(): string {
  const inputs = ['go.mod', 'go.sum'].map((name) => readFileSync(join(MODULE, name), 'utf8'))
  const hash = createHash('sha256').update(JSON.stringify([process.arch, release, inputs]))
  return join(cacheDirectory(), `new-apiserver-${hash.digest('hex').slice(0, 16)}`)
}

/** Everything happens beside `destination`, which appears whole, by a rename, at the end. */
async function buildInto(destination: string, report: (line: string) => void): Promise<void> {
  const work = `${destination}.building`
  await rm(work, { recursive: true, force: true })
  await mkdir(work)
  report(`building kube-apiserver ${release.gitVersion} into ${destination}: this takes minutes, once`)
  const values = Object.entries(release).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
  const linker = ['-s -w', ...values].join(' ')
  await run('go', ['build', '-mod=readonly', '-ldflags', linker, '-o', `${work}/`, 'k8s.io/kubernetes/cmd/kube-apiserver'], {
    cwd: MODULE,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined },
    timeoutMs: 40 * 60_000,
  })
  await rename(work, destination)
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The lab's binaries: etcd, and kube-apiserver, kubectl and kubelet 1.20.2, the last version with
 * Dynamic Kubelet Configuration of which Debian has the source. Taken from `KUBEBUILDER_ASSETS`
 * (the folder that controller-runtime's envtest uses) where that is set. Otherwise built once, into
 * a cache outside the checkout, from packages that apt verifies and that are unpacked rather than
 * installed. Run by itself it prepares the cache: `node --import tsx test/real/lab/build.ts`.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { buildKubernetes, kubernetesRecipe } from './build-kubernetes.ts'
import { openDebianPackages } from './debian-packages.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'

export interface Binaries {
  readonly etcd: string
  readonly kubeApiserver: string
  readonly kubectl: string
  /** undefined: the folder that was given has none. */
  readonly kubelet: string | undefined
}

/**
 * Finds the binaries, building them first if need be; later calls return at once. `report` hears
 * what takes time.
 */
export async function ensureBinaries(report: (line: string) => void = console.log): Promise<Binaries> {
  const given = process.env.KUBEBUILDER_ASSETS
  if (given !== undefined && given !== '') return binariesIn(given)
  const cache = cacheDirectory()
  const built = join(cache, hashOfInputs())
  if (existsSync(built)) return binariesIn(built)
  await mkdir(cache, { recursive: true })
  await withLock(join(cache, 'build.lock'), async () => {
    if (!existsSync(built)) await buildInto(built, report)
  })
  return binariesIn(built)
}

const recipe = { architecture: process.arch, etcd: 'etcd-server', kubernetes: kubernetesRecipe }

function hashOfInputs(): string {
  return createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16)
}

/** Outside the checkout. */
export function cacheDirectory(): string {
  const { KCA_LAB_CACHE: own, XDG_CACHE_HOME: user } = process.env
  return own || join(user || join(homedir(), '.cache'), 'kubelet-cfg-agent')
}

function binariesIn(directory: string): Binaries {
  const find = (name: string): string | undefined => (existsSync(join(directory, name)) ? join(directory, name) : undefined)
  const need = (name: string): string => {
    const path = find(name)
    if (path === undefined) throw new Error(`${directory} has no ${name}: complete it, or remove it and unset KUBEBUILDER_ASSETS`)
    return path
  }
  return { etcd: need('etcd'), kubeApiserver: need('kube-apiserver'), kubectl: need('kubectl'), kubelet: find('kubelet') }
}

/** Everything happens beside `destination`, which appears whole, by a rename, at the end. */
async function buildInto(destination: string, report: (line: string) => void): Promise<void> {
  const work = `${destination}.building`
  const goCache = join(work, 'go-cache')
  const bin = join(work, 'bin')
  // Of a build that was interrupted only Go's own cache is worth trusting. A last compiler of it
  // may still be writing.
  for (const left of existsSync(work) ? await readdir(work) : []) {
    if (join(work, left) !== goCache) await rm(join(work, left), { recursive: true, maxRetries: 5, retryDelay: 1_000 })
  }
  await mkdir(bin, { recursive: true })

  report(`building the lab's binaries into ${destination}`)
  const packages = await openDebianPackages(join(work, 'apt'))
  report(`downloading ${[recipe.etcd, ...kubernetesRecipe.toolchain, kubernetesRecipe.source].join(', ')}`)
  const root = join(work, 'root')
  await packages.unpack([recipe.etcd, ...kubernetesRecipe.toolchain], root)
  const tarball = await packages.fetchSource(kubernetesRecipe.source)
  const workspace = join(work, 'workspace')
  await buildKubernetes({ toolchainRoot: root, tarball, workspace, goCache, outputDirectory: bin }, report)
  await rename(join(root, 'usr/bin/etcd'), join(bin, 'etcd'))

  const { etcd, kubeApiserver, kubectl } = binariesIn(bin)
  await Promise.all([run(etcd, ['--version']), run(kubeApiserver, ['--version']), run(kubectl, ['version', '--client'])])
  await rename(bin, destination)
  await rm(work, { recursive: true })
}

if (import.meta.filename === process.argv[1]) console.log(await ensureBinaries())

// SPDX-License-Identifier: Apache-2.0
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
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Binaries, ensureBinaries } from './build.ts'
import { ensureGoCommands, type GoModule, type Report, readGoModule } from './build-go-commands.ts'
import { readVersion } from './servers.ts'

type ModernBinaries = Pick<Binaries, 'kubeApiserver' | 'kubelet'>

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

/** The folder that holds the commands of a release, each under its name. Builds them if need be. */
export function ensureRelease(minor: number, report?: Report): Promise<string> {
  const { version, ...pinned } = readRelease(minor)
  const values = { gitVersion: version, gitMajor: '1', gitMinor: String(minor) }
  const stamps = Object.entries(values).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
  return ensureGoCommands({ ...pinned, name: `kubernetes-1.${minor}`, stamps }, report)
}

/** Whether `KUBEBUILDER_ASSETS` has them: then there is one kubelet, and none to choose. */
export function isGiven(): boolean {
  return (process.env.KUBEBUILDER_ASSETS ?? '') !== ''
}

interface Release extends GoModule {
  readonly minor: number
}

function readRelease(minor: number): Release {
  if (!MODERN_MINORS.includes(minor)) throw new Error(`no Kubernetes 1.${minor} is pinned in ${MODULES}`)
  return readModule(minor)
}

/** The release that the folder of a minor pins now. */
export function readModule(minor: number): Release {
  return { minor, ...readGoModule(join(MODULES, `1.${minor}`), 'k8s.io/kubernetes') }
}

if (import.meta.filename === process.argv[1]) {
  const given = process.argv.slice(2).map((word) => Number(word.replace(/^1\./, '')))
  const missing = await whyNoModernKubernetes()
  if (missing !== undefined) console.log(missing)
  else if (isGiven()) console.log(await ensureModernKubernetes())
  else for (const minor of given.length === 0 ? [NEWEST_MINOR] : given) console.log(await ensureRelease(minor))
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The releases of Kubernetes that the tables are read from: of each minor the newest patch that
 * there was when the tables were last made, and a pre-release of a minor that is not released. Go
 * checks each module by its sum.
 */

export interface PinnedRelease {
  readonly minor: number
  /** `0-beta.0` of a pre-release. */
  readonly patch: number | `0-${string}`
}

const PATCHES: Readonly<Record<number, PinnedRelease['patch']>> = {
  20: 15,
  21: 14,
  22: 17,
  23: 17,
  24: 17,
  25: 16,
  26: 15,
  27: 16,
  28: 15,
  29: 15,
  30: 14,
  31: 14,
  32: 13,
  33: 13,
  34: 4,
  35: 4,
  36: 3,
  37: 2,
  38: '0-beta.0',
}

export const RELEASES: readonly PinnedRelease[] = Object.entries(PATCHES).map(([minor, patch]) => ({ minor: Number(minor), patch }))

/**
 * Each is needed from this minor of 1.x on: since then kubelet has its feature gates from there, or
 * over a package of it.
 */
const PUBLISHED: readonly (readonly [name: string, since: number])[] = [
  ['kubelet', 20],
  ['api', 20],
  ['apiserver', 20],
  ['component-base', 20],
  ['cloud-provider', 27],
  ['controller-manager', 27],
  ['apiextensions-apiserver', 28],
  ['client-go', 30],
]

/** By path, with their versions: `k8s.io/kubelet` has v0.36.3 where Kubernetes has v1.36.3. */
export function modulesOf({ minor, patch }: PinnedRelease): ReadonlyMap<string, string> {
  const published = PUBLISHED.filter(([, since]) => since <= minor)
  return new Map([
    ['k8s.io/kubernetes', `v1.${minor}.${patch}`],
    ...published.map(([name]) => [`k8s.io/${name}`, `v0.${minor}.${patch}`] as const),
  ])
}

/** The modules of a release that hold these packages. */
export function modulesWith({ minor, patch }: PinnedRelease, paths: readonly string[]): ReadonlyMap<string, string> {
  const names = paths.map((path) => path.split('/').slice(0, 2).join('/'))
  return new Map(names.map((name) => [name, name === 'k8s.io/kubernetes' ? `v1.${minor}.${patch}` : `v0.${minor}.${patch}`]))
}

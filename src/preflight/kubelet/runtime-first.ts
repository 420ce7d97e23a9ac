/**
 * What the deep stage is good for on a kubelet. Pure. From 1.28 on, kubelet asks the container
 * runtime for its cgroup driver before it parses reservations, eviction signals and cgroups (`run`,
 * cmd/kubelet/app/server.go). Without a runtime it ends there, and has found no more in a config
 * than in the load stage.
 */
import type { KubeletVersion } from '../kubelet-version.ts'

const FIRST_MINOR = 28

export function asksRuntimeFirst({ minor }: Pick<KubeletVersion, 'minor'>): boolean {
  return minor >= FIRST_MINOR
}

/** @param version undefined: not known */
export function findsMoreAtStart(version: KubeletVersion | undefined): boolean {
  return version === undefined || !asksRuntimeFirst(version)
}

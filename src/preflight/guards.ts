// SPDX-License-Identifier: Apache-2.0
/**
 * Guards: checks of a config that kubelet starts with, but that would take its node out of the
 * cluster or end what runs there. Each refuses by default, and the setting `guards-off` turns it
 * off by its name. Pure. Where a guard concerns a change, it compares with what runs; where nothing
 * is known to compare with, it does not refuse. A finding belongs to the guard that its rule names.
 */
import type { Finding } from './finding.ts'

export const GUARDS = {
  'run-once': 'runOnce, with which kubelet ends once its static pods have run',
  'content-type': 'a contentType in which kubelet cannot talk to the API server',
  'node-lease': 'a nodeLeaseDurationSeconds with which kubelet renews its lease more seldom than node controllers wait',
  'static-pods': 'a staticPodPath that is removed or moved away from a directory with manifests',
  healthz: 'a healthzPort that another process has, or a healthzBindAddress that is not of this machine or no address',
  reservation: 'enforceNodeAllocatable with less reserved than a cgroup uses now',
  eviction: 'an eviction threshold that is new and by far above what the node has left',
  'resolv-conf': 'a resolvConf that does not exist, or one whose nameservers are new and loopback addresses, which no pod reaches',
  'runtime-endpoint': "a containerRuntimeEndpoint or imageServiceEndpoint that is new and does not answer, or is not root's",
  'cgroup-driver': "a cgroupDriver that is new and not the container runtime's",
} as const satisfies Readonly<Record<string, string>>

export type GuardName = keyof typeof GUARDS

export function isGuardName(name: string): name is GuardName {
  return Object.hasOwn(GUARDS, name)
}

/** Names the setting in each refusal; a guard that is off only warns. */
export function settleGuards(findings: readonly Finding[], off: readonly GuardName[]): Finding[] {
  return findings.map((finding) => {
    const [, name = ''] = /^guard\/(.+)$/.exec(finding.rule) ?? []
    if (finding.severity !== 'refuse' || !isGuardName(name)) return finding
    if (off.includes(name)) return { ...finding, severity: 'warn' }
    return { ...finding, problem: `${finding.problem} (guardsOff: ${name} would allow it)` }
  })
}

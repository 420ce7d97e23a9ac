// SPDX-License-Identifier: Apache-2.0
/** A change of one field of kubelet's config, and its text form. */
import type { FieldPath } from '../../kubelet/field-path.ts'

export interface Change {
  readonly path: FieldPath
  /** undefined: not set, without a default. */
  readonly before: Side | undefined
  readonly after: Side | undefined
  readonly risk: RiskClass
}

export interface Side {
  /** HIDDEN if it could be a secret. */
  readonly value: unknown
  /** The value is not set in the config. */
  readonly isDefault: boolean
}

export const HIDDEN = '(not shown)'

/** One side of a change in words, such as `110 (default)`, `"1m"`, `not set`. */
export function formatSide(side: Side | undefined): string {
  if (side === undefined) return 'not set'
  const text = side.value === HIDDEN ? HIDDEN : JSON.stringify(side.value)
  return side.isDefault ? `${text} (default)` : text
}

/**
 * Risk classes of changing a field on a live node, mildest first. Source: the warnings beside the
 * fields in staging/src/k8s.io/kubelet/config/v1beta1/types.go of Kubernetes 1.20 ("If
 * DynamicKubeletConfig (...) is on, when dynamically updating this field, consider that ...").
 * Newer fields have no such warning; their class follows from what kubelet does with them.
 */
export const RISKS = {
  none: 'no effect: this kubelet does not know the field and ignores it',
  registration: 'no effect on a registered Node',
  restart: 'needs only a restart of kubelet',
  load: 'shifts load: on the node, the container runtime, the registry or the API server',
  evictions: 'pods may be evicted sooner, later, or not in time',
  'log-loss': 'logs of containers may be cut off or lost',
  'pod-forks': 'pods may no longer be able to start processes',
  throttling: 'pods may be slowed down before they reach their limits',
  'oom-risk': 'pods may take memory or CPU from system daemons, or be killed for using their own',
  'cgroup-resize': 'limits of cgroups change; lowering one may fail, or kill processes that exceed it',
  'cert-expiry': 'certificates may expire without being renewed',
  'standalone-only': 'has an effect only on a kubelet without an API server',
  'server-clients': 'clients of kubelet may be disrupted: the API server, metrics, exec, logs, port forwarding',
  'pod-admission': 'running pods may fail admission when kubelet restarts, and are then killed',
  'container-restart': 'running containers may be restarted, or keep the old value until they are',
  'static-pods': "this node's static pods change; on a control plane node, these are the control plane",
  coordinate: 'must match kube-proxy, which must change at the same time',
  'cluster-wide': 'must match the whole cluster; running pods keep the old value',
  drain: 'drain the node first: running pods keep the old value, or lose data',
  'maybe-reboot': 'some values need a reboot of the node to take effect everywhere',
  reboot: 'drain and reboot the node',
  'crash-loop': 'kubelet may not start if the node is not prepared for it',
  'can-cut-api': "may cut off kubelet's connection to the API server",
  unknown: 'this kubelet may know the field, and this agent does not: it may cost anything',
} as const satisfies Readonly<Record<string, string>>

export type RiskClass = keyof typeof RISKS

export function isRiskClass(name: string): name is RiskClass {
  return Object.hasOwn(RISKS, name)
}

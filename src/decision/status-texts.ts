// SPDX-License-Identifier: Apache-2.0
/**
 * The texts that others read: `Node.status.config.error`, event messages, API paths. Status texts
 * are short and name no file, value or address of the node; the log has the detail. Upstream's
 * texts are kept word for word, since operators search for them: Kubernetes 1.20
 * `pkg/kubelet/kubeletconfig/status` and `controller.go`. Ours have the same form.
 */

import { contractOf, type EvidenceKind } from '../evidence/kinds.ts'
import type { ConfigMapRef, ConfigSource } from '../subject/config-source.ts'
import type { WiringProblem } from '../subject/unit-state.ts'
import { REASONS, type Verdict } from './verdict.ts'

export const LOAD_ERROR = 'failed to load config, see Kubelet log for details'
export const VALIDATE_ERROR = 'failed to validate config, see Kubelet log for details'
export const ALL_NIL_SUBFIELDS_ERROR = 'invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil'
export const DOWNLOAD_ERROR = 'failed to download config, see Kubelet log for details'
export const INTERNAL_ERROR = 'internal failure, see Kubelet log for details'

const SEE_LOG = 'see kubelet-cfg-agent log for details'

/** The text for readers who see the cause itself beside it. */
export function withoutLogHint(text: string): string {
  return text.replace(/, see (Kubelet|kubelet-cfg-agent) log for details$/, '')
}

export function syncError(reason: string): string {
  return `failed to sync: ${reason}`
}

/**
 * The API path of a ConfigMap, or `local`: the gauges' label `node_config_source`, and the name of
 * a source in log lines.
 */
export function sourcePath(source: 'local' | Pick<ConfigMapRef, 'namespace' | 'name'>): string {
  return source === 'local' ? 'local' : `/api/v1/namespaces/${source.namespace}/configmaps/${source.name}`
}

/** A source as upstream's log lines name it. */
export function nameSource(source: ConfigSource): string {
  return source === 'local' ? 'local' : `${sourcePath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}`
}

/** The one event that upstream sends. */
export function restartingMessage(to: ConfigSource | undefined): string {
  return `Kubelet restarting to use ${nameInEvent(to)}`
}

export function rejectedMessage(refused: ConfigSource | undefined, why: string): string {
  return `Kubelet config refused before a restart: ${nameInEvent(refused)}: ${why}`
}

export function rolledBackMessage(failed: ConfigSource | undefined, next: ConfigSource | undefined, why: string): string {
  return `Kubelet config rolled back from ${nameInEvent(failed)} to ${nameInEvent(next)}: ${why}`
}

export function promotedMessage(promoted: ConfigSource | undefined): string {
  return `Kubelet config promoted to last-known-good: ${nameInEvent(promoted)}`
}

export function downloadFailedMessage(why: string): string {
  return `Kubelet config could not be downloaded: ${why}`
}

export function invalidMessage(why: string): string {
  return `Kubelet config cannot be assigned: ${why}`
}

function nameInEvent(source: ConfigSource | undefined): string {
  if (source === undefined) return 'an unknown config'
  if (source === 'local') return 'local config'
  return `${sourcePath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}, KubeletConfigKey: ${source.kubeletConfigKey}`
}

/**
 * Where the node went instead. `left`: what ran before a return to local. `under-way`: it is not
 * there yet.
 */
export type Refuge = 'last-known-good' | 'previous' | 'local' | 'left' | 'under-way'

/** Why the assigned config does not run although kubelet could be started with it. */
export function failureError({ reason, evidence }: Pick<Verdict, 'reason' | 'evidence'>, refuge: Refuge): string {
  switch (reason) {
    case 'load':
      return LOAD_ERROR
    case 'validate':
      return VALIDATE_ERROR
    case 'requested':
      return `config rolled back at the request of an operator of the node; ${REFUGES[refuge]}, ${SEE_LOG}`
    default: {
      const what = reason === 'evidence' ? missingText(evidence) : REASONS[reason].text
      return `failed to run config: ${what}; ${REFUGES[refuge]}, ${SEE_LOG}`
    }
  }
}

function missingText(evidence: EvidenceKind | undefined): string {
  const contract = evidence && contractOf(evidence)
  return contract === undefined ? 'kubelet was healthy, and the node did not work' : `${contract.loss} (evidence ${evidence})`
}

const REFUGES: Readonly<Record<Refuge, string>> = {
  'last-known-good': 'rolled back to last-known-good',
  previous: 'rolled back to previous, the last-known-good before the current one',
  local: 'rolled back to local config',
  left: 'rolled back to what ran before',
  'under-way': 'rolling back',
}

const WIRING_ERRORS: Readonly<Record<WiringProblem, string>> = {
  masked: "kubelet's unit is masked",
  'drop-in-missing': "kubelet's unit does not read the agent's drop-in",
  'daemon-reload-needed': "kubelet's unit changed and systemd needs a daemon-reload",
  overridden: "another setting of kubelet's unit overrides the agent's",
  'flag-wins': 'a command-line flag of kubelet wins over it',
  'no-config-argument': "kubelet's unit has no --config to replace",
  'no-config-dir': "kubelet's unit has no --config-dir for a drop-in",
  'dynamic-config-dir': 'kubelet runs with --dynamic-config-dir, and two controllers would fight',
  'owned-by-operator': "the cluster's own operator owns kubelet's config",
}

export function wiringError(problem: WiringProblem): string {
  return activationError(WIRING_ERRORS[problem])
}

function activationError(what: string): string {
  return `failed to activate config: ${what}, ${SEE_LOG}`
}

/** After `failed to sync: `. */
export const OVERLAY_ERROR = `this node's overlay cannot be used, ${SEE_LOG}`

export const INSTANCE_ERROR = `kubeadm's instance config of this node cannot be used, ${SEE_LOG}`
export const LOCAL_BASE_ERROR = `this node's local config cannot be the base of the assigned part, ${SEE_LOG}`
export const BASE_ERROR = `a ConfigMap under the assigned part cannot be its base, ${SEE_LOG}`
export const LAYER_ERROR = `a ConfigMap that is laid over the assigned one cannot be merged, ${SEE_LOG}`
export const COMPUTED_ERROR = `a value of the assigned config cannot be computed from the Node, ${SEE_LOG}`
export const PART_ERROR = `the assigned part cannot be merged, ${SEE_LOG}`

export const INEFFECTIVE_ERROR = activationError('kubelet was restarted and still runs another config')
export const RESTART_LIMIT_ERROR = activationError('kubelet was restarted too often within an hour')
export const NODE_AT_FAULT_ERROR = `failed to run config: kubelet fails with every config, so the node is at fault, ${SEE_LOG}`
export const PAUSED_ERROR = `config not activated: paused by an operator of the node, ${SEE_LOG}`
/** @param by as `ChannelState.paused` has it */
export function pausedByCluster(by: string): string {
  return `config not activated: paused by ${by}`
}
export const HELD_LOCAL_ERROR = `config not activated: reset to local config by an operator of the node, ${SEE_LOG}`

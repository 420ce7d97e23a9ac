/**
 * The Node label `kubelet-cfg-agent.io/state`, for `kubectl get nodes -L` and for selectors: the
 * reason of `KubeletConfigReady` where that will not change by itself. Pure.
 *
 * With every other reason the label keeps the last such one. So it is written when a config has
 * been decided on, and nothing that selects by it sees the states in between.
 */
import type { ConditionReason } from './condition.ts'

export const STATE_LABEL = 'kubelet-cfg-agent.io/state'

/** @returns undefined: the label stays as it is */
export function stateLabel(reason: ConditionReason): string | undefined {
  switch (reason) {
    case 'Promoted':
    case 'Local':
    case 'HeldLocal':
    case 'RolledBack':
    case 'Refused':
    case 'Invalid':
    case 'Ineffective':
    case 'Wiring':
    case 'NodeAtFault':
      return reason
    case 'InTrial':
    case 'Waiting':
    case 'Preflight':
    case 'Draining':
    case 'Restarting':
    case 'RestartLimit':
    case 'Paused':
    case 'Unhealthy':
    case 'KubeletStopped':
    case 'RuntimeDown':
    case 'AssignmentUnknown':
    case 'KubeletUnknown':
    case 'NotPublished':
    case 'DownloadFailed':
    case 'InternalError':
    case 'CheckpointMissing':
      return undefined
  }
}

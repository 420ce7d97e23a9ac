/**
 * The Node condition `KubeletConfigDegraded`: whether somebody should look at the config of this
 * node. Pure. It follows from `KubeletConfigReady`, which is Unknown in every trial and False on
 * each way to another config. An alert, an autoscaler or a readiness rule that took that for a
 * fault would act on healthy nodes.
 *
 * True: the agent cannot follow the assignment, or has left a config, or kubelet is not healthy
 * with what it runs. False: all is well or on its way, or an operator wants it so, as after
 * `rollback`.
 */
import type { Condition, ConditionReason, ConditionStatus } from './condition.ts'

export const DEGRADED_TYPE = 'KubeletConfigDegraded'

export interface Degraded {
  readonly status: ConditionStatus
  readonly reason: ConditionReason | 'AsExpected'
  readonly message: string
}

const AS_EXPECTED: Degraded = { status: 'False', reason: 'AsExpected', message: 'nothing about the config of this node needs attention' }

export function describeDegraded(ready: Condition): Degraded {
  const status = ready.deliberate ? 'False' : statusFor(ready.reason)
  return status === 'False' ? AS_EXPECTED : { status, reason: ready.reason, message: ready.message }
}

function statusFor(reason: ConditionReason): ConditionStatus {
  switch (reason) {
    case 'Invalid':
    case 'DownloadFailed':
    case 'InternalError':
    case 'CheckpointMissing':
    case 'Refused':
    case 'RolledBack':
    case 'NodeAtFault':
    case 'Wiring':
    case 'Ineffective':
    case 'Unhealthy':
      return 'True'
    case 'AssignmentUnknown':
    case 'KubeletUnknown':
    case 'NotPublished':
      return 'Unknown'
    case 'Promoted':
    case 'Local':
    case 'InTrial':
    case 'Waiting':
    case 'Preflight':
    case 'Draining':
    case 'Restarting':
    // Deliberate, or limits that end by themselves.
    case 'Paused':
    case 'HeldLocal':
    case 'KubeletStopped':
    case 'RestartLimit':
    // The Node's own condition Ready says so, and no config is at fault.
    case 'RuntimeDown':
      return 'False'
  }
}

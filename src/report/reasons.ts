// SPDX-License-Identifier: Apache-2.0
/**
 * The conditions `KubeletConfigReady` and `KubeletConfigDegraded`, and what each reason means for
 * them and for the label. Pure.
 */
export const CONDITION_TYPE = 'KubeletConfigReady'
export const DEGRADED_TYPE = 'KubeletConfigDegraded'

export type ConditionStatus = 'True' | 'False' | 'Unknown'

/**
 * How all nodes may come to the condition at the same moment (`slot.ts`). `unusable`: nothing
 * follows from the shared object. `fall`, `fallen`: each finds by itself that what they share
 * fails. `start`: by the node's own turn, or by such a fall. `pause`: by the ConfigMap, or an
 * operator of the node. `rest`: by a change that leaves or gives back what runs, or before their
 * own turn.
 */
export type SharedKind = 'rest' | 'unusable' | 'refused' | 'fall' | 'fallen' | 'start' | 'pause'

interface ReasonEntry {
  /** The status of `KubeletConfigReady`. */
  readonly ready: ConditionStatus
  /** The status of `KubeletConfigDegraded`. */
  readonly degraded: ConditionStatus
  /** A final state: it does not change by itself. */
  readonly isFinal?: true
  /** `findFault` finds it. */
  readonly isFault?: true
  readonly shared?: SharedKind
}

/**
 * Stable, since people and programs select by them.
 *
 * Degraded is True where the agent cannot follow the assignment, or has left a config, or kubelet
 * is not healthy with what it runs. It is False where all is well or on its way, or an operator
 * wants it so, as after `rollback`.
 */
const REASONS = {
  Promoted: { ready: 'True', degraded: 'False', isFinal: true, shared: 'rest' },
  Local: { ready: 'True', degraded: 'False', isFinal: true, shared: 'rest' },
  InTrial: { ready: 'Unknown', degraded: 'False' },
  AssignmentUnknown: { ready: 'Unknown', degraded: 'Unknown' },
  KubeletUnknown: { ready: 'Unknown', degraded: 'Unknown' },
  NotPublished: { ready: 'Unknown', degraded: 'Unknown' },
  Waiting: { ready: 'False', degraded: 'False', shared: 'rest' },
  Preflight: { ready: 'False', degraded: 'False', shared: 'rest' },
  Draining: { ready: 'False', degraded: 'False', shared: 'rest' },
  Restarting: { ready: 'False', degraded: 'False', shared: 'start' },
  Unhealthy: { ready: 'False', degraded: 'True', shared: 'fall' },
  KubeletStopped: { ready: 'False', degraded: 'False' },
  // The Node's own condition Ready says so, and no config is at fault.
  RuntimeDown: { ready: 'False', degraded: 'False', shared: 'fall' },
  Invalid: { ready: 'False', degraded: 'True', isFinal: true, isFault: true, shared: 'unusable' },
  DownloadFailed: { ready: 'False', degraded: 'True', isFault: true, shared: 'unusable' },
  InternalError: { ready: 'False', degraded: 'True', isFault: true },
  CheckpointMissing: { ready: 'False', degraded: 'True', isFault: true },
  Refused: { ready: 'False', degraded: 'True', isFinal: true, isFault: true, shared: 'refused' },
  RolledBack: { ready: 'False', degraded: 'True', isFinal: true, isFault: true, shared: 'fallen' },
  NodeAtFault: { ready: 'False', degraded: 'True', isFinal: true, isFault: true, shared: 'fallen' },
  // Deliberate, or limits that end by themselves.
  Paused: { ready: 'False', degraded: 'False', isFault: true, shared: 'pause' },
  HeldLocal: { ready: 'False', degraded: 'False', isFinal: true, isFault: true, shared: 'pause' },
  Wiring: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  Ineffective: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  RestartLimit: { ready: 'False', degraded: 'False', isFault: true },
} as const satisfies Readonly<Record<string, ReasonEntry>>

export type ConditionReason = keyof typeof REASONS
export type FaultReason = {
  [reason in ConditionReason]: (typeof REASONS)[reason] extends { isFault: true } ? reason : never
}[ConditionReason]

export function sharedKindOf(reason: ConditionReason): SharedKind | undefined {
  const entry: ReasonEntry = REASONS[reason]
  return entry.shared
}

function listReasons(status: ConditionStatus): readonly ConditionReason[] {
  return (Object.keys(REASONS) as ConditionReason[]).filter((reason) => REASONS[reason].ready === status)
}

/** Each reason belongs to one status. */
export const CONDITION_REASONS = { True: listReasons('True'), Unknown: listReasons('Unknown'), False: listReasons('False') } as const

export interface Condition {
  readonly status: ConditionStatus
  readonly reason: ConditionReason
  readonly message: string
  /** An operator of the node did it, on purpose. Not written: it is for `KubeletConfigDegraded`. */
  readonly deliberate?: true
  /**
   * The cause of the condition also keeps the agent from publishing it: once it can be written, it
   * may be outdated. Not written.
   */
  readonly cutOff?: true
}

export function conditionOf(reason: ConditionReason, message: string): Condition {
  return { status: REASONS[reason].ready, reason, message }
}

export interface Degraded {
  readonly status: ConditionStatus
  readonly reason: ConditionReason | 'AsExpected'
  readonly message: string
}

const AS_EXPECTED: Degraded = { status: 'False', reason: 'AsExpected', message: 'nothing about the config of this node needs attention' }

/**
 * Whether somebody should look at the config of this node. It follows from `KubeletConfigReady`,
 * which is Unknown in every trial and False on each way to another config. An alert, an autoscaler
 * or a readiness rule that took that for a fault would act on healthy nodes.
 */
export function describeDegraded({ reason, message, deliberate }: Condition): Degraded {
  const status = deliberate ? 'False' : REASONS[reason].degraded
  return status === 'False' ? AS_EXPECTED : { status, reason, message }
}

/**
 * The value of the label `kubelet-cfg-agent.io/state`. With a reason that will change by itself,
 * the label keeps the one before. So it is written when a config has been decided on, and nothing
 * that selects by it sees the states in between.
 *
 * @returns undefined: the label stays as it is
 */
export function stateLabel(reason: ConditionReason): string | undefined {
  const entry: ReasonEntry = REASONS[reason]
  return entry.isFinal ? reason : undefined
}

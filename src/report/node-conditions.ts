/**
 * The conditions `KubeletConfigReady` and `KubeletConfigDegraded` of the Node: what each reason
 * means for them, and how they are kept up to date. Pure. Both are written in one patch, which
 * leaves kubelet's conditions alone: a strategic merge patch merges `status.conditions` by `type`
 * (`patchMergeKey` of `NodeStatus`), as upstream's `SetNodeCondition` did. Kubelet in turn keeps
 * these conditions: it sends the difference between the Node that it read and its own changes
 * (`PatchNodeStatus`, `CreateTwoWayMergePatch`), which concern only its own conditions.
 * NodeRestriction allows a node to patch the status of its own Node; it restricts configSource,
 * taints and labels (`admitNode`).
 *
 * `lastTransitionTime` is when `status` changed, also across restarts of the agent, so the server's
 * conditions are read before the first write. A Node that was created again has no condition, and
 * its time starts there, as for kubelet's conditions.
 */
import { isObject, type JsonObject } from '../values/is-object.ts'
import type { Channel } from './channel.ts'
import { showTime } from './deadlines.ts'
import { LONG_RUN } from './field-work.ts'

export const CONDITION_TYPE = 'KubeletConfigReady'
export const DEGRADED_TYPE = 'KubeletConfigDegraded'

export type ConditionStatus = 'True' | 'False' | 'Unknown'

interface ReasonEntry {
  /** The status of `KubeletConfigReady`. */
  readonly ready: ConditionStatus
  /** The status of `KubeletConfigDegraded`. */
  readonly degraded: ConditionStatus
  /** A final state: it does not change by itself. */
  readonly isFinal?: true
  /** `findFault` finds it. */
  readonly isFault?: true
}

/**
 * Stable, since people and programs select by them.
 *
 * Degraded is True where the agent cannot follow the assignment, or has left a config, or kubelet
 * is not healthy with what it runs. It is False where all is well or on its way, or an operator
 * wants it so, as after `rollback`.
 */
const REASONS = {
  Promoted: { ready: 'True', degraded: 'False', isFinal: true },
  Local: { ready: 'True', degraded: 'False', isFinal: true },
  InTrial: { ready: 'Unknown', degraded: 'False' },
  AssignmentUnknown: { ready: 'Unknown', degraded: 'Unknown' },
  KubeletUnknown: { ready: 'Unknown', degraded: 'Unknown' },
  NotPublished: { ready: 'Unknown', degraded: 'Unknown' },
  Waiting: { ready: 'False', degraded: 'False' },
  Preflight: { ready: 'False', degraded: 'False' },
  Draining: { ready: 'False', degraded: 'False' },
  Restarting: { ready: 'False', degraded: 'False' },
  Unhealthy: { ready: 'False', degraded: 'True' },
  KubeletStopped: { ready: 'False', degraded: 'False' },
  // The Node's own condition Ready says so, and no config is at fault.
  RuntimeDown: { ready: 'False', degraded: 'False' },
  Invalid: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  DownloadFailed: { ready: 'False', degraded: 'True', isFault: true },
  InternalError: { ready: 'False', degraded: 'True', isFault: true },
  CheckpointMissing: { ready: 'False', degraded: 'True', isFault: true },
  Refused: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  RolledBack: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  NodeAtFault: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  // Deliberate, or limits that end by themselves.
  Paused: { ready: 'False', degraded: 'False', isFault: true },
  HeldLocal: { ready: 'False', degraded: 'False', isFinal: true, isFault: true },
  Wiring: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  Ineffective: { ready: 'False', degraded: 'True', isFinal: true, isFault: true },
  RestartLimit: { ready: 'False', degraded: 'False', isFault: true },
} as const satisfies Readonly<Record<string, ReasonEntry>>

export type ConditionReason = keyof typeof REASONS
export type FaultReason = {
  [reason in ConditionReason]: (typeof REASONS)[reason] extends { isFault: true } ? reason : never
}[ConditionReason]

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
   * Its cause also keeps the agent from publishing it: once it can be written, it may be outdated.
   * Not written.
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

/** Written when publishing the condition is switched off. */
const NOT_PUBLISHED = conditionOf('NotPublished', 'kubelet-cfg-agent is set not to publish this condition')

/** The fields as the server has them, of any type. */
interface SeenCondition {
  readonly status: unknown
  readonly reason: unknown
  readonly message: unknown
  readonly lastTransitionTime: unknown
}

/** Undefined: the Node has no such condition. */
interface SeenConditions {
  readonly ready: SeenCondition | undefined
  readonly degraded: SeenCondition | undefined
}

export const CONDITIONS: Channel<Condition, SeenConditions> = {
  part: 'status',
  says: ({ condition }) => condition,
  takesItsTurn: true,
  name: `condition ${CONDITION_TYPE}`,
  announce: 'debug',
  grantedBy: 'deploy/rbac/status.yaml',
  dropped: `the API server drops the condition ${CONDITION_TYPE} or ${DEGRADED_TYPE}, as an admission webhook would`,
  readsFirst: true,
  longRun: LONG_RUN,
  finalValue: NOT_PUBLISHED,
  read: readConditions,
  shows: (seen, wanted) => seen !== 'absent' && isSame(seen.ready, wanted) && isSame(seen.degraded, describeDegraded(wanted)),
  // A client that waits for True must not see an outdated True.
  isUrgent: (seen, { status }) => seen !== 'absent' && seen.ready?.status === 'True' && status !== 'True',
  same: (a, b) => isSame(a, b) && a.deliberate === b.deliberate,
  write(nodeName, wanted, before, wallMs) {
    const seen = before === 'absent' ? undefined : before
    const conditions = [
      render(CONDITION_TYPE, wanted, seen?.ready, wallMs),
      render(DEGRADED_TYPE, describeDegraded(wanted), seen?.degraded, wallMs),
    ]
    return {
      path: `/api/v1/nodes/${nodeName}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions } },
    }
  },
  /** Kubelet's own conditions stay. */
  remove(nodeName) {
    const body = { status: { conditions: [CONDITION_TYPE, DEGRADED_TYPE].map((type) => ({ $patch: 'delete', type })) } }
    return {
      contentType: 'application/strategic-merge-patch+json',
      body,
      byHand: `kubectl patch node ${nodeName} --subresource=status --type=strategic -p '${JSON.stringify(body)}'`,
    }
  },
}

function render(
  type: string,
  { status, reason, message }: Condition | Degraded,
  before: SeenCondition | undefined,
  wallMs: number,
): object {
  const now = showTime(wallMs)
  const kept = before?.status === status ? before.lastTransitionTime : undefined
  const lastTransitionTime = typeof kept === 'string' ? kept : now
  return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime }
}

function readConditions(node: unknown): SeenConditions | 'absent' {
  const status = isObject(node) ? node.status : undefined
  const [ready, degraded] = [CONDITION_TYPE, DEGRADED_TYPE].map((type) => readCondition(status, type))
  return ready === undefined && degraded === undefined ? 'absent' : { ready, degraded }
}

/** In the status of a Node, of any shape. */
export function findCondition(status: unknown, type: string): JsonObject | undefined {
  const conditions: readonly unknown[] = isObject(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.filter(isObject).find((condition) => condition.type === type)
}

function readCondition(status: unknown, type: string): SeenCondition | undefined {
  const found = findCondition(status, type)
  return found && { status: found.status, reason: found.reason, message: found.message, lastTransitionTime: found.lastTransitionTime }
}

function isSame(a: Pick<SeenCondition, keyof Degraded> | undefined, b: Condition | Degraded): boolean {
  return a?.status === b.status && a.reason === b.reason && a.message === b.message
}

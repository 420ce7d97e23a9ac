// SPDX-License-Identifier: Apache-2.0
/**
 * The conditions of the Node as a channel. Pure. Both are written in one patch, which leaves
 * kubelet's conditions alone: a strategic merge patch merges `status.conditions` by `type`
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
import type { ReportChannel } from './channel.ts'
import { showTime } from './deadlines.ts'
import { LONG_RUN } from './node-field.ts'
import { CONDITION_TYPE, type Condition, conditionOf, DEGRADED_TYPE, type Degraded, describeDegraded } from './reasons.ts'

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

export const CONDITIONS: ReportChannel<Condition, SeenConditions> = {
  part: 'status',
  says: ({ condition }) => condition,
  mayBeCutOff: true,
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

/**
 * Keeps the condition `KubeletConfigReady` of the Node up to date and leaves kubelet's conditions
 * alone: a strategic merge patch merges `status.conditions` by `type` (`patchMergeKey` of
 * `NodeStatus`), as upstream's `SetNodeCondition` did. Kubelet in turn keeps this condition: it
 * sends the difference between the Node that it read and its own changes (`PatchNodeStatus`,
 * `CreateTwoWayMergePatch`), which concern only its own conditions. NodeRestriction allows a node
 * to patch the status of its own Node; it restricts configSource, taints and labels (`admitNode`).
 *
 * `lastTransitionTime` is when `status` changed, also across restarts of the agent, so the server's
 * condition is read before the first write. A Node that was created again has no condition, and its
 * time starts there, as for kubelet's conditions.
 */
import { isObject } from '../values/is-object.ts'
import { CONDITION_TYPE, type Condition, NOT_PUBLISHED } from './condition.ts'
import { showTime } from './deadlines.ts'
import { FieldWork, LONG_RUN, type NodeField, type WorkOptions } from './field-work.ts'

/** The fields as the server has them, of any type. */
export interface SeenCondition {
  readonly status: unknown
  readonly reason: unknown
  readonly message: unknown
  readonly lastTransitionTime: unknown
}

const CONDITION: NodeField<Condition, SeenCondition> = {
  name: `condition ${CONDITION_TYPE}`,
  announce: 'debug',
  dropped: `the API server drops the condition ${CONDITION_TYPE}, as an admission webhook would`,
  readsFirst: true,
  longRun: LONG_RUN,
  finalValue: NOT_PUBLISHED,
  read: readCondition,
  shows: (seen, wanted) => seen !== 'absent' && isSame(seen, wanted),
  // A client that waits for True must not see an outdated True.
  isUrgent: (seen, { status }) => seen !== 'absent' && seen.status === 'True' && status !== 'True',
  same: isSame,
  write(nodeName, { status, reason, message }, before, wallMs) {
    const now = showTime(wallMs)
    const kept = before !== undefined && before !== 'absent' && before.status === status ? before.lastTransitionTime : undefined
    const lastTransitionTime = typeof kept === 'string' ? kept : now
    return {
      path: `/api/v1/nodes/${nodeName}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: [{ type: CONDITION_TYPE, status, reason, message, lastHeartbeatTime: now, lastTransitionTime }] } },
    }
  },
}

export function conditionWork(options: WorkOptions, isOn?: () => boolean): FieldWork<Condition, SeenCondition> {
  return new FieldWork(options, CONDITION, isOn)
}

export function readCondition(node: unknown): SeenCondition | 'absent' {
  const status = isObject(node) ? node.status : undefined
  const conditions = isObject(status) ? status.conditions : undefined
  const found = Array.isArray(conditions)
    ? conditions.find((condition: unknown) => isObject(condition) && condition.type === CONDITION_TYPE)
    : undefined
  if (!isObject(found)) return 'absent'
  return { status: found.status, reason: found.reason, message: found.message, lastTransitionTime: found.lastTransitionTime }
}

function isSame(a: Pick<SeenCondition, keyof Condition>, b: Condition): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message
}

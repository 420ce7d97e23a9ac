/**
 * Keeps the condition `KubeletConfigReady` of the Node what the agent says it is, kubelet's own conditions untouched: a strategic merge patch merges
 * `status.conditions` by `type` (`patchMergeKey` of `NodeStatus`), as upstream's `SetNodeCondition` used to. Kubelet in turn keeps foreign ones: it
 * sends the difference between the Node that it read and the one that it made of it (`PatchNodeStatus`, `CreateTwoWayMergePatch`), and it changes none but
 * its own. NodeRestriction lets a node patch the status of its own Node; of a Node it guards configSource, taints and labels (`admitNode`).
 *
 * `lastTransitionTime` is when `status` changed, whoever wrote it: so what the server has is read before the first write, over a restart of the
 * agent too. A Node that was created anew has no condition, and its time begins there, as with kubelet's own.
 */
import { isObject } from '../values/is-object.ts'
import { CONDITION_TYPE, type Condition, NOT_PUBLISHED } from './condition.ts'
import { showTime } from './deadlines.ts'
import { FieldWork, LONG_RUN, type NodeField, type WorkOptions } from './field-work.ts'

/** Anything may stand there. */
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
  farewell: NOT_PUBLISHED,
  read: readCondition,
  shows: (seen, wanted) => seen !== 'absent' && isSame(seen, wanted),
  // Whoever waits for True must not be told of what is over.
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
  const found = Array.isArray(conditions) ? conditions.find((one: unknown) => isObject(one) && one.type === CONDITION_TYPE) : undefined
  if (!isObject(found)) return 'absent'
  return { status: found.status, reason: found.reason, message: found.message, lastTransitionTime: found.lastTransitionTime }
}

function isSame(a: Pick<SeenCondition, keyof Condition>, b: Condition): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message
}

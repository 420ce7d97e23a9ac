/**
 * A kubelet that keeps running although its next start uses another config. A healthy kubelet is
 * restarted for a new assignment, for an operator's request or for a verdict. It is never restarted
 * because a file was lost, since that may come back, or because a config was refused. In these
 * cases only the next start changes, so that a kubelet that exits starts with something that
 * exists. If the running config cannot be identified, the next start does not change either. Pure.
 */
import { describeSource } from './config-source.ts'
import { isFailing } from './health.ts'
import type { TargetSituation } from './situation.ts'
import type { Wait } from './step.ts'
import { findUnavailable } from './target.ts'
import { ASSIGNED_DAMAGED, wait } from './wait.ts'
import { failsNow, isCondemned } from './worth-keeping.ts'

/** undefined: kubelet is to run the target. */
export function findRunOn({ snapshot, unit, target }: TargetSituation): Wait | undefined {
  const { running, assigned } = snapshot
  if (unit.activity !== 'running' || running.kind !== 'known' || running.content === target.content) return undefined
  if (isCondemned(snapshot, unit) || failsNow(snapshot)) return undefined
  if (assigned.kind === 'damaged') return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  if (!target.fallback && target.source !== 'local') return undefined
  const runsOn = `kubelet runs on, and its next start uses ${describeSource(target.source)}`
  const unavailable = findUnavailable(snapshot, unit)
  if (unavailable === 'refused') return wait(snapshot, 'refused', `the assigned config was refused: ${runsOn}`)
  if (!target.fallback) return undefined
  if (unavailable === 'gone') return wait(snapshot, 'unknown', `the checkpoint of the assigned config is gone: ${runsOn}`)
  if (running.lost === true) return wait(snapshot, 'unknown', `the checkpoint of the running config is gone: ${runsOn}`)
  return undefined
}

/**
 * Kubelet runs and is not known to fail, and neither the disk nor its command line identifies the
 * running config. It may be the one in place: if that were replaced, the running config could no
 * longer be identified, and kubelet would be restarted once the assigned checkpoint is back.
 *
 * @returns undefined: the target may be activated
 */
export function findLeftInPlace({ snapshot, unit, target }: TargetSituation): Wait | undefined {
  const { nextStart, running, healthz } = snapshot
  if (nextStart.kind !== 'unknown' || nextStart.absent === true || running.kind !== 'unknown') return undefined
  if (unit.activity !== 'running' || isFailing(healthz)) return undefined
  if (!target.fallback || findUnavailable(snapshot, unit) !== 'gone') return undefined
  return wait(snapshot, 'unknown', `kubelet runs on with what is in place: ${nextStart.detail}`)
}

/**
 * A kubelet that runs on although its next start uses another config. A healthy kubelet is
 * restarted for what the cluster assigns, for a person or for a verdict, but never for a file that
 * was lost: what is assigned is unknown then, or a checkpoint is gone, and may come back. A refusal
 * restarts nothing either, even where no record names what runs. Only the next start moves, so that
 * a kubelet that exits starts with something that exists. Where nothing tells what runs, that does
 * not move either. Pure.
 */
import { describeSource } from './config-source.ts'
import { findVerdict } from './find-verdict.ts'
import { isFailing } from './health.ts'
import { failsNow } from './restart-limit.ts'
import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Wait } from './step.ts'
import { findUnavailable } from './target.ts'
import type { KnownUnit } from './unit-state.ts'
import { ASSIGNED_DAMAGED, wait } from './wait.ts'

/** undefined: kubelet is to run the target. */
export function findRunOn({ snapshot, unit, target }: TargetSituation): Wait | undefined {
  const { running, assigned } = snapshot
  if (unit.activity !== 'running' || running.kind !== 'known' || running.content === target.content) return undefined
  if (isCondemned(snapshot, unit) || failsNow(snapshot)) return undefined
  if (assigned.kind === 'damaged') return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  if (!target.fallback) return undefined
  const runsOn = `kubelet runs on, and its next start uses ${describeSource(target.source)}`
  const unavailable = findUnavailable(snapshot, unit)
  if (unavailable === 'refused') return wait(snapshot, 'refused', `what is assigned was refused: ${runsOn}`)
  if (unavailable === 'gone') return wait(snapshot, 'unknown', `the checkpoint of what is assigned is gone: ${runsOn}`)
  if (running.lost === true) return wait(snapshot, 'unknown', `the checkpoint of what kubelet runs is gone: ${runsOn}`)
  return undefined
}

/**
 * Kubelet runs and is not known to fail, and neither the disk nor its command line tells what it
 * runs. What is in place may be just that: replaced, it could not be told any more, and kubelet
 * would be restarted once the checkpoint of what is assigned is back.
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

/**
 * Whether a verdict sends the target elsewhere than to what runs: one on the installed kubelet, or
 * of damage that counts on each. `failsNow` looks for one on the kubelet that the process was
 * started as.
 */
function isCondemned(snapshot: Snapshot, { kubeletIdentity }: KnownUnit): boolean {
  const { running } = snapshot
  const verdict = running.kind === 'known' ? findVerdict(snapshot, running.content, kubeletIdentity) : undefined
  return verdict !== undefined && verdict.state !== 'refused'
}

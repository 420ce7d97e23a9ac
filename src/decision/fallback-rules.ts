/**
 * The rules about fallbacks: one that is lost, what one teaches that works, and what follows where
 * none works. Pure.
 */

import { isBroughtBack } from '../evidence/judge.ts'
import { HOUR_US } from '../values/durations.ts'
import { asCandidate, isOutOfReach } from './condemn-failure.ts'
import { type HeldSource, sameSource } from './config-source.ts'
import { findNodePause } from './find-pause.ts'
import { findByKey, findSuspended } from './find-verdict.ts'
import { diedOfLeavings } from './leavings.ts'
import { findRetrial, isDue, listReplaced, planRetrial } from './retrial.ts'
import { findStartWait } from './rollout-turn.ts'
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import type { Candidate, Target } from './target.ts'
import { isSteady, measureHealth } from './trial.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'
import type { Verdict } from './verdict.ts'

/** How long a node rests before its configs are tried again. */
const REST_IN_TRIALS = 3
/** A config that keeps failing after it was promoted fails sooner. */
const CLEAR_AFTER_US = 24 * HOUR_US

/**
 * A fallback without a checkpoint is local from now on, unless the cluster assigns it: then it is
 * downloaded again.
 */
export function forgetLostFallback({ snapshot }: TargetSituation): Step | undefined {
  const { assigned, lastKnownGood, previous } = snapshot
  // The damaged record may have named just that one.
  if (assigned.kind === 'damaged') return undefined
  const isLost = (held: HeldSource) => held.content === undefined && held.unreadable !== true && !sameSource(assigned.source, held.source)
  if (isLost(lastKnownGood)) return { kind: 'forget-fallback', record: 'last-known-good', source: lastKnownGood.source }
  if (isLost(previous)) return { kind: 'forget-fallback', record: 'previous', source: previous.source }
  return undefined
}

/**
 * A fallback that works proves that the config failed. A kubelet that recovers after everything
 * failed proves that the node did.
 */
export function learnFromFallback({ snapshot, target, candidates }: TargetSituation): Step | undefined {
  if (!isSteady(snapshot, target.key)) return undefined
  if (target.fallback && !target.atFault) {
    // Only the configs that this fallback stands in for. Never local: an administrator may have
    // changed its file since.
    const replaced = listReplaced(candidates, target)
    const failed = replaced.flatMap(({ verdict, source }) => (verdict?.state === 'provisional' && source !== 'local' ? [verdict] : []))
    const certain = failed.filter((verdict) => planRetrial(snapshot, verdict) === undefined && isBroughtBack(snapshot, verdict))
    return certain.length === 0 ? undefined : { kind: 'confirm', verdicts: certain }
  }
  // A node at fault fails every config, also an assigned one whose record is damaged at the moment.
  const suspects = target.atFault ? [...snapshot.verdicts.values()] : candidates.flatMap(({ verdict }) => verdict ?? [])
  const blamed = findBlamed(target, candidates)
  // Another config that is healthy for a minute says nothing of one that is healthy for longer
  // before it exits.
  const isOpen = ({ state, recurring }: Verdict) => state === 'provisional' && (target.atFault || recurring !== true)
  const provisional = suspects.filter((verdict) => isOpen(verdict) && verdict !== blamed)
  if (provisional.length === 0 || !provisional.every((verdict) => isBroughtBack(snapshot, verdict))) return undefined
  const why = 'kubelet is healthy again after other configs had failed too: the node was at fault'
  if (!target.atFault) return { kind: 'forgive', drop: provisional.map(({ key }) => key), requested: false, why }
  return forgiveOnce(
    provisional.filter((verdict) => verdict === target.verdict || verdict.acquitted !== true),
    why,
    { healthy: target.verdict?.key ?? target.key, keep: blamed === undefined ? [] : [{ ...blamed, leavesState: true }] },
  )
}

/**
 * The wanted config, where the fallback that the node rests on died of what another config left
 * behind. That the fallback failed too then says nothing about the node, and it is healthy now that
 * the file is deleted. If the wanted config were tried again, it would write the file anew.
 */
function findBlamed(target: Target, [wanted]: readonly Candidate[]): Verdict | undefined {
  if (!target.atFault || target.verdict === undefined || !diedOfLeavings(target.verdict)) return undefined
  const verdict = wanted?.key === target.key ? undefined : wanted?.verdict
  return verdict === undefined || diedOfLeavings(verdict) || verdict.bootId !== target.verdict.bootId ? undefined : verdict
}

/** A config that may not be at fault is tried again while a fallback keeps the node going. */
export function tryFailedAgain({ snapshot, target, candidates }: TargetSituation): Step | undefined {
  const retrial = findRetrial(snapshot, candidates, target)
  if (retrial === undefined || findNodePause(snapshot) !== undefined || !isDue(snapshot, retrial, target)) return undefined
  const { source, key } = retrial.verdict
  // The end of the pause is what it waits for.
  if (findStartWait(snapshot, { source, content: contentOfKey(key) })?.isPaused === true) return undefined
  return { kind: 'retry-failed', verdict: retrial.verdict, number: retrial.number, of: retrial.of }
}

/** What was tried again has been healthy for so long that its failure is forgotten. */
export function clearAfterLongHealth({ snapshot, target }: TargetSituation): Step | undefined {
  const verdict = findSuspended(snapshot, target.key)
  const trial = verdict && measureHealth(snapshot, target.key)
  if (verdict === undefined || trial === undefined || trial.elapsedUs < CLEAR_AFTER_US) return undefined
  return { kind: 'forgive', drop: [verdict.key], requested: false, why: 'kubelet has been healthy for a day with a config that had failed' }
}

/**
 * Where every config failed, the node rests on last-known-good until kubelet is healthy. If
 * last-known-good itself has gone bad (a kubelet upgrade while the node was at fault), kubelet
 * never will be: so now and then all configs are tried again.
 */
export function retryAfterRest(situation: TargetSituation): Step | undefined {
  const { snapshot, candidates } = situation
  const { health, now, policy, runtimeUp } = snapshot
  const restsOn = findRest(situation)
  if (restsOn === undefined || findNodePause(snapshot) !== undefined || runtimeUp === false || health?.subject !== restsOn) return undefined
  if (now.monotonicUs - health.subjectSinceUs < REST_IN_TRIALS * policy.trialUs) return undefined
  const provisional = candidates.flatMap(({ verdict }) => (verdict?.state === 'provisional' ? [verdict] : []))
  // There is nothing to try but what runs anyway.
  const isRest = ({ key }: Verdict) => contentOfKey(key) === contentOfKey(restsOn)
  if (provisional.every(isRest)) return undefined
  const why = 'every config has failed, and nothing has changed for long: all are tried again'
  // What it leaves on the node may be what the others fail with: they have a chance without it
  // first, each second time.
  const second = provisional.filter(({ acquitted, yielded }) => acquitted === true && yielded !== true)
  const first = provisional.filter((verdict) => !second.includes(verdict))
  if (first.every(isRest)) return forgiveOnce(provisional, why)
  return forgiveOnce(first, why, { keep: second.map((verdict) => ({ ...verdict, yielded: true })) })
}

/**
 * What the node rests on since everything has failed that it could start. A config without a
 * verdict may wait for a drained node or for its turn in a rollout: nobody knows for how long.
 */
function findRest({ snapshot, unit, target, candidates }: TargetSituation): TrialKey | undefined {
  if (target.atFault) return target.key
  const { nextStart } = snapshot
  if (nextStart.kind !== 'known' || !isOutOfReach(snapshot, target)) return undefined
  const { key: next } = asCandidate(nextStart.held, unit)
  const verdict = findByKey(snapshot.verdicts, next)
  const isLeft = candidates.every((candidate) => candidate.verdict !== undefined || candidate.key === target.key)
  return isLeft && next !== target.key && verdict?.state === 'provisional' ? next : undefined
}

interface ForgivenessContext {
  /** With which kubelet is healthy now. undefined: with none. */
  readonly healthy?: TrialKey
  /** What stays condemned. */
  readonly keep?: readonly Verdict[]
}

/**
 * A config that never passed a trial here may have left a file that made the others fail. So its
 * verdict is suspended and not dropped: it has no more tries than a config that had proved itself.
 */
function forgiveOnce(verdicts: readonly Verdict[], why: string, { healthy, keep = [] }: ForgivenessContext = {}): Step | undefined {
  const isSuspect = ({ key, source, doubtful, acquitted }: Verdict) =>
    source !== 'local' && (acquitted === true || (doubtful !== true && key !== healthy))
  const suspend = verdicts
    .filter(isSuspect)
    .map((verdict): Verdict => ({ ...verdict, acquitted: true, doubtful: true, retrials: verdict.retrials ?? 1 }))
  const drop = verdicts.flatMap((verdict) => (isSuspect(verdict) ? [] : [verdict.key]))
  return verdicts.length === 0 ? undefined : { kind: 'forgive', drop, suspend, keep, requested: false, why }
}

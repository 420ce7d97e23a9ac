// SPDX-License-Identifier: Apache-2.0
/**
 * The rules about fallbacks: one that is lost, what one teaches that works, what follows where none
 * works, when a failed config is tried again, and when a return to local is over. Pure.
 */

import { isBroughtBack } from '../evidence/judge.ts'
import { isExcused } from '../health/excuse.ts'
import { longestLifeOnTrialUs } from '../health/recurring-exits.ts'
import { type HeldSource, LOCAL_CONTENT, sameSource } from '../subject/config-source.ts'
import { contentOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import { HOUR_US } from '../values/durations.ts'
import { asCandidate, isOutOfReach } from './condemn-failure.ts'
import { findNodePause, findPause } from './find-pause.ts'
import { forgiveOnce, isForgivenSuspect, isOpen, PAUSES_US } from './forgiveness.ts'
import { isDamaged } from './held-sources.ts'
import { isLocalAssigned } from './left.ts'
import { trialOf } from './promote.ts'
import { listOfBoot } from './records.ts'
import { findStartWait, isAwaitedByOthers } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import type { Candidate, Target, TargetSituation } from './target.ts'
import { isSteady, measureHealth } from './trial.ts'
import { findByKey, findFormer, findSuspended, isOfResets, REASONS, type Verdict } from './verdict.ts'

/** How long a node rests before its configs are tried again. */
const REST_IN_TRIALS = 3
/** A config that keeps failing after it was promoted fails sooner. */
const CLEAR_AFTER_US = 24 * HOUR_US
const OTHER_POLICY = /\bconfigured policy "[^"]*" differs from state checkpoint policy\b/

/**
 * A fallback without a checkpoint is forgotten, unless the cluster assigns it: then it is
 * downloaded again. Previous takes the place of last-known-good: it has run here, and this kubelet
 * may not take local any more.
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
    const replaced = listVerdicts(listReplaced(candidates, target))
    const failed = replaced.filter(({ state, source }) => state === 'provisional' && source !== 'local')
    const certain = failed.filter((verdict) => planRetrial(snapshot, verdict) === undefined && isBroughtBack(snapshot, verdict))
    return certain.length === 0 ? undefined : { kind: 'confirm', verdicts: certain }
  }
  if (target.atFault && !outlivesExits(snapshot)) return undefined
  // A node at fault fails every config, also an assigned one whose record is damaged at the moment.
  const suspects = target.atFault ? [...snapshot.verdicts.values()] : listVerdicts(candidates)
  const blamed = findBlamed(target, candidates)
  // Another config that is healthy for a minute says nothing of one that is healthy for longer
  // before it exits, nor of one with which the node resets.
  const mayBeNodes = (verdict: Verdict) =>
    target.atFault || (verdict.recurring !== true && !isOfResets(verdict) && !isForgivenSuspect(snapshot, verdict))
  const provisional = suspects.filter((verdict) => isOpen(verdict) && mayBeNodes(verdict) && verdict !== blamed)
  if (provisional.length === 0 || !provisional.every((verdict) => isBroughtBack(snapshot, verdict))) return undefined
  const why = 'kubelet is healthy again after other configs had failed too: the node was at fault'
  if (!target.atFault) return { kind: 'forgive', drop: provisional.map(({ key }) => key), requested: false, why }
  return forgiveOnce(
    snapshot,
    provisional.filter((verdict) => verdict === target.verdict || verdict.acquitted !== true),
    why,
    { healthy: target.verdict?.key ?? target.key, keep: blamed === undefined ? [] : [{ ...blamed, leavesState: true }] },
  )
}

/**
 * Whether kubelet has run for longer than it did before its recent exits with this config. Where
 * each of them came after a minute of health, another such minute does not show that the node is
 * well, and the others would be tried again in vain after each of them.
 */
function outlivesExits({ running, health, now, policy }: Snapshot): boolean {
  if (running.kind !== 'known' || health === undefined) return false
  return now.monotonicUs - running.startedAtUs > longestLifeOnTrialUs(health, now.monotonicUs, policy)
}

function listVerdicts(candidates: readonly Candidate[]): readonly Verdict[] {
  return candidates.flatMap(({ verdict }) => verdict ?? [])
}

/**
 * The wanted config, where the fallback that the node rests on died of what another config left
 * behind. The failure of the fallback then says nothing about the node, and it is healthy now that
 * the file is deleted. If the wanted config were tried again, it would write the file anew.
 */
function findBlamed(target: Target, [wanted]: readonly Candidate[]): Verdict | undefined {
  // Only a target at fault has a verdict, or a local that is all there is.
  if (target.verdict === undefined || !diedOfLeavings(target.verdict)) return undefined
  const verdict = wanted?.verdict
  return verdict === undefined || diedOfLeavings(verdict) || verdict.bootId !== target.verdict.bootId ? undefined : verdict
}

/** A config that may not be at fault is tried again while a fallback keeps the node going. */
export function tryFailedAgain(situation: TargetSituation): Step | undefined {
  const { snapshot, target, candidates } = situation
  if (findNodePause(snapshot) !== undefined) return undefined
  const recovered = findRecovered(situation)
  if (recovered !== undefined)
    return { kind: 'retry-failed', verdict: recovered.verdict, number: recovered.number, of: recovered.of, recovered: true }
  const retrial = findRetrial(snapshot, candidates, target)
  if (retrial === undefined || !isDue(snapshot, retrial, target)) return undefined
  // Once another config is in place, nobody knows a fallback that is on no record.
  if (isDamaged(snapshot, 'last-known-good') && ['running', 'passed'].includes(trialOf(snapshot, target.key).kind)) return undefined
  const { source, key } = retrial.verdict
  // The end of the pause is what it waits for.
  if (findStartWait(snapshot, { source, content: contentOfKey(key) })?.isPaused === true) return undefined
  return { kind: 'retry-failed', verdict: retrial.verdict, number: retrial.number, of: retrial.of }
}

/**
 * The config that kubelet goes on with as long as its fallback is out of reach, and with which
 * kubelet is healthy again: the fallback would only end a kubelet that is well.
 */
function findRecovered({ snapshot, unit, target }: TargetSituation): Retrial | undefined {
  const { nextStart } = snapshot
  if (!target.fallback || target.atFault || nextStart.kind !== 'known' || !isOutOfReach(snapshot, target)) return undefined
  const verdict = findByKey(snapshot.verdicts, asCandidate(nextStart.held, unit).key)
  // A config that evidence speaks against was healthy all the time.
  if (verdict === undefined || REASONS[verdict.reason].foundBy !== 'health' || !isSteady(snapshot, verdict.key)) return undefined
  return outlivesExits(snapshot) ? planRetrial(snapshot, verdict) : undefined
}

/** Forgets the failure of a config that was tried again and has been healthy for long since. */
export function clearAfterLongHealth({ snapshot, target }: TargetSituation): Step | undefined {
  const verdict = findSuspended(snapshot, target.key)
  if (verdict === undefined || (measureHealth(snapshot, target.key)?.elapsedUs ?? 0) < CLEAR_AFTER_US) return undefined
  return { kind: 'forgive', drop: [verdict.key], requested: false, why: 'kubelet has been healthy for a day with a config that had failed' }
}

/**
 * Where every config failed, the node rests on last-known-good until kubelet is healthy. If
 * last-known-good itself has gone bad (a kubelet upgrade while the node was at fault), kubelet
 * never will be: so now and then all configs are tried again.
 */
export function retryAfterRest(situation: TargetSituation): Step | undefined {
  const { snapshot, candidates } = situation
  const { health, now, policy, runtimeUp, changesRuntime } = snapshot
  const restsOn = findRest(situation)
  if (restsOn === undefined || findNodePause(snapshot) !== undefined || health?.subject !== restsOn) return undefined
  // After a while, the node may rest on the very config that keeps the runtime down.
  if (isExcused(health, { at: now, runtimeUp, changesRuntime })) return undefined
  // By content: with a varying identity, each start is another subject.
  if (now.monotonicUs - (health.contentSinceUs ?? health.subjectSinceUs) < REST_IN_TRIALS * policy.trialUs) return undefined
  const provisional = listVerdicts(candidates).filter(isOpen)
  // Where only the running config has failed, there is nothing to try but what runs anyway.
  const isRest = ({ key }: Verdict) => contentOfKey(key) === contentOfKey(restsOn)
  if (provisional.every(isRest)) return undefined
  const why = 'every config has failed, and nothing has changed for long: all are tried again'
  // A suspect may leave something on the node that makes the others fail. So every second time, the
  // others are tried first without it.
  const second = provisional.filter(({ acquitted, yielded }) => acquitted === true && yielded !== true)
  const first = provisional.filter((verdict) => !second.includes(verdict))
  if (first.every(isRest)) return forgiveOnce(snapshot, provisional, why)
  return forgiveOnce(snapshot, first, why, { keep: second.map((verdict) => ({ ...verdict, yielded: true })) })
}

/**
 * The config that the node rests on since everything has failed that it could start. A config
 * without a verdict may wait for a drained node or for its turn in a rollout: nobody knows for how
 * long.
 */
function findRest({ snapshot, unit, target, candidates }: TargetSituation): TrialKey | undefined {
  if (target.atFault) return target.key
  const { nextStart } = snapshot
  if (nextStart.kind !== 'known' || !isOutOfReach(snapshot, target)) return undefined
  const { key: next } = asCandidate(nextStart.held, unit)
  const verdict = findByKey(snapshot.verdicts, next)
  const isLeft = candidates.every((candidate) => candidate.verdict !== undefined || candidate.key === target.key)
  return isLeft && verdict?.state === 'provisional' ? next : undefined
}

/**
 * Whether kubelet died of what another config left behind. Its CPU and memory managers keep their
 * state in files below --root-dir, with the policy that wrote them. Kubelet exits where the policy
 * of its config is another, until somebody deletes the file (kubernetes issue 95041). Rule:
 * `restoreState`, pkg/kubelet/cm/cpumanager/state/state_checkpoint.go and
 * memorymanager/state/state_checkpoint.go.
 */
function diedOfLeavings({ detail }: Pick<Verdict, 'detail'>): boolean {
  return OTHER_POLICY.test(detail)
}

/** Kubelet failed with local, and the local config is another one by now: it is tried again. */
export function retryLocal({ snapshot, unit, target }: TargetSituation): Step | undefined {
  const { localConfig } = snapshot
  const verdict = findByKey(snapshot.verdicts, trialKey(LOCAL_CONTENT, unit.kubeletIdentity))
  if (!isLocalAssigned(snapshot) || localConfig === undefined || verdict?.state !== 'provisional' || verdict.localConfig === localConfig)
    return undefined
  // At most once for each time that what runs instead has been well.
  if (!target.fallback || target.atFault || !isSteady(snapshot, target.key) || findPause(snapshot) !== undefined) return undefined
  const why = 'the local config has changed since kubelet failed with it'
  // On record until the return is over: see `isExempt`.
  return { kind: 'forgive', drop: [], suspend: [verdict], requested: false, why }
}

/** Kubelet has been healthy with local for a whole trial: nothing is left to go back to. */
export function finishReturn({ snapshot, unit, target }: TargetSituation): Step | undefined {
  if (!isLocalAssigned(snapshot) || target.source !== 'local') return undefined
  if (snapshot.verdicts.get(target.key)?.state === 'refused' && isSteady(snapshot, target.key)) {
    const former = findFormer(snapshot, target.key)
    const [drop, suspend] = former === undefined ? [[target.key], []] : [[], [former]]
    return { kind: 'forgive', drop, suspend, requested: false, why: 'kubelet is healthy with the local config that was refused' }
  }
  const { wiring } = unit
  if (wiring.kind !== 'ready' || ((snapshot.left ?? []).length === 0 && snapshot.leftDamaged !== true)) return undefined
  return measureHealth(snapshot, target.key)?.remainingUs === 0 ? { kind: 'forget-left', key: target.key, wiring } : undefined
}

/** Each further pause is twice the one before, between these. */
const FIRST_FURTHER_US = 12 * HOUR_US
const LAST_FURTHER_US = 96 * HOUR_US

interface Retrial {
  readonly verdict: Verdict
  /** For how long the fallback is healthy before. */
  readonly pauseUs: number
  /** The number of this retrial, and of all that there will be. */
  readonly number: number
  readonly of: number
}

/**
 * Which failed configs are tried again. A short fault of the node looks like a failure of the
 * config that happened to run. So a config that may not be at fault, as one that had proved itself,
 * is tried again before its verdict is confirmed, at growing intervals, while a fallback keeps the
 * node going. Damage that no restart undoes is done only once.
 *
 * @returns undefined: what the verdict condemns is not tried again by itself
 */
function planRetrial(snapshot: Snapshot, verdict: Verdict): Retrial | undefined {
  const { health, now, restarts } = snapshot
  const { key, state, damage, source, doubtful, leavesState, bootId = now.bootId, retrials = 0 } = verdict
  if (state !== 'provisional' || damage === 'one-way') return undefined
  // As a fallback, local only stands in for what is tried again.
  if (source === 'local' && !isLocalAssigned(snapshot)) return undefined
  // Other nodes wait for what this one has to say.
  const pauses = isAwaitedByOthers(snapshot, source, contentOfKey(key)) ? PAUSES_US.slice(0, 1) : PAUSES_US
  const pauseUs = pauses[retrials]
  if (doubtful === true && pauseUs !== undefined) return { verdict, pauseUs, number: retrials + 1, of: pauses.length }
  // A request without an answer may not have reached systemd: nobody knows who started what runs.
  const last = listOfBoot(restarts, now).at(-1)
  const isUnanswered = last !== undefined && (last.outcome === undefined || last.outcome.mayBeTaken === true)
  const isByOthers = isUnanswered || health?.startedByOthers === true || health?.process?.startedByOthers === true
  // Rule 50: a boot, or a restart by an operator, may have cured what the config failed with. Then
  // it proves nothing that the fallback is healthy. Reboots are no such cure where the config
  // failed by them.
  if (leavesState === true || isOfResets(verdict) || (!isByOthers && bootId === now.bootId)) return undefined
  return {
    verdict,
    pauseUs: PAUSES_US[retrials] ?? furtherPauseUs(retrials),
    number: retrials + 1,
    of: Math.max(PAUSES_US.length, retrials + 1),
  }
}

/**
 * Each try has failed so far, so the next one is less likely to help. A config that makes its
 * fallbacks fail, too, would otherwise stop a node again and again.
 */
function furtherPauseUs(retrials: number): number {
  return Math.min(FIRST_FURTHER_US * 2 ** (retrials - PAUSES_US.length), LAST_FURTHER_US)
}

/** The candidates that the target stands in for: those before it. */
function listReplaced(candidates: readonly Candidate[], target: Pick<Target, 'content'>): readonly Candidate[] {
  const end = candidates.findIndex(({ content }) => content === target.content)
  return candidates.slice(0, Math.max(0, end))
}

/** The one that comes next, due or not. */
export function findRetrial(snapshot: Snapshot, candidates: readonly Candidate[], target: Target): Retrial | undefined {
  if (target.atFault) return undefined
  const planned = listVerdicts(listReplaced(candidates, target)).flatMap((verdict) => planRetrial(snapshot, verdict) ?? [])
  return planned.find((retrial) => isDue(snapshot, retrial, target)) ?? planned[0]
}

/**
 * By either clock: CLOCK_MONOTONIC ends with the boot, and the wall clock may be set back.
 */
function isDue(snapshot: Snapshot, { verdict, pauseUs }: Retrial, target: Pick<Target, 'key'>): boolean {
  if (!isSteady(snapshot, target.key)) return false
  const { now } = snapshot
  const healthyUs = measureHealth(snapshot, target.key)?.elapsedUs ?? 0
  // A node without a clock of its own boots in the past, and sets its clock a moment later.
  const atMostUs = verdict.bootId === now.bootId ? now.monotonicUs - (verdict.atUs ?? 0) : Number.POSITIVE_INFINITY
  return healthyUs >= pauseUs || Math.min(atMostUs, (now.wallMs - verdict.atWallMs) * 1000) >= pauseUs
}

/** When the fallback will have been healthy for long enough. undefined: it is not healthy now. */
export function findRetrialUs(snapshot: Snapshot, { pauseUs }: Retrial, target: Pick<Target, 'key'>): number | undefined {
  const trial = measureHealth(snapshot, target.key)
  return trial && snapshot.now.monotonicUs - trial.elapsedUs + pauseUs
}

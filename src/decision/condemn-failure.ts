// SPDX-License-Identifier: Apache-2.0
/**
 * The rule for a kubelet that fails with what it starts with, and what follows: a verdict, or one
 * more restart for a config that had proved itself. Pure.
 */

import { findEvidenceFailure } from '../evidence/judge.ts'
import { isExcuseUsedUp } from '../health/excuse.ts'
import { findFailure } from '../health/failure.ts'
import type { HealthRecord } from '../health/fold.ts'
import { KUBELETS_OF_NO_UPGRADE } from '../health/recurring-exits.ts'
import { needsStart } from '../health/sample.ts'
import { isStartAwaited } from '../health/starts.ts'
import { describeSource, type HeldSource, nameLost } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { HOUR_US } from '../values/durations.ts'
import { listUndrained } from './acceptance.ts'
import { findNodePause } from './find-pause.ts'
import { findRunning } from './held-sources.ts'
import { listLeft, runsLocal } from './left.ts'
import { listOfBoot, type RestartRecord } from './records.ts'
import { findStartWait } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { type Candidate, isLocalWanted, type JudgedConfig, nextAfter, type Target, type TargetSituation } from './target.ts'
import { findTrialFailure } from './trial.ts'
import { type ConfigFailure, findByKey, findFormer, findSuspended, isOfFailure, isOfResets, type Verdict } from './verdict.ts'

/** Only what kubelet starts with next can fail. */
export function condemnFailure(situation: TargetSituation): Step | undefined {
  const { snapshot, unit, target, candidates } = situation
  const { health, nextStart } = snapshot
  if (findNodePause(snapshot) !== undefined || snapshot.cannotStart !== undefined || unit.wiring.kind === 'broken') return undefined
  // Local with nothing left to go back to is the administrator's.
  if (nextStart.kind !== 'known' || (isLocalWanted(snapshot) && candidates.length === 1)) return undefined
  const failed = asCandidate(nextStart.held, unit)
  const verdict = findByKey(snapshot.verdicts, failed.key)
  if (target.atFault) return condemnRest(situation, failed, verdict)
  if (health?.subject !== failed.key || (verdict !== undefined && !isInSpiteOfRefusal(snapshot, failed, verdict))) return undefined
  const isReplaced = isBeingReplaced(snapshot, target, failed)
  const failure = isReplaced ? undefined : (assessHealth(snapshot, health, unit) ?? findTrialFailure(snapshot, failed.key))
  return failure === undefined ? condemnByEvidence(situation, failed, health) : answerFailure(situation, failed, failure, health)
}

/**
 * A config that the node rests on since every other one has failed, too. If the node resets with
 * it, it is left for one with which kubelet only fails.
 */
function condemnRest({ snapshot }: TargetSituation, { key }: JudgedConfig, known: Verdict | undefined): Step | undefined {
  const failure = findTrialFailure(snapshot, key)
  if (known === undefined || failure === undefined) return undefined
  return { kind: 'condemn', verdict: { ...known, ...failure, ...stamp(snapshot), resetsNode: true }, next: undefined, requested: false }
}

/**
 * Kubelet gets a refused local all the same where nothing else is left. While it runs something
 * else, preflight is asked about local again, and its answer stands.
 */
function isInSpiteOfRefusal(snapshot: Snapshot, { source }: JudgedConfig, { state }: Verdict): boolean {
  return source === 'local' && state === 'refused' && (snapshot.running.kind !== 'known' || runsLocal(snapshot))
}

/**
 * Judges the process that runs, also where its kubelet was upgraded on disk since it started, and
 * where the restart that replaces it is held up.
 */
function condemnByEvidence(situation: TargetSituation, next: JudgedConfig, health: HealthRecord): Step | undefined {
  const { snapshot } = situation
  const { running, verdicts } = snapshot
  if (running.kind !== 'known' || findByKey(verdicts, running.key) !== undefined) return undefined
  const source = running.content === next.content ? next.source : findRunning(snapshot)?.source
  if (source === undefined) return undefined
  const failed = { source, content: running.content, key: running.key }
  if (isMakingWay(situation, health, failed)) return undefined
  const failure = findEvidenceFailure(snapshot)
  return failure && answerFailure(situation, failed, failure, health)
}

/** Whether the restart that ends this process is requested, and kubelet still stops. */
function isMakingWay({ snapshot, unit }: TargetSituation, health: HealthRecord, failed: JudgedConfig): boolean {
  const { restartDueUntilUs: dueUntilUs } = health
  const isDue = dueUntilUs !== undefined && snapshot.now.monotonicUs < dueUntilUs
  return isDue && isStartAwaited(health, unit) && !isTryOutstanding(snapshot, unit, failed)
}

function answerFailure(situation: TargetSituation, failed: JudgedConfig, failure: ConfigFailure, health: HealthRecord): Step {
  const { snapshot, unit } = situation
  if (mayTryAgain(situation, health, failed, failure)) {
    return { kind: 'try-again', source: failed.source, failure, record: recordAnotherTry(snapshot, unit, failed) }
  }
  const verdict = makeVerdict(snapshot, failed, failure)
  return { kind: 'condemn', verdict, next: nextInReach(situation, verdict)?.source, requested: false }
}

/**
 * Where the node goes with this verdict: not to what waits for a drained node then, or cannot be
 * activated.
 */
export function nextInReach(situation: TargetSituation, verdict: Verdict): Candidate | undefined {
  const { snapshot, target, candidates } = situation
  const failed = { content: contentOfKey(verdict.key) }
  const isGone = isOutOfReach({ ...snapshot, verdicts: new Map([...snapshot.verdicts, [verdict.key, verdict]]) }, target)
  const others = isGone ? candidates.filter(({ content }) => content !== target.content) : candidates
  return nextAfter({ candidates: others }, failed) ?? nextAfter(situation, failed)
}

/**
 * Where what kubelet starts with next is no longer the target, the target replaces it anyway. But
 * if the target cannot be had (a full disk), kubelet must not be left in a crash loop.
 */
export function isBeingReplaced(snapshot: Snapshot, target: Target, next: Pick<Candidate, 'content'>): boolean {
  return next.content !== target.content && !isOutOfReach(snapshot, target)
}

/**
 * The target could not be checked or activated lately, is still checked, or waits for a drained
 * node, for its turn in a rollout, or for the end of a pause.
 */
export function isOutOfReach(snapshot: Snapshot, target: Target): boolean {
  if (snapshot.preflightPending.has(target.key) || listUndrained(snapshot, target).length > 0) return true
  if (findStartWait(snapshot, target) !== undefined) return true
  const about = describeSource(target.source)
  return snapshot.troubles.some((trouble) => (trouble.step === 'activate' || trouble.step === 'preflight') && trouble.about === about)
}

/**
 * The config that kubelet starts with next, as a candidate. A checkpoint that is lost has a content
 * that equals no other.
 */
export function asCandidate({ source, content = nameLost(source) }: HeldSource, unit: KnownUnit): JudgedConfig {
  return { source, content, key: trialKey(content, unit.kubeletIdentity) }
}

export function assessHealth(snapshot: Snapshot, health: HealthRecord, unit: KnownUnit): ConfigFailure | undefined {
  const { now, runtimeUp, changesRuntime, portTaken, policy } = snapshot
  return findFailure(health, { unit, at: now, runtimeUp, changesRuntime, portTaken }, policy)
}

/** A config that fails again sooner is no victim of a short fault. */
const AGAIN_AFTER_US = 24 * HOUR_US
/** Even where the hourly limit allows a single restart. */
const AS_OTHERS_US = 4 * HOUR_US
/**
 * Where systemd refuses every one, a fallback has to be what kubelet starts with at the next boot.
 */
const MOST_REQUESTS = 3

function stamp({ now: { wallMs, bootId, monotonicUs } }: Snapshot): Pick<Verdict, 'atWallMs' | 'bootId' | 'atUs'> {
  return { atWallMs: wallMs, bootId, atUs: monotonicUs }
}

export function makeVerdict(snapshot: Snapshot, failed: JudgedConfig, failure: ConfigFailure): Verdict {
  const { key, source } = failed
  const { health, now } = snapshot
  const { reason, detail, damage, evidence } = failure
  const retrial = findSuspended(snapshot, key) ?? findFormer(snapshot, key)
  // Rule 42: a config may have killed the runtime, and may be its victim.
  const wasSilent = health?.runtimeDownSinceUs !== undefined || isExcuseUsedUp(health?.excusedExits, now.monotonicUs)
  const isRuntimes = wasSilent && snapshot.changesRuntime !== true
  const isDoubtful = hasEverPassed(snapshot, failed) || failure.doubtful === true || retrial?.doubtful === true || isRuntimes
  // One-way damage is proof enough: the health of a fallback adds nothing to it.
  const state = damage === 'one-way' ? 'confirmed' : 'provisional'
  return {
    // One that holds on any kubelet is still the same verdict.
    key: retrial?.key ?? key,
    state,
    reason,
    detail,
    source,
    ...stamp(snapshot),
    damage,
    ...(evidence !== undefined && { evidence }),
    ...(source === 'local' && noteLocalConfig(snapshot)),
    ...(isDoubtful && { doubtful: true }),
    ...(retrial?.retrials !== undefined && { retrials: retrial.retrials }),
    ...(retrial?.acquitted === true && { acquitted: true }),
    ...((failure.recurring ?? retrial?.recurring) === true && { recurring: true }),
    ...(retrial !== undefined && isOfResets(retrial) && !hasPassed(snapshot, key) && { resetsNode: true }),
    ...(((failure.anyKubelet ?? retrial?.anyKubelet) === true || hasFailedAsOthers(snapshot, key)) && { anyKubelet: true }),
  }
}

/**
 * One kubelet after another has failed with it, so the next start may make another one again. A few
 * upgrades never look like that.
 */
function hasFailedAsOthers({ verdicts, suspendedVerdicts, now }: Snapshot, key: TrialKey): boolean {
  const isRecent = ({ atWallMs }: Verdict) => Math.abs(now.wallMs - atWallMs) * 1000 < AS_OTHERS_US
  const isOfOther = (verdict: Verdict) => verdict.key !== key && contentOfKey(verdict.key) === contentOfKey(key)
  const failed = [...verdicts.values(), ...suspendedVerdicts.values()].filter(
    (each) => isOfOther(each) && isOfFailure(each) && isRecent(each),
  )
  return failed.filter(({ reason }) => reason !== 'requested').length + 1 >= KUBELETS_OF_NO_UPGRADE
}

/**
 * The hash of the local config that kubelet was set to start with, also where the file has changed
 * since.
 */
function noteLocalConfig(snapshot: Snapshot): Pick<Verdict, 'localConfig'> {
  const localConfig = listLeft(snapshot).length === 0 ? undefined : (snapshot.triedLocalConfig ?? snapshot.localConfig)
  return localConfig === undefined ? {} : { localConfig }
}

type Judged = Pick<TargetSituation, 'snapshot' | 'unit'>

/**
 * A config that ran for a whole trial here is restarted once before it is condemned: a short fault
 * of the node is more likely than a fault of the config.
 */
export function mayTryAgain(
  { snapshot, unit }: Judged,
  health: HealthRecord,
  failed: Pick<Candidate, 'key'>,
  failure: ConfigFailure,
): boolean {
  // Rule 25: over many starts it has failed, so one more start would show nothing.
  if (failure.damage === 'one-way' || failure.recurring === true) return false
  const { triedAgainUs } = health
  const wasLately = triedAgainUs !== undefined && snapshot.now.monotonicUs - triedAgainUs < AGAIN_AFTER_US
  return hasProvedItself(snapshot, failed.key) && (!wasLately || isTryOutstanding(snapshot, unit, failed))
}

/**
 * Systemd refused the restart, or the agent died before it requested it: the process that failed
 * still runs, and shows nothing of another start.
 */
function isTryOutstanding({ restarts, now }: Snapshot, unit: KnownUnit, { key }: Pick<Candidate, 'key'>): boolean {
  const isOutstanding = ({ target, invocationBefore, outcome }: RestartRecord) =>
    target === key && invocationBefore === unit.invocationId && outcome?.ok !== true
  const thisBoot = listOfBoot(restarts, now)
  const last = thisBoot.at(-1)
  return last !== undefined && isOutstanding(last) && thisBoot.filter(isOutstanding).length < MOST_REQUESTS
}

/** undefined: systemd restarts kubelet by itself in a moment. */
function recordAnotherTry({ now, policy }: Snapshot, unit: KnownUnit, { key }: Pick<Candidate, 'key'>): RestartRecord | undefined {
  // With `RestartSteps=`, systemd may wait for a quarter of an hour.
  const waitsUs = (unit.restartWait?.untilUs ?? now.monotonicUs) - now.monotonicUs
  if (unit.activity === 'auto-restart' && waitsUs <= policy.toleranceUs) return undefined
  return {
    bootId: now.bootId,
    atUs: now.monotonicUs,
    target: key,
    fallback: false,
    exempt: true,
    invocationBefore: unit.invocationId,
    failed: needsStart(unit.activity),
    outcome: undefined,
  }
}

function hasProvedItself(snapshot: Snapshot, key: TrialKey): boolean {
  return hasPassed(snapshot, key) && findSuspended(snapshot, key) === undefined
}

/** Only the last trial that passed is recorded, but what was promoted has passed one, too. */
export function hasEverPassed(snapshot: Snapshot, { key, content }: Pick<Candidate, 'key' | 'content'>): boolean {
  const wasPromoted = [snapshot.lastKnownGood, snapshot.previous].some((held) => held.source !== 'local' && held.content === content)
  return findSuspended(snapshot, key) === undefined && (wasPromoted || hasPassed(snapshot, key))
}

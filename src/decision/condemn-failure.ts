/** The rule for a kubelet that fails with what it starts with. Pure. */

import { findEvidenceFailure } from '../evidence/judge.ts'
import { listUndrained } from './acceptance.ts'
import { describeSource, type HeldSource } from './config-source.ts'
import { findFailure, type HealthFailure } from './find-failure.ts'
import { findNodePause } from './find-pause.ts'
import { findByKey } from './find-verdict.ts'
import type { HealthRecord } from './health.ts'
import { makeVerdict, mayTryAgain, recordAnotherTry } from './judge-failure.ts'
import { runsLocal } from './left.ts'
import { findStartWait } from './rollout-turn.ts'
import { nextAfter, type TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { type Candidate, isLocalWanted, type Target } from './target.ts'
import { findRebootFailure } from './trial-boots.ts'
import { trialKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'
import type { Verdict } from './verdict.ts'

type Failed = Omit<Candidate, 'verdict'>

/** Only what kubelet starts with next can fail. */
export function condemnFailure(situation: TargetSituation): Step | undefined {
  const { snapshot, unit, target, candidates } = situation
  const { health, nextStart } = snapshot
  if (findNodePause(snapshot) !== undefined || snapshot.cannotStart !== undefined || unit.wiring.kind === 'broken' || target.atFault)
    return undefined
  // Local with nothing left to go back to is the administrator's.
  if (nextStart.kind !== 'known' || (isLocalWanted(snapshot) && candidates.length === 1)) return undefined
  const failed = asCandidate(nextStart.held, unit)
  if (isBeingReplaced(snapshot, target, failed)) return undefined
  const verdict = findByKey(snapshot.verdicts, failed.key)
  if (health?.subject !== failed.key || (verdict !== undefined && !isInSpiteOfRefusal(snapshot, failed, verdict))) return undefined
  const failure = assessHealth(snapshot, health, unit) ?? findRebootFailure(snapshot, failed.key)
  return failure === undefined ? condemnByEvidence(situation, failed, health) : answerFailure(situation, failed, failure, health)
}

/**
 * Kubelet gets a refused local all the same where nothing else is left. While it runs something
 * else, preflight is asked about local again, and its answer stands.
 */
function isInSpiteOfRefusal(snapshot: Snapshot, { source }: Failed, { state }: Verdict): boolean {
  return source === 'local' && state === 'refused' && (snapshot.running.kind !== 'known' || runsLocal(snapshot))
}

/** Judges the process that runs, also where its kubelet was upgraded on disk since it started. */
function condemnByEvidence(situation: TargetSituation, next: Failed, health: HealthRecord): Step | undefined {
  const { running, verdicts } = situation.snapshot
  if (running.kind !== 'known' || running.content !== next.content || findByKey(verdicts, running.key) !== undefined) return undefined
  const failure = findEvidenceFailure(situation.snapshot)
  return failure && answerFailure(situation, { ...next, key: running.key }, failure, health)
}

function answerFailure(situation: TargetSituation, failed: Failed, failure: HealthFailure, health: HealthRecord): Step {
  const { snapshot, unit } = situation
  if (mayTryAgain(situation, health, failed, failure)) {
    return { kind: 'try-again', source: failed.source, failure, record: recordAnotherTry(snapshot, unit, failed) }
  }
  return { kind: 'condemn', verdict: makeVerdict(snapshot, failed, failure), next: nextAfter(situation, failed)?.source, requested: false }
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
 * What kubelet starts with next, as a candidate. A checkpoint that is lost has a content that
 * equals no other.
 */
export function asCandidate(
  { source, content = `missing:${describeSource(source)}` }: HeldSource,
  unit: KnownUnit,
): Omit<Candidate, 'verdict'> {
  return { source, content, key: trialKey(content, unit.kubeletIdentity) }
}

export function assessHealth(snapshot: Snapshot, health: HealthRecord, unit: KnownUnit): HealthFailure | undefined {
  const { now, runtimeUp, changesRuntime, portTaken, policy } = snapshot
  return findFailure(health, { unit, at: now, runtimeUp, changesRuntime, portTaken }, policy)
}

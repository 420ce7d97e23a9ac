// SPDX-License-Identifier: Apache-2.0
/** How far a trial is, and the rules for one that has passed. Pure. */

import { describeMissingEvidence, listUnknownEvidence } from '../evidence/judge.ts'
import { outlivesTrials } from '../health/recurring-exits.ts'
import { type ConfigSource, sameSource } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, identityOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import { findRunning, isDamaged } from './held-sources.ts'
import { isLocalAssigned } from './left.ts'
import { owesProof } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { standsIn, type Target, type TargetSituation } from './target.ts'
import { measureTrial } from './trial.ts'
import { findByKey, findSuspended } from './verdict.ts'

/**
 * `none`: another config runs, or kubelet is not healthy. `over`: its time is over, and it has not
 * passed.
 */
type TrialState =
  | { readonly kind: 'none' | 'passed' }
  | { readonly kind: 'running'; readonly endsAtUs: number }
  /** `but`: what it still waits for, as in `trial of X is over, but ...`. */
  | { readonly kind: 'over'; readonly but: string }

/** The trial of what runs. */
export function trialOf(snapshot: Snapshot, key: TrialKey): TrialState {
  const trial = measureTrial(snapshot, key)
  if (trial === undefined) return { kind: 'none' }
  if (trial.remainingUs > 0) return { kind: 'running', endsAtUs: trial.endsAtUs }
  const missing = describeMissingEvidence(snapshot, key)
  if (missing !== undefined) return { kind: 'over', but: missing }
  if (!isInSlowLoop(snapshot, key)) return { kind: 'passed' }
  return { kind: 'over', but: 'is over, but shows nothing: kubelet has exited again and again after one' }
}

/**
 * Kubelet exits again and again with it, each time after a whole trial, or it has failed by that: a
 * trial shows nothing. A config that is last-known-good already stays that.
 */
function isInSlowLoop({ health, now, policy, lastKnownGood, suspendedVerdicts }: Snapshot, key: TrialKey): boolean {
  if (lastKnownGood.content === contentOfKey(key)) return false
  if (findSuspended({ suspendedVerdicts }, key)?.recurring === true) return true
  return health?.subject === key && outlivesTrials(health, now.monotonicUs, policy)
}

/**
 * The first step records which content passed its trial, on which kubelet. The second moves
 * last-known-good. That is so also for a config that is no longer assigned, but goes on since the
 * assigned one was refused.
 */
export function promote({ snapshot, target }: TargetSituation): Step | undefined {
  const { nextStart, lastKnownGood, running } = snapshot
  // Last-known-good is local with it, whatever goes on.
  if (target.source === 'local' || isLocalAssigned(snapshot) || target.verdict !== undefined) return undefined
  // Where nobody knows what last-known-good was, a stand-in that passes its trial takes its place.
  const isStandIn = standsIn(target) && !(isDamaged(snapshot, 'last-known-good') && snapshot.assigned.kind === 'source')
  if (isStandIn && target.content !== lastKnownGood.content) return undefined
  if (nextStart.kind !== 'known' || nextStart.held.content !== target.content) return undefined
  if (!hasPassed(snapshot, target.key)) {
    return trialOf(snapshot, target.key).kind === 'passed' ? { kind: 'prove', key: target.key } : undefined
  }
  // The checkpoint of the target is gone: it could not be the fallback of another config.
  if (nextStart.held.onlyInPlace === true) return undefined
  // A pause keeps the version that kubelet starts with, also where only the version is new.
  if (!sameSource(nextStart.held.source, target.source)) return undefined
  if (isStandIn || sameSource(lastKnownGood.source, target.source)) return undefined
  if (running.kind !== 'known' || running.key !== target.key) return undefined
  return { kind: 'promote', target: { source: target.source, content: target.content }, previous: findPrevious(snapshot, target) }
}

/**
 * The record of last-known-good is damaged, and what runs has passed its trial: it is on record
 * again before another config takes its place, which may fail.
 */
export function restoreLastKnownGood({ snapshot }: TargetSituation): Step | undefined {
  const { running, nextStart, assigned } = snapshot
  if (!isDamaged(snapshot, 'last-known-good') || assigned.kind !== 'source' || isLocalAssigned(snapshot)) return undefined
  const own = findRunning(snapshot)
  if (own?.content === undefined || own.source === 'local' || own.onlyInPlace === true) return undefined
  if (running.kind !== 'known' || nextStart.kind !== 'known' || nextStart.held.content !== own.content) return undefined
  if (!hasPassed(snapshot, running.key) || findByKey(snapshot.verdicts, running.key) !== undefined) return undefined
  const previous = isDamaged(snapshot, 'previous') ? 'local' : undefined
  return { kind: 'promote', target: { source: own.source, content: own.content }, previous }
}

/** undefined: the record stays. */
function findPrevious(snapshot: Snapshot, target: Target): ConfigSource | undefined {
  const displaced = findDisplaced(snapshot, target)
  if (displaced !== undefined || !isDamaged(snapshot, 'previous')) return displaced
  // The damaged record is written as the config that it counts as: nothing is pruned while a record
  // is damaged.
  return snapshot.previous.source
}

/** The config that `previous` has to name from now on. undefined: the one that it names already. */
function findDisplaced(snapshot: Snapshot, target: Target): ConfigSource | undefined {
  const { source, content } = snapshot.lastKnownGood
  // Nobody knows which config the damaged record named, perhaps the target itself. The one that
  // `previous` names did pass a trial.
  if (isDamaged(snapshot, 'last-known-good')) return undefined
  // A new version of the same content moves last-known-good along.
  if (content === target.content) return undefined
  // A config that has failed since it was promoted is no fallback, and must not displace the one
  // that works.
  const hasFailed = content !== undefined && findByKey(snapshot.verdicts, trialKey(content, identityOfKey(target.key))) !== undefined
  return hasFailed ? undefined : source
}

/**
 * The proof that a witness owes to a rollout: its trial has passed, but not all evidence that is
 * required was known then. Last-known-good has moved as always. Other nodes learn of it as soon as
 * the evidence is known, while the claim is open. Evidence that the trial did not show has to hold
 * for as long as a trial.
 */
export function proveLate({ snapshot, target }: TargetSituation): Step | undefined {
  const { running } = snapshot
  if (target.verdict !== undefined || !owesProof(snapshot) || running.kind !== 'known' || running.key !== target.key) return undefined
  const isHealthy = measureTrial(snapshot, target.key)?.remainingUs === 0
  return isHealthy && listUnknownEvidence(snapshot).length === 0 ? { kind: 'prove', key: target.key } : undefined
}

/** undefined: this node owes no proof. */
export function describeOwedProof(snapshot: Snapshot): string | undefined {
  if (!owesProof(snapshot)) return undefined
  const [first] = listUnknownEvidence(snapshot)
  const why = first === undefined ? 'kubelet has to be healthy for as long as a trial' : `${first.kind}: ${first.detail}`
  return `its trial has passed, but this node cannot prove that to its rollout yet: ${why}`
}

/** What a trial still waits for when its time is over. Pure. */
import { describeMissingEvidence, listMissingEvidence } from '../evidence/judge.ts'
import { outlivesTrials } from './exit-log.ts'
import { findSuspended } from './find-verdict.ts'
import type { Snapshot } from './snapshot.ts'
import { measureTrial } from './trial.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'

/** The time of the trial is over, and what runs has passed it. */
export function isTrialPassed(snapshot: Snapshot, key: TrialKey): boolean {
  return measureTrial(snapshot, key)?.remainingUs === 0 && listMissingEvidence(snapshot).length === 0 && !isInSlowLoop(snapshot, key)
}

/**
 * Kubelet exits again and again with it, each time after a whole trial, or it has failed by that:
 * a trial shows nothing. What is last-known-good already stays that.
 */
export function isInSlowLoop({ health, now, policy, lastKnownGood, suspendedVerdicts }: Snapshot, key: TrialKey): boolean {
  if (lastKnownGood.content === contentOfKey(key)) return false
  if (findSuspended({ suspendedVerdicts }, key)?.recurring === true) return true
  return health?.subject === key && outlivesTrials(health, now.monotonicUs, policy)
}

/** undefined: the trial is not over, or waits for nothing more. */
export function describeOpenTrial(snapshot: Snapshot, key: TrialKey): string | undefined {
  const missing = describeMissingEvidence(snapshot, key)
  if (missing !== undefined || measureTrial(snapshot, key)?.remainingUs !== 0 || !isInSlowLoop(snapshot, key)) return missing
  return 'is over, but shows nothing: kubelet has exited again and again after one'
}

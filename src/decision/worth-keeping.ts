// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the process that runs is worth keeping, or has failed so that leaving it costs nothing.
 * Pure.
 */
import { healthOfRunning, isIllNow, isLongIll } from '../health/process.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import type { Snapshot } from './snapshot.ts'
import { findVerdict, isOfFailure, isSeenByHealth } from './verdict.ts'

/**
 * Whether a restart would end a kubelet that may be well. Nothing is lost where no kubelet runs, or
 * one that has failed.
 */
export function isWorthKeeping(snapshot: Snapshot): boolean {
  return snapshot.running.kind !== 'none' && !hasFailed(snapshot)
}

/**
 * Whether a process whose config failed by its health has kept running for a while and is healthy
 * again. False where its health says nothing of what the config was condemned for.
 */
export function isWellAgain(snapshot: Snapshot): boolean {
  const { running, verdicts } = snapshot
  const verdict = running.kind === 'known' ? verdicts.get(running.key) : undefined
  return runsOnHealthy(snapshot) && (verdict === undefined || isSeenByHealth(verdict.reason))
}

/** Whether kubelet has run for a while and is healthy, whatever its config was condemned for. */
export function runsOnHealthy(snapshot: Snapshot): boolean {
  const { running, now, policy } = snapshot
  if (running.kind !== 'known' || healthOfRunning(snapshot)?.healthySinceUs === undefined) return false
  return now.monotonicUs - running.startedAtUs > policy.toleranceUs
}

/**
 * Whether what runs has a verdict against it, or has been ill for long. Leaving it costs nothing.
 */
export function hasFailed(snapshot: Snapshot): boolean {
  return hasVerdict(snapshot) || isLongIll(snapshot.health, snapshot.now.monotonicUs, snapshot.policy)
}

/** As `hasFailed`, but illness counts only while it lasts. A verdict counts always. */
export function failsNow(snapshot: Snapshot): boolean {
  return hasVerdict(snapshot) || isIllNow(snapshot.health, snapshot.now.monotonicUs, snapshot.policy)
}

/** On the kubelet that it was started as. */
function hasVerdict({ running, verdicts }: Snapshot): boolean {
  return running.kind === 'known' && isOfFailure(verdicts.get(running.key))
}

/**
 * Whether a verdict sends the target elsewhere than to what runs: one on the installed kubelet, or
 * of damage that counts on each. `failsNow` looks for one on the kubelet that the process was
 * started as.
 */
export function isCondemned(snapshot: Snapshot, unit: KnownUnit): boolean {
  const { running } = snapshot
  return running.kind === 'known' && isOfFailure(findVerdict(snapshot, running.content, unit))
}

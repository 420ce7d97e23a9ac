/**
 * When a wait ends by itself. The time in a Wait step is only when to look again. Pure;
 * CLOCK_MONOTONIC microseconds.
 */

import { decideRestart } from './restarts.ts'
import { findRolloutTurn } from './rollout-turn.ts'
import { assess } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import { findSpreadTurn } from './spread.ts'
import type { Phase } from './step.ts'
import type { Target } from './target.ts'
import { measureTrial } from './trial.ts'

export interface Awaited {
  /** undefined: nothing is on trial, or kubelet is not healthy with it yet. */
  readonly trial: { readonly sinceUs: number; readonly untilUs: number } | undefined
  /** This node's turn in a spread, or the end of the hourly limit of restarts. */
  readonly waitUntilUs: number | undefined
}

const NOTHING: Awaited = { trial: undefined, waitUntilUs: undefined }

export function findAwaited(snapshot: Snapshot, phase: Phase): Awaited {
  const { target, awaitingTurn } = assess(snapshot)
  if (target === undefined) return NOTHING
  const trial = phase === 'in-trial' ? measureTrial(snapshot, target.key) : undefined
  return {
    trial: trial && { sinceUs: trial.endsAtUs - snapshot.policy.trialUs, untilUs: trial.endsAtUs },
    // In a rollout each write of another node moves this time, and it is published.
    waitUntilUs: phase === 'rollout' ? undefined : findEndUs(snapshot, phase, awaitingTurn ?? target),
  }
}

/** undefined: the wait does not end by itself. */
export function findEndUs(snapshot: Snapshot, phase: Phase, target: Target): number | undefined {
  const { unit } = snapshot
  if (phase === 'spread') {
    const turn = findSpreadTurn(snapshot, target.source)
    return turn.kind === 'wait-until' ? turn.atUs : undefined
  }
  if (phase === 'rollout') {
    const turn = findRolloutTurn(snapshot, target.source, target.content)
    return turn?.kind === 'wait-until' ? turn.atUs : undefined
  }
  if (phase === 'restart-limit' && unit.kind === 'known') {
    const decision = decideRestart(snapshot, unit, target)
    return decision.kind === 'limit' ? decision.untilUs : undefined
  }
  return undefined
}

/**
 * The times of what is awaited, for people: wall clock, in whole seconds. Pure. They are computed anew at each look from two clocks that are read one
 * after the other and drift apart; what differs by no more than that is the same time, or whoever publishes it would write at every look.
 */
import { findAwaited } from '../decision/awaited.ts'
import type { Instant } from '../decision/instant.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Phase } from '../decision/step.ts'

/** Milliseconds since 1970. */
export interface Deadlines {
  readonly trial: { readonly sinceMs: number; readonly untilMs: number } | undefined
  readonly waitUntilMs: number | undefined
}

export const NO_DEADLINES: Deadlines = { trial: undefined, waitUntilMs: undefined }
const SAME_MS = 2000

/** @param before what was said last */
export function findDeadlines(snapshot: Snapshot, phase: Phase, before: Deadlines): Deadlines {
  const { trial, waitUntilUs } = findAwaited(snapshot, phase)
  const { now } = snapshot
  return {
    trial: trial && {
      sinceMs: steady(toWallMs(trial.sinceUs, now), before.trial?.sinceMs),
      untilMs: steady(toWallMs(trial.untilUs, now), before.trial?.untilMs),
    },
    waitUntilMs: waitUntilUs === undefined ? undefined : steady(toWallMs(waitUntilUs, now), before.waitUntilMs),
  }
}

/** RFC 3339, as metav1.Time has it. */
export function showTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`
}

/** Rounded up: what is not over is not said to be. */
function toWallMs(atUs: number, now: Instant): number {
  return Math.ceil((now.wallMs + (atUs - now.monotonicUs) / 1000) / 1000) * 1000
}

function steady(wallMs: number, before: number | undefined): number {
  return before !== undefined && Math.abs(wallMs - before) <= SAME_MS ? before : wallMs
}

// SPDX-License-Identifier: Apache-2.0
/**
 * When the trial or the wait ends, in wall clock time and whole seconds. Pure. The times are
 * computed at each look from two clocks, which drift apart; a difference of up to two seconds keeps
 * the previous time, since otherwise the status would be written at every look.
 */

import type { Phase } from '../decision/phases.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { findAwaited } from '../decision/wait.ts'
import type { Instant } from '../values/durations.ts'

/** Milliseconds since 1970. */
export interface Deadlines {
  readonly trial: { readonly sinceMs: number; readonly untilMs: number } | undefined
  readonly waitUntilMs: number | undefined
}

export const NO_DEADLINES: Deadlines = { trial: undefined, waitUntilMs: undefined }
const SAME_MS = 2000

/** @param before the previous result */
export function findDeadlines(snapshot: Snapshot, phase: Phase, before: Deadlines): Deadlines {
  const { trial, waitUntilUs } = findAwaited(snapshot, phase)
  const { now } = snapshot
  return {
    trial: trial && {
      sinceMs: keepIfClose(toWallMs(trial.sinceUs, now), before.trial?.sinceMs),
      untilMs: keepIfClose(toWallMs(trial.untilUs, now), before.trial?.untilMs),
    },
    waitUntilMs: waitUntilUs === undefined ? undefined : keepIfClose(toWallMs(waitUntilUs, now), before.waitUntilMs),
  }
}

/** RFC 3339 in whole seconds, as metav1.Time. */
export function showTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`
}

/** Rounded up: a time that is shown as past is past. */
function toWallMs(atUs: number, now: Instant): number {
  return Math.ceil((now.wallMs + (atUs - now.monotonicUs) / 1000) / 1000) * 1000
}

function keepIfClose(wallMs: number, before: number | undefined): number {
  return before !== undefined && Math.abs(wallMs - before) <= SAME_MS ? before : wallMs
}

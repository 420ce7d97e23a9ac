/**
 * How the agent waits: the time limit for its end, and the clock, randomness and sleep for retries.
 */
import { setTimeout as after } from 'node:timers/promises'
import type { Clock } from './ports/clock.ts'

/**
 * SIGTERM has to end the agent within 2 s: half of that is for the pass of the loop that is
 * running, half for publishing what is left.
 */
export const STOP_LIMIT_MS = 900

export type Pace = ReturnType<typeof paceBy>

export function paceBy(clock: Clock) {
  return { nowMs: () => clock.now().monotonicUs / 1000, random: Math.random, sleep }
}

/** Resolves early when the signal aborts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await after(ms, undefined, { signal }).catch(() => {})
}

/** Resolves at the latest after this time, which does not keep the process running. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, after(ms, undefined, { ref: false })])
}

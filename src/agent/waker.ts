// SPDX-License-Identifier: Apache-2.0
/** How the agent waits: its loop, the retries of its workers, and its end. */
import { setTimeout as after } from 'node:timers/promises'
import type { Clock } from '../ports/clock.ts'

/** The longest delay that setTimeout accepts: 2^31 - 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Wakes the sleeping loop. Wakes that come while nothing sleeps are remembered as one. */
export class Waker {
  #woken = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#woken = true
    this.#wake?.()
  }

  /** Resolves at the time, at the next wake, or when the signal aborts. */
  async sleepUntil(untilUs: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (!this.#woken && !signal.aborted) {
      const delayMs = Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil((untilUs - clock.now().monotonicUs) / 1000)))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, delayMs)
        function done() {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
        this.#wake = done
        signal.addEventListener('abort', done)
      })
    }
    this.#wake = undefined
    this.#woken = false
  }
}

/** Happens once, and others wait for it. */
export class Occasion {
  readonly happened: Promise<void>
  /** Repeated calls change nothing. */
  readonly happen: () => void

  constructor() {
    let happen = () => {}
    this.happened = new Promise<void>((resolve) => {
      happen = resolve
    })
    this.happen = happen
  }
}

export type Pace = ReturnType<typeof paceBy>

/** The clock, randomness and sleep for retries. */
export function paceBy(clock: Clock) {
  return { nowMs: () => clock.now().monotonicUs / 1000, random: Math.random, sleep }
}

/** Resolves early when the signal aborts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await after(Math.min(LONGEST_TIMER_MS, ms), undefined, { signal }).catch(() => {})
}

/** Resolves at the latest after this time, which does not keep the process running. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, after(ms, undefined, { ref: false })])
}

/**
 * Resolves when the work is over, or this long after `stop`. A pass of the loop may be waiting for
 * systemd or kubelet when the agent has to stop. It changes files synchronously, so it can be
 * abandoned at any of its waits, but only where the process ends: where the agent starts over, it
 * would go on later, and change the state of another node or cluster.
 *
 * @param stop aborts when the process has to end
 */
export async function untilOver(work: Promise<void>, stop: AbortSignal, limitMs: number): Promise<void> {
  const limit = new Promise<void>((resolve) => stop.addEventListener('abort', () => setTimeout(resolve, limitMs), { once: true }))
  await Promise.race([work, limit])
}

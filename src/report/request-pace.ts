/**
 * Limits how often one kind of request is made: at most once a second, with exponential backoff
 * after failures (`backoffMs`), and never before Retry-After.
 */

import { backoffMs } from '../kube/backoff.ts'
import type { Clock } from '../ports/clock.ts'

export const SPACING_MS = 1000

export class RequestPace {
  readonly #clock: Clock
  readonly #random: () => number
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #failures = 0
  /** Failures since the last success. */
  readonly #failureKinds = new Set<string>()

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  nowMs(): number {
    return this.#clock.now().monotonicUs / 1000
  }

  dueInMs(): number {
    return Math.max(0, this.#notBeforeMs - this.nowMs())
  }

  succeeded(): void {
    this.#failures = 0
    this.#failureKinds.clear()
    this.hold(SPACING_MS)
  }

  /**
   * Returns whether this failure is the first of its kind since the last success, and so worth
   * logging.
   */
  failed(failure: string, retryAfterMs?: number): boolean {
    this.#failures += 1
    this.hold(Math.max(SPACING_MS, backoffMs(this.#failures, this.#random, retryAfterMs)))
    const isNew = !this.#failureKinds.has(failure)
    this.#failureKinds.add(failure)
    return isNew
  }

  /** No request for this long. */
  hold(ms: number): void {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, this.nowMs() + ms)
  }
}

/**
 * Whether the server refused a request for good. Expired credentials, missing rights and objects,
 * conflicts, a full queue and a failing server are temporary, so those are retried.
 */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 404, 408, 409, 429].includes(status)
}

/**
 * How often one kind of request may be made: never more than one a second; after failures exponentially less often with full jitter, so
 * that a fleet whose API server comes back does not ask in one instant; never sooner than the server said (Retry-After, RFC 9110).
 */

import { backoffMs } from '../kube/backoff.ts'
import type { Clock } from '../ports/clock.ts'

export const SPACING_MS = 1000

export class RequestPace {
  readonly #clock: Clock
  readonly #random: () => number
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #failures = 0
  /** Said since the last success. */
  readonly #said = new Set<string>()

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
    this.#said.clear()
    this.hold(SPACING_MS)
  }

  /** Answers whether this failure is a new one since the last success, worth a line in the log. */
  failed(failure: string, retryAfterMs?: number): boolean {
    this.#failures += 1
    this.hold(Math.max(SPACING_MS, backoffMs(this.#failures, this.#random, retryAfterMs)))
    const isNew = !this.#said.has(failure)
    this.#said.add(failure)
    return isNew
  }

  /** Nothing for so long. */
  hold(ms: number): void {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, this.nowMs() + ms)
  }
}

/**
 * Whether the server understood a request and refused it for good. Expired credentials, missing rights and objects, conflicts,
 * a full queue and a server in trouble come and go: those are worth another try.
 */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 404, 408, 409, 429].includes(status)
}

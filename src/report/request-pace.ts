// SPDX-License-Identifier: Apache-2.0
/**
 * How often requests about one thing are made, and what follows from a refusal of the API server.
 * Pure, apart from the clock that is passed in.
 */
import { backoffMs } from '../kube/backoff.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeAnswer, KubeRefusal } from '../ports/kube-api.ts'

export const WRITE_SPACING_MS = 1000

/**
 * Limits how often one kind of request is made: at most once a second, with exponential backoff
 * after failures (`backoffMs`), and never before Retry-After.
 */
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
    this.hold(WRITE_SPACING_MS)
  }

  /**
   * Returns whether this failure is the first of its kind since the last success, and so worth
   * logging.
   */
  failed(failure: string, retryAfterMs?: number): boolean {
    this.#failures += 1
    this.hold(Math.max(WRITE_SPACING_MS, backoffMs(this.#failures, this.#random, retryAfterMs)))
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

/**
 * Limits one kind of write in the long run: allows a burst, enough for a change from beginning to
 * end, and then a steady rate. For a state that keeps changing back and forth, for example of a
 * kubelet that never stays up.
 */
export class Budget {
  readonly #size: number
  readonly #everyMs: number
  /** When the whole burst is available again. */
  #fullAtMs = Number.NEGATIVE_INFINITY

  /**
   * @param size the burst
   * @param everyMs after this time one more write is allowed
   */
  constructor(size: number, everyMs: number) {
    this.#size = size
    this.#everyMs = everyMs
  }

  /** Counts one write. Returns how long to wait before the next one. */
  spend(nowMs: number): number {
    this.#fullAtMs = Math.max(this.#fullAtMs, nowMs) + this.#everyMs
    return Math.max(0, this.#fullAtMs - nowMs - (this.#size - 1) * this.#everyMs)
  }
}

/**
 * Advice where the API server refuses a write of the agent. To be added to the detail of the
 * answer. An admission plugin answers 403 too, and says why: then no right is missing.
 * @param grantedBy the file that grants the right
 */
export function adviseOnRefusal(answer: Exclude<KubeAnswer, { kind: 'ok' }>, grantedBy: string): string {
  if (answer.kind !== 'refused') return ''
  if (answer.status === 401) return '; the API server does not accept the identity of the kubeconfig'
  return answer.status === 403 && LACKS_A_RIGHT.test(answer.detail) ? `; ${grantedBy} grants it` : ''
}

/**
 * Whether an admission plugin denied this one object. A 403 without a reason is no Status object: a
 * proxy sent it, which may forbid everything.
 */
export function isDeniedByPolicy({ status, reason, detail }: KubeRefusal): boolean {
  return status === 403 && reason !== '' && !LACKS_A_RIGHT.test(detail)
}

/** A newly granted right may not have reached every server yet. */
export const FORBIDDEN_TRIES = 3
/** How long to wait after repeated 403 answers: rights are granted by hand. */
export const FORBIDDEN_MS = 600_000

/** `forbiddenMessage` of k8s.io/apiserver, `pkg/endpoints/handlers/responsewriters/errors.go`. */
const LACKS_A_RIGHT = / cannot [a-z]+ resource /

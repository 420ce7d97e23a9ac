// SPDX-License-Identifier: Apache-2.0
/**
 * Over what time the nodes of a fleet tell of one thing that all of them share. No node knows how
 * many there are, nor how many the server can take. So each begins with its slot, and a node that
 * finds the server with too much to do tells later, within a time that doubles with each such sign.
 * Pure.
 */
import type { KubeAnswer } from '../ports/kube-api.ts'

/** An answer that takes longer is a sign that the server has too much to do. */
const SLOW_MS = 2000
const FIRST_MS = 60_000
const LONGEST_MS = 600_000
const MOST_SIGNS = 5

export class Crowd {
  #signs = 0
  #signAtMs = Number.NEGATIVE_INFINITY
  readonly #random: () => number

  /** @param random in [0, 1) */
  constructor(random: () => number) {
    this.#random = random
  }

  /**
   * To be called with each answer, when it came and how long it took. A server that does not answer
   * gives one sign at most: this node alone may be cut off.
   *
   * @returns for how long not to tell of what nodes share, in addition to Retry-After
   */
  see(answer: KubeAnswer, nowMs: number, tookMs: number): number {
    if (nowMs - this.#signAtMs >= LONGEST_MS) this.#signs = 0
    if (!hasTooMuchToDo(answer, tookMs)) {
      this.#signs = Math.floor(this.#signs / 2)
      return 0
    }
    this.#signAtMs = nowMs
    this.#signs = answer.kind === 'unreachable' ? Math.max(1, this.#signs) : Math.min(MOST_SIGNS, this.#signs + 1)
    return Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#signs - 1)) * this.#random()
  }
}

/** A connection that is refused at once is no sign: the server is away. */
function hasTooMuchToDo(answer: KubeAnswer, tookMs: number): boolean {
  if (tookMs >= SLOW_MS) return true
  return answer.kind === 'refused' && (answer.status === 429 || answer.status >= 500 || answer.retryAfterMs !== undefined)
}

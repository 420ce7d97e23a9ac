/**
 * Limits one kind of write in the long run: allows a burst, enough for a change from beginning to
 * end, and then a steady rate. For a state that keeps changing back and forth, for example of a
 * kubelet that never stays up. Pure.
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

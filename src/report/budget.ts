/**
 * How many writes of one kind there may be in the long run: some in a row as they come, as a change from beginning to end takes, and then no more
 * than the steady rate. For a state that goes back and forth for ever, as of a kubelet that never stays up. Pure.
 */
export class Budget {
  readonly #size: number
  readonly #everyMs: number
  /** When all that was spent will have come back. */
  #fullAtMs = Number.NEGATIVE_INFINITY

  /** @param everyMs after which one more may be spent */
  constructor(size: number, everyMs: number) {
    this.#size = size
    this.#everyMs = everyMs
  }

  /** Returns for how long there is nothing left. */
  spend(nowMs: number): number {
    this.#fullAtMs = Math.max(this.#fullAtMs, nowMs) + this.#everyMs
    return Math.max(0, this.#fullAtMs - nowMs - (this.#size - 1) * this.#everyMs)
  }
}

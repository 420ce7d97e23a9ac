// SPDX-License-Identifier: Apache-2.0
/**
 * The last answer of `systemctl show`, which stands for a new one as long as systemd has said
 * nothing of the unit since it was asked for. A signal that is lost must cost no more than a late
 * look, so no answer stands for long. Pure, except for the clock that is passed in.
 */
import type { Clock } from '../ports/clock.ts'
import type { UnitSignals } from '../ports/unit.ts'

/**
 * How late a change that no signal tells of is seen at a node where nothing else happens: for
 * example, a file of the unit was changed and systemd has not read it.
 */
const HELD_US = 300e6

export class HeldAnswer<T> {
  readonly #signals: UnitSignals
  readonly #clock: Clock
  #held: { readonly answer: T; readonly askedAtUs: number } | undefined

  constructor(signals: UnitSignals, clock: Clock) {
    this.#signals = signals
    this.#clock = clock
  }

  /** Before the question, since what it is answered with may be as old. */
  begin(): { keep(answer: T): void } {
    const askedAtUs = this.#clock.now().monotonicUs
    return {
      keep: (answer) => {
        this.#held = { answer, askedAtUs }
      },
    }
  }

  drop(): void {
    this.#held = undefined
  }

  /** undefined: systemd has to be asked. */
  get(): T | undefined {
    if (this.#held === undefined) return undefined
    const { answer, askedAtUs } = this.#held
    const quietSinceUs = this.#signals.quietSinceUs()
    const isQuiet = quietSinceUs !== undefined && quietSinceUs < askedAtUs
    if (!isQuiet || this.#clock.now().monotonicUs - askedAtUs >= HELD_US) this.#held = undefined
    return this.#held && answer
  }
}

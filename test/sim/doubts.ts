// SPDX-License-Identifier: Apache-2.0
/**
 * Configs without evidence, as far as the world can tell: something happened while kubelet ran with
 * them, or would start with them next. A restart with a known baseline begins the evidence anew, so
 * it ends a doubt, unless that is about the time in which the baseline was taken, or the config was
 * promoted in doubt: it has no other trial, whatever it is restarted from, until promotions count
 * no longer.
 */

/** The baseline is asked for in the last minute before a restart, and in the look before that. */
const BASELINE_TAKES_US = 60e6

export class Doubts {
  readonly #nowUs: () => number
  readonly #lastUs = new Map<string, number>()
  readonly #promoted = new Set<string>()

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  add(text: string): void {
    this.#lastUs.set(text, this.#nowUs())
  }

  has(text: string): boolean {
    return this.#lastUs.has(text)
  }

  promoted(text: string): void {
    if (this.has(text)) this.#promoted.add(text)
  }

  /** The promotions are lost, or were for another kubelet: each config has a trial again. */
  forgetPromotions(): void {
    this.#promoted.clear()
  }

  /**
   * kubelet is restarted from a config to another one, and how the node was before is known.
   *
   * @param lookUs how late the agent looks
   */
  restarted(from: string, to: string, lookUs: number): void {
    if (this.#promoted.has(to)) return
    const latestUs = Math.max(...[from, to].map((text) => this.#lastUs.get(text) ?? Number.NEGATIVE_INFINITY))
    if (this.#nowUs() - latestUs > BASELINE_TAKES_US + lookUs) this.#lastUs.delete(to)
  }

  /** The clock starts anew. */
  rebase(): void {
    for (const text of this.#lastUs.keys()) this.add(text)
  }
}

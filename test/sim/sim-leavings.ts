// SPDX-License-Identifier: Apache-2.0
/**
 * The state that a config leaves on the node: with it, kubelet writes the state of another policy
 * of its CPU manager, and no kubelet of the former policy starts over that (kubernetes issue
 * 95041). The agent deletes no file of kubelet's: it says what to do, and a person does it.
 */
import { behaviourOf } from './behaviour.ts'

export class SimLeavings {
  isThere = false
  #isKilling = false
  #most = 0
  readonly #left = new Map<string, number>()
  /** How often such a file was left and deleted. */
  #changes = 0

  /** The basis by which preflight sees that state. */
  get basis(): string {
    return String(this.#changes)
  }

  /** The kubelet that was started last exits for it. */
  get isKilling(): boolean {
    return this.isThere && this.#isKilling
  }

  /**
   * How often one config has left it anew on one kubelet, for all that the agent could know:
   * another kubelet may leave nothing.
   */
  get most(): number {
    return this.#most
  }

  kills(text: string): boolean {
    return this.isThere && behaviourOf(text) !== 'leaves-state'
  }

  /** kubelet of this version starts, and comes as far as its CPU manager. */
  kubeletStarted(text: string, version: number): void {
    if (behaviourOf(text) === 'leaves-state') {
      if (!this.isThere) {
        this.#changes += 1
        const key = `${version} ${text}`
        const times = (this.#left.get(key) ?? 0) + 1
        this.#left.set(key, times)
        this.#most = Math.max(this.#most, times)
      }
      this.isThere = true
    }
    this.#isKilling = this.kills(text)
  }

  /** The verdicts are lost, or an operator has dropped them. */
  countAnew(): void {
    this.#left.clear()
  }

  delete(): void {
    if (!this.isThere) return
    this.isThere = false
    this.#changes += 1
  }
}

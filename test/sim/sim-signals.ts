// SPDX-License-Identifier: Apache-2.0
/**
 * The signals of systemd about kubelet's unit on a simulated node: some of them come late, twice or
 * never, and for some time the agent hears nothing at all.
 */
import type { UnitSignals } from '../../src/ports/unit.ts'
import { NEVER } from './behaviour.ts'
import type { Random } from './random.ts'

const LATE_SECONDS = [0.02, 0.5, 8] as const
const DEAF_SECONDS = [2, 70, 900] as const

export class SimSignals implements UnitSignals {
  readonly #nowUs: () => number
  readonly #random: Random
  readonly #onHint: () => void
  /** undefined: nothing is heard until an agent listens. */
  #quietSinceUs: number | undefined
  #underway: readonly number[] = []
  #hearsAgainUs = NEVER

  constructor(nowUs: () => number, random: Random, onHint: () => void) {
    this.#nowUs = nowUs
    this.#random = random
    this.#onHint = onHint
  }

  quietSinceUs(): number | undefined {
    return this.#quietSinceUs
  }

  /** Another agent, which has a connection of its own. */
  listen(): void {
    this.#underway = []
    this.#hearsAgainUs = NEVER
    this.#quietSinceUs = this.#nowUs()
  }

  /** Something has happened to the unit. */
  emit(): void {
    if (this.#quietSinceUs === undefined) return
    const fate = this.#random.next()
    if (fate < 0.05) {
      this.#quietSinceUs = undefined
      this.#hearsAgainUs = this.#nowUs() + this.#random.pick(DEAF_SECONDS) * 1e6
    } else if (fate < 0.2) return
    else if (fate < 0.4) this.#underway = [...this.#underway, this.#nowUs() + this.#random.pick(LATE_SECONDS) * 1e6]
    else {
      if (fate < 0.5) this.#underway = [...this.#underway, this.#nowUs() + 20e3]
      this.#arrive()
    }
  }

  nextUs(): number {
    return Math.min(this.#hearsAgainUs, ...this.#underway)
  }

  advance(): void {
    const now = this.#nowUs()
    if (now >= this.#hearsAgainUs) this.listen()
    if (this.#underway.some((atUs) => atUs <= now)) this.#arrive()
    this.#underway = this.#underway.filter((atUs) => atUs > now)
  }

  /** The machine has booted. */
  forget(): void {
    this.#underway = []
    this.#hearsAgainUs = NEVER
    this.#quietSinceUs = undefined
  }

  #arrive(): void {
    if (this.#quietSinceUs === undefined) return
    this.#quietSinceUs = this.#nowUs()
    this.#onHint()
  }
}

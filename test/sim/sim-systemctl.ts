// SPDX-License-Identifier: Apache-2.0
/** How systemctl answers the agent. */
export type SystemctlFault =
  /** The unit's state cannot be asked for, and systemd refuses commands. */
  | 'down'
  /** Systemd refuses commands. */
  | 'refuses'
  /** A command is carried out, but the agent gets no answer in time. */
  | 'late'

/** The agent gives a command again so long after a refusal. */
const RETRY_US = 60e6

export class SimSystemctl {
  readonly #nowUs: () => number
  #fault: SystemctlFault | undefined
  #untilUs = Number.NEGATIVE_INFINITY

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  get fault(): SystemctlFault | undefined {
    return this.#nowUs() < this.#untilUs ? this.#fault : undefined
  }

  get refuses(): boolean {
    return this.fault === 'down' || this.fault === 'refuses'
  }

  get hasRefusedLately(): boolean {
    return this.#fault !== 'late' && this.#nowUs() < this.#untilUs + RETRY_US
  }

  fail(fault: SystemctlFault, seconds: number): void {
    this.#fault = fault
    this.#untilUs = this.#nowUs() + seconds * 1e6
  }

  repair(): void {
    this.#untilUs = Math.min(this.#untilUs, this.#nowUs())
  }
}

// SPDX-License-Identifier: Apache-2.0
/** How systemctl answers the agent. */
export type SystemctlFault =
  /** The unit's state cannot be asked for, and systemd refuses commands. */
  | 'down'
  /** Systemd refuses commands. */
  | 'refuses'
  /** A command is carried out, but the agent gets no answer in time. */
  | 'late'

export class SimSystemctl {
  readonly #nowUs: () => number
  #fault: SystemctlFault | undefined
  #untilUs = 0

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  get fault(): SystemctlFault | undefined {
    return this.#nowUs() < this.#untilUs ? this.#fault : undefined
  }

  get refuses(): boolean {
    return this.fault === 'down' || this.fault === 'refuses'
  }

  fail(fault: SystemctlFault, seconds: number): void {
    this.#fault = fault
    this.#untilUs = this.#nowUs() + seconds * 1e6
  }

  repair(): void {
    this.#untilUs = 0
  }
}

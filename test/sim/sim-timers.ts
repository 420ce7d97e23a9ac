// SPDX-License-Identifier: Apache-2.0
/** Later consequences of events, such as the end of an outage. */
interface Timer {
  readonly atUs: number
  readonly act: () => void
}

export class SimTimers {
  #timers: readonly Timer[] = []

  get isEmpty(): boolean {
    return this.#timers.length === 0
  }

  nextUs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#timers.map(({ atUs }) => atUs))
  }

  add(atUs: number, act: () => void): void {
    this.#timers = [...this.#timers, { atUs, act }]
  }

  /** Returns how many were due. */
  run(nowUs: number): number {
    const due = this.#timers.filter(({ atUs }) => atUs <= nowUs)
    this.#timers = this.#timers.filter(({ atUs }) => atUs > nowUs)
    for (const { act } of due) act()
    return due.length
  }

  /** All that is to come happens at once. */
  runAll(): void {
    for (let rounds = 0; rounds < 10 && this.#timers.length > 0; rounds += 1) this.run(Number.POSITIVE_INFINITY)
  }

  /** The clock starts anew. */
  rebase(beforeUs: number, nowUs: number): void {
    this.#timers = this.#timers.map(({ atUs, act }) => ({ atUs: atUs - beforeUs + nowUs, act }))
  }
}

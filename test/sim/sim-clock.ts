// SPDX-License-Identifier: Apache-2.0
/**
 * The clocks of a simulated node: CLOCK_MONOTONIC, which ends with the boot, and the wall clock.
 */
import type { Instant } from '../../src/values/durations.ts'

const BOOT_US = 5e6
const BOOT_TAKES_MS = 30_000

export class SimClock {
  #boot = 1
  #monotonicUs = 60e6
  #wallMs = Date.UTC(2021, 0, 1)
  /** In which CLOCK_MONOTONIC went on. */
  suspensions = 0

  get nowUs(): number {
    return this.#monotonicUs
  }

  get wallMs(): number {
    return this.#wallMs
  }

  now(): Instant {
    return { bootId: `boot-${this.#boot}`, monotonicUs: this.#monotonicUs, wallMs: this.#wallMs }
  }

  advanceTo(us: number): void {
    this.#wallMs += (us - this.#monotonicUs) / 1000
    this.#monotonicUs = us
  }

  /** Somebody sets the wall clock. */
  jump(seconds: number): void {
    this.#wallMs += seconds * 1000
  }

  /**
   * The node is suspended, or its virtual machine is stopped.
   *
   * @param halts CLOCK_MONOTONIC stands still meanwhile, as in a suspend of Linux itself
   */
  suspend(seconds: number, halts: boolean): void {
    this.#wallMs += seconds * 1000
    if (halts) return
    this.#monotonicUs += seconds * 1e6
    this.suspensions += 1
  }

  reboot(): void {
    this.#boot += 1
    this.#monotonicUs = BOOT_US
    this.#wallMs += BOOT_TAKES_MS
  }
}

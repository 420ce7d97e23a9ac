// SPDX-License-Identifier: Apache-2.0
/**
 * The system clock: CLOCK_MONOTONIC, together with the kernel's ID of the boot that it counts from.
 * The ID is read once, on first use: `--help` works without it.
 */
import { readFileSync } from 'node:fs'
import type { Clock } from '../ports/clock.ts'
import type { Instant } from '../values/durations.ts'
import { errorMessage } from '../values/errors.ts'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'

export class BootClock implements Clock {
  readonly #path: string
  #bootId: string | undefined

  constructor(path: string = BOOT_ID) {
    this.#path = path
  }

  now(): Instant {
    this.#bootId ??= this.#read()
    return { bootId: this.#bootId, monotonicUs: Number(process.hrtime.bigint() / 1000n), wallMs: Date.now() }
  }

  #read(): string {
    try {
      return readFileSync(this.#path, 'utf8').trim()
    } catch (cause) {
      const what = errorMessage(cause)
      throw new Error(`cannot read the boot ID: ${what}; mount /proc completely, without ProcSubset=pid`, { cause })
    }
  }
}

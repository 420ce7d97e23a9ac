/**
 * The clock of the running system: CLOCK_MONOTONIC, which counts from the boot that the kernel gives a name. That name is read once, and only when a time is
 * asked for: help can be had without it.
 */

import { readFileSync } from 'node:fs'
import type { Instant } from '../decision/instant.ts'
import type { Clock } from '../ports/clock.ts'
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
      throw new Error(`cannot tell one boot from another: ${what}; mount /proc whole, without ProcSubset=pid`, { cause })
    }
  }
}

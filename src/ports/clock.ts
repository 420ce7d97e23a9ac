// SPDX-License-Identifier: Apache-2.0
/**
 * The port for the time. Adapter: `src/systemd/boot-clock.ts`; pure code receives an `Instant`
 * instead.
 */
import type { Instant } from '../values/durations.ts'

export interface Clock {
  now(): Instant
}

/**
 * The port for the time. Adapter: `src/systemd/boot-clock.ts`; pure code receives an `Instant`
 * instead.
 */
import type { Instant } from '../decision/instant.ts'

export interface Clock {
  now(): Instant
}

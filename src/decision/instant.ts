/**
 * One reading of the clocks. Durations are always differences of `monotonicUs` within one `bootId`.
 */
export interface Instant {
  readonly bootId: string
  /** CLOCK_MONOTONIC, microseconds: the clock of systemd's `*Monotonic` properties. */
  readonly monotonicUs: number
  /** CLOCK_REALTIME, milliseconds: for people (history, events), never for deciding. */
  readonly wallMs: number
}

/** @param atUs CLOCK_MONOTONIC of the same boot */
export function wallMsAt(atUs: number, now: Instant): number {
  return now.wallMs - (now.monotonicUs - atUs) / 1000
}

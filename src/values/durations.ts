// SPDX-License-Identifier: Apache-2.0
/**
 * Durations as operators write them: `10m`, `1m30s`, `250ms`. The syntax is that of kubelet's own
 * config, without a sign. Inside the agent a duration is a whole number of microseconds, the unit
 * of systemd's monotonic timestamps. Pure.
 */
import { parseGoDuration } from './go-syntax.ts'

export const SECOND_US = 1_000_000
export const MINUTE_US = 60 * SECOND_US
export const HOUR_US = 60 * MINUTE_US

type ParsedDuration = { readonly ok: true; readonly us: number } | { readonly ok: false; readonly detail: string }

const EXAMPLE = 'write a number with a unit, for example 10m, 1m30s or 250ms'

export function parseDuration(text: string): ParsedDuration {
  if (/^[+-]/.test(text)) return { ok: false, detail: `"${text}" has a sign: ${EXAMPLE}` }
  const ns = parseGoDuration(text)
  if (ns !== undefined) return { ok: true, us: Number((ns + 500n) / 1000n) }
  const isNumber = /^[\d.]+$/.test(text)
  return { ok: false, detail: `"${text}" ${isNumber ? 'has no unit' : 'is not a duration'}: ${EXAMPLE}` }
}

const UNITS: readonly (readonly [unit: string, us: number])[] = [
  ['h', HOUR_US],
  ['m', MINUTE_US],
  ['s', SECOND_US],
  ['ms', 1000],
  ['us', 1],
]

/** The shortest form without fractions. `parseDuration` reads it back exactly. */
export function formatDuration(us: number): string {
  const parts: string[] = []
  let rest = Math.max(0, Math.round(us))
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.length === 0 ? '0s' : parts.join('')
}

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

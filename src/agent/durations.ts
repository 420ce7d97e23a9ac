/**
 * Durations as people write them: `10m`, `1m30s`, `250ms`. The syntax is that of Go's `time.ParseDuration`, since every other
 * setting an operator of Kubernetes writes is read by it; a sign is refused. Inside the agent they are whole microseconds, the
 * unit of systemd's monotonic timestamps.
 */

export const SECOND_US = 1_000_000
export const MINUTE_US = 60 * SECOND_US
export const HOUR_US = 60 * MINUTE_US

/** Longest spelling first, so that the pattern never takes the `m` of `ms` for minutes. */
const UNITS_US: ReadonlyMap<string, number> = new Map([
  ['ns', 0.001],
  ['us', 1],
  ['µs', 1],
  ['μs', 1],
  ['ms', 1000],
  ['s', SECOND_US],
  ['m', MINUTE_US],
  ['h', HOUR_US],
])

const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g

export type ParsedDuration = { readonly ok: true; readonly us: number } | { readonly ok: false; readonly detail: string }

const EXAMPLE = 'write a number with a unit, as in 10m, 1m30s or 250ms'

export function parseDuration(text: string): ParsedDuration {
  if (text === '0') return { ok: true, us: 0 }
  if (/^[+-]/.test(text)) return { ok: false, detail: `"${text}" has a sign: ${EXAMPLE}` }
  if (/^[\d.]+$/.test(text)) return { ok: false, detail: `"${text}" has no unit: ${EXAMPLE}` }
  let us = 0
  let end = 0
  for (const part of text.matchAll(PART)) {
    if (part.index !== end) break
    end += part[0].length
    us += Number(part[1]) * (UNITS_US.get(part[2] ?? '') ?? Number.NaN)
  }
  if (end === 0 || end !== text.length) return { ok: false, detail: `"${text}" is no duration: ${EXAMPLE}` }
  return { ok: true, us: Math.round(us) }
}

/** The shortest spelling without fractions, which `parseDuration` reads back exactly. */
export function formatDuration(us: number): string {
  const parts: string[] = []
  let rest = Math.max(0, Math.round(us))
  for (const unit of ['h', 'm', 's', 'ms', 'us']) {
    const size = UNITS_US.get(unit) ?? 1
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.length === 0 ? '0s' : parts.join('')
}

/**
 * Durations as people write them: `10m`, `1m30s`, `250ms`. Pure. The syntax is that of kubelet's own config, since every other
 * setting an operator of Kubernetes writes is read by it; a sign is refused. Inside the agent they are whole microseconds, the
 * unit of systemd's monotonic timestamps.
 */
import { parseDuration as parseNanoseconds } from './go-duration.ts'

export const SECOND_US = 1_000_000
export const MINUTE_US = 60 * SECOND_US
export const HOUR_US = 60 * MINUTE_US

export type ParsedDuration = { readonly ok: true; readonly us: number } | { readonly ok: false; readonly detail: string }

const EXAMPLE = 'write a number with a unit, as in 10m, 1m30s or 250ms'

export function parseDuration(text: string): ParsedDuration {
  if (/^[+-]/.test(text)) return { ok: false, detail: `"${text}" has a sign: ${EXAMPLE}` }
  const ns = parseNanoseconds(text)
  if (ns !== undefined) return { ok: true, us: Number((ns + 500n) / 1000n) }
  const isNumber = /^[\d.]+$/.test(text)
  return { ok: false, detail: `"${text}" ${isNumber ? 'has no unit' : 'is no duration'}: ${EXAMPLE}` }
}

const UNITS: readonly (readonly [unit: string, us: number])[] = [
  ['h', HOUR_US],
  ['m', MINUTE_US],
  ['s', SECOND_US],
  ['ms', 1000],
  ['us', 1],
]

/** The shortest spelling without fractions, which `parseDuration` reads back exactly. */
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

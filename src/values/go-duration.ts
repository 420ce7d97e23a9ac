/**
 * A duration in Go's syntax: `1h30m`, `100ms`. Follows `time.ParseDuration`, including its range:
 * 64 bits of nanoseconds, about 292 years. Pure.
 */

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const DURATION = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g
/** In characters. No duration in use is as long. */
const LONGEST = 1000

/** In nanoseconds. undefined: not a duration. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > LONGEST || !DURATION.test(text)) return undefined
  let sum = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(PART)) {
    const unitNs = UNIT_NS[unit] ?? 0n
    // Digits after the 18th are less than a nanosecond in any unit.
    const digits = fraction.slice(0, 18)
    sum += BigInt(whole === '' ? '0' : whole) * unitNs
    if (digits !== '') sum += (BigInt(digits) * unitNs) / 10n ** BigInt(digits.length)
  }
  const signed = text.startsWith('-') ? -sum : sum
  return -(2n ** 63n) <= signed && signed < 2n ** 63n ? signed : undefined
}

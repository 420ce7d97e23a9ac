/** A duration as Go writes it: `1h30m`, `100ms`. Pure. Rule: `time.ParseDuration`, which also has an end: 64 bits of nanoseconds, some 292 years. */

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
/** Nobody writes one that long. */
const LONGEST = 1000

/** In nanoseconds. undefined: it is none. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > LONGEST || !DURATION.test(text)) return undefined
  let sum = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(PART)) {
    const unitNs = UNIT_NS[unit] ?? 0n
    // Beyond 18 digits a fraction is below a nanosecond, whatever the unit.
    const digits = fraction.slice(0, 18)
    sum += BigInt(whole === '' ? '0' : whole) * unitNs
    if (digits !== '') sum += (BigInt(digits) * unitNs) / 10n ** BigInt(digits.length)
  }
  const signed = text.startsWith('-') ? -sum : sum
  return -(2n ** 63n) <= signed && signed < 2n ** 63n ? signed : undefined
}

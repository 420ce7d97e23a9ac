/** Durations as kubelet's config has them: Go's `1m30s`, exact, in nanoseconds, signed. Pure. Rules: `time.ParseDuration`. */

const UNITS_NS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y
const LONGEST = 100

/** undefined: it is none. */
export function parseGoDuration(text: string): bigint | undefined {
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return 0n
  if (body === '' || body.length > LONGEST) return undefined
  let total = 0n
  PART.lastIndex = 0
  while (PART.lastIndex < body.length) {
    const [, whole = '', fraction = '', unit = ''] = PART.exec(body) ?? []
    const size = UNITS_NS.get(unit)
    if (size === undefined || whole + fraction === '') return undefined
    // Go cuts off what is less than a nanosecond.
    total += BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length)
  }
  return text.startsWith('-') ? -total : total
}

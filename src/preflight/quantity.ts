/**
 * Kubernetes quantities, exact: `1Gi`, `500m`, `1.5e3`. Pure; in billionths, since nothing smaller can be written down. Rules: `ParseQuantity`,
 * k8s.io/apimachinery/pkg/api/resource/quantity.go: what is smaller than a billionth is rounded away from zero, what is larger than an int64 becomes it.
 */

export type ParsedQuantity = { readonly ok: true; readonly nanos: bigint } | { readonly ok: false; readonly detail: string }

export const NANOS = 1_000_000_000n
const LARGEST = (2n ** 63n - 1n) * NANOS

/** What one of it is worth in billionths. */
const SUFFIXES: ReadonlyMap<string, bigint> = new Map([
  ['n', 1n],
  ['u', 1000n],
  ['m', 1_000_000n],
  ['', NANOS],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, NANOS * 1000n ** BigInt(index + 1)] as const),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, NANOS * 1024n ** BigInt(index + 1)] as const),
])

/** Beyond these the answer is the largest or the smallest there is, whatever the digits. */
const MOST_DIGITS = 60

export function parseQuantity(text: string): ParsedQuantity {
  const [, sign, whole = '', point, fraction = '', suffix = ''] =
    /^([+-]?)(\d*)(\.?)(\d*)([A-Za-z]*(?:(?<=[eE])[+-]?\d+)?)$/.exec(text) ?? []
  if (sign === undefined || point === undefined || whole + fraction === '')
    return { ok: false, detail: 'is no quantity such as 500m or 1Gi' }
  const size = suffixNanos(suffix)
  if (size === undefined) return { ok: false, detail: `has no known unit: ${[...SUFFIXES.keys()].filter((one) => one !== '').join(', ')}` }
  const magnitude = scale(whole, fraction, size)
  return { ok: true, nanos: sign === '-' ? -magnitude : magnitude }
}

/** As a fraction, so that nothing is lost before the end. */
interface Size {
  readonly times: bigint
  readonly over: bigint
}

function suffixNanos(suffix: string): Size | undefined {
  const known = SUFFIXES.get(suffix)
  if (known !== undefined) return { times: known, over: 1n }
  const [, digits] = /^[eE]([+-]?\d+)$/.exec(suffix) ?? []
  if (digits === undefined) return undefined
  // Clamped: 10 to the power of a million would be computed for nothing.
  const exponent = Math.max(-2 * MOST_DIGITS, Math.min(2 * MOST_DIGITS, Number(digits)))
  const power = 10n ** BigInt(Math.abs(exponent))
  return exponent < 0 ? { times: NANOS, over: power } : { times: NANOS * power, over: 1n }
}

function scale(whole: string, fraction: string, { times, over }: Size): bigint {
  const significant = whole.replace(/^0+/, '')
  if (significant.length > MOST_DIGITS) return over === 1n ? LARGEST : capped(BigInt(significant.slice(0, 4 * MOST_DIGITS)) * times, over)
  const kept = fraction.slice(0, MOST_DIGITS)
  // A digit that stands for all that were cut off, since they still round up.
  const digits = /[1-9]/.test(fraction.slice(MOST_DIGITS)) ? `${kept}1` : kept
  return capped(BigInt(`${significant}${digits}` || '0') * times, over * 10n ** BigInt(digits.length))
}

function capped(numerator: bigint, denominator: bigint): bigint {
  const nanos = (numerator + denominator - 1n) / denominator
  return nanos > LARGEST ? LARGEST : nanos
}

/**
 * Quantities as Kubernetes writes them, exact: `1Gi`, `500m`, `1.5e3`. Pure; in billionths, since nothing smaller can be written down. Rules: `ParseQuantity`,
 * k8s.io/apimachinery/pkg/api/resource/quantity.go: what is smaller than a billionth is rounded away from zero, what is larger than an int64 becomes it.
 */

/** In one. */
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

/** In billionths. undefined: it is none. */
export function parseQuantity(text: string): bigint | undefined {
  // Each character can belong to one part only, so that the time it takes grows no faster than the text.
  const [, sign, whole = '', fraction = '', suffix = ''] = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)|[A-Za-z]{0,2})$/.exec(text) ?? []
  const size = suffixNanos(suffix)
  if (sign === undefined || whole + fraction === '' || size === undefined) return undefined
  const magnitude = scale(whole, fraction, size)
  return sign === '-' ? -magnitude : magnitude
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

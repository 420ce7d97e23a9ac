// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes Kubernetes quantities exactly: `1Gi`, `500m`, `1.5e3`. Pure. The unit is a
 * billionth, the smallest that can be written. Rules: `ParseQuantity`,
 * k8s.io/apimachinery/pkg/api/resource/quantity.go: fractions of a billionth are rounded away from
 * zero. With a suffix such as `Mi`, values beyond an int64 become the largest int64. Without digits
 * it is 0, so that `Mi`, `k` and `.` are quantities.
 */

/** Billionths in one. */
export const NANOS = 1_000_000_000n
const LARGEST = (2n ** 63n - 1n) * NANOS
/** No quantity that anybody compares is larger. */
const VAST = 10n ** 120n

/** In billionths, the binary ones last. */
const SUFFIXES: ReadonlyMap<string, bigint> = new Map([
  ['n', 1n],
  ['u', 1000n],
  ['m', 1_000_000n],
  ['', NANOS],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, NANOS * 1000n ** BigInt(index + 1)] as const),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, NANOS * 1024n ** BigInt(index + 1)] as const),
])

/** With more digits the result is the largest or the smallest value, whatever the digits. */
const MOST_DIGITS = 60
/** The most digits of an int64. */
const MOST_EXPONENT_DIGITS = 19

/** In billionths. undefined: not a quantity. */
export function parseQuantity(text: string): bigint | undefined {
  // Each character can match one part only: the time grows linearly with the text.
  const [, sign, whole = '', fraction = '', suffix = ''] = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)|[A-Za-z]{0,2})$/.exec(text) ?? []
  const size = suffixNanos(suffix)
  if (text === '' || sign === undefined || size === undefined) return undefined
  // Where upstream computes with big numbers, it needs a digit.
  if (whole + fraction === '') return /^[PE]i$/.test(suffix) || size.over > NANOS ? undefined : 0n
  const magnitude = scale(whole, fraction, size, suffix.endsWith('i') ? LARGEST : VAST)
  return sign === '-' ? -magnitude : magnitude
}

/** As text: with a binary suffix where one fits, else with a decimal one. */
export function formatQuantity(nanos: bigint): string {
  if (nanos === 0n) return '0'
  const [suffix, size] = [...SUFFIXES].findLast(([, each]) => nanos % each === 0n) ?? ['n', 1n]
  return `${nanos / size}${suffix}`
}

/** To whole ones, as of CPUs. */
export function roundUp(nanos: bigint): bigint {
  return (nanos + NANOS - 1n) / NANOS
}

/** As a fraction, to round only at the end. */
interface Size {
  readonly times: bigint
  readonly over: bigint
}

function suffixNanos(suffix: string): Size | undefined {
  const known = SUFFIXES.get(suffix)
  if (known !== undefined) return { times: known, over: 1n }
  const [, sign, digits] = /^[eE]([+-]?)0*(\d+)$/.exec(suffix) ?? []
  if (digits === undefined || digits.length > MOST_EXPONENT_DIGITS) return undefined
  const written = BigInt(`${sign === '-' ? '-' : ''}${digits}`)
  if (written !== BigInt.asIntN(64, written)) return undefined
  // Clamped: 10 to the power of a million would only waste time.
  const exponent = Math.max(-2 * MOST_DIGITS, Math.min(2 * MOST_DIGITS, Number(BigInt.asIntN(32, written))))
  const power = 10n ** BigInt(Math.abs(exponent))
  return exponent < 0 ? { times: NANOS, over: power } : { times: NANOS * power, over: 1n }
}

function scale(whole: string, fraction: string, { times, over }: Size, most: bigint): bigint {
  const significant = whole.replace(/^0+/, '')
  if (significant.length > MOST_DIGITS)
    return over === 1n ? most : capped(BigInt(significant.slice(0, 4 * MOST_DIGITS)) * times, over, most)
  const kept = fraction.slice(0, MOST_DIGITS)
  // One digit replaces those that were cut off, since they still round up.
  const digits = /[1-9]/.test(fraction.slice(MOST_DIGITS)) ? `${kept}1` : kept
  return capped(BigInt(`${significant}${digits}` || '0') * times, over * 10n ** BigInt(digits.length), most)
}

function capped(numerator: bigint, denominator: bigint, most: bigint): bigint {
  const nanos = (numerator + denominator - 1n) / denominator
  return nanos > most ? most : nanos
}

/**
 * The number that Go reads from a plain YAML scalar. Pure. Rule: `resolve`, gopkg.in/yaml.v2: drops
 * underscores, then parses a Go integer of any base (`0777`, `0o777`, `0x1FF`, `0b11`), otherwise a
 * decimal number, so that `08` is 8. A scalar that starts with a dot is a decimal number or a
 * string.
 */
const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
/** Longer scalars count as strings. */
const LONGEST = 500

/** undefined: it is a string. */
export function readGoNumber(text: string): number | undefined {
  if (text.length > LONGEST) return undefined
  if (text.startsWith('.')) return readDecimal(text)
  const plain = text.replaceAll('_', '')
  if (INTEGER.test(plain)) return readInteger(plain)
  return readDecimal(plain)
}

/** Whether it is one without a tag, too. Larger ones are no integers. */
export function isGoInteger(text: string): boolean {
  const plain = text.replaceAll('_', '')
  if (text.length > LONGEST || text.startsWith('.') || !INTEGER.test(plain)) return false
  const value = BigInt(asDigits(plain.replace(/^[-+]/, '')))
  return value < 2n ** (plain.startsWith('-') ? 63n : 64n) || (plain.startsWith('-') && value === 2n ** 63n)
}

function readInteger(plain: string): number {
  const sign = plain.startsWith('-') ? -1 : 1
  const digits = plain.replace(/^[-+]/, '')
  const value = Number(asDigits(digits))
  return value === 0 ? 0 : sign * value
}

/** As JavaScript writes octal numbers. */
function asDigits(digits: string): string {
  return /^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits
}

/** A number that is too large stays a string. */
function readDecimal(plain: string): number | undefined {
  const value = DECIMAL.test(plain) ? Number(plain) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

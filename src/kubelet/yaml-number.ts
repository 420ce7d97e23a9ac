/**
 * The number that Go reads from a plain YAML scalar. Pure. Rule: `resolve`, gopkg.in/yaml.v2: a Go
 * integer of any base (`0777`, `0o777`, `0x1FF`, `0b11`), otherwise a decimal number, so that `08`
 * is 8. The rules of `yaml-subset.ts` refuse underscores, and numbers of 16 digits in other bases.
 */
const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
/** Longer scalars count as strings. */
const LONGEST = 500

/** undefined: it is a string. */
export function readGoNumber(text: string): number | undefined {
  if (text.length > LONGEST) return undefined
  return INTEGER.test(text) ? readInteger(text) : readDecimal(text)
}

function readInteger(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1
  const digits = text.replace(/^[-+]/, '')
  // As JavaScript writes octal numbers.
  const value = Number(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits)
  return value === 0 ? 0 : sign * value
}

/** A number that is too large stays a string. */
function readDecimal(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

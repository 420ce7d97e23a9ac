/**
 * Which number a plain scalar of YAML is, to Go. Pure. Rule: `resolve`, gopkg.in/yaml.v2: underscores are dropped, then it is read as Go reads an integer of
 * any base (`0777`, `0o777`, `0x1FF`, `0b11`), else as a decimal number, which makes 8 of `08`; what opens with a dot is a decimal number or a text.
 */
const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
/** Nobody writes one that long. */
const LONGEST = 500

/** undefined: it is a text. */
export function readGoNumber(text: string): number | undefined {
  if (text.length > LONGEST) return undefined
  if (text.startsWith('.')) return readDecimal(text)
  const plain = text.replaceAll('_', '')
  if (INTEGER.test(plain)) return readInteger(plain)
  return readDecimal(plain)
}

function readInteger(plain: string): number {
  const sign = plain.startsWith('-') ? -1 : 1
  const digits = plain.replace(/^[-+]/, '')
  const value = Number(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits)
  return value === 0 ? 0 : sign * value
}

/** What is too large for a number stays a text. */
function readDecimal(plain: string): number | undefined {
  const value = DECIMAL.test(plain) ? Number(plain) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

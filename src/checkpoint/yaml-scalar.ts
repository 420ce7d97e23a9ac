/**
 * A string as a YAML scalar, quoted exactly as kubelet's YAML library does (gopkg.in/yaml.v2 2.2,
 * `encoder.stringv` and `resolve`): the agent's records are byte for byte kubelet's. Pure. Only for
 * safe names (letters, digits, `-`, `_`, `.`).
 */
/**
 * Quoted with `"` if it would not be read as a string otherwise, and with `'` if it is not a plain
 * scalar.
 */
export function encodeScalar(text: string): string {
  if (!resolvesToString(text)) return `"${text}"`
  // `yaml_emitter_analyze_scalar`: a block entry, or a document marker.
  if (text === '-' || text.startsWith('---') || text.startsWith('...')) return `'${text}'`
  return text
}

/** The string that a scalar means. undefined: it is not a string that is a safe name. */
export function decodeScalar(scalar: string): string | undefined {
  const quoted = /^(["'])([-._a-zA-Z0-9]*)\1$/.exec(scalar)
  if (quoted) return quoted[2]
  return /^[-._a-zA-Z0-9]+$/.test(scalar) && encodeScalar(scalar) === scalar ? scalar : undefined
}

const WORDS = new Set(
  [
    ['', 'null', 'Null', 'NULL', '.nan', '.NaN', '.NAN', '.inf', '.Inf', '.INF', '-.inf', '-.Inf', '-.INF'],
    ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'],
    ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'],
  ].flat(),
)

function resolvesToString(text: string): boolean {
  if (WORDS.has(text)) return false
  // Here `strconv.ParseFloat` gets the underscores, and allows them between two digits.
  if (text.startsWith('.')) return !isFloat(text.replaceAll(/(?<=[0-9])_(?=[0-9])/g, ''))
  if (!/^[-0-9]/.test(text)) return true
  // Everywhere else all underscores are removed before a number is parsed.
  const plain = text.replaceAll('_', '')
  return !(isDate(text) || isInteger(plain) || isFloat(plain))
}

/**
 * `strconv.ParseFloat` within `yamlStyleFloat`: a number too large for a double is an error, so a
 * string.
 */
function isFloat(text: string): boolean {
  return /^-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE]-?[0-9]+)?$/.test(text) && Number.isFinite(Number(text))
}

/** `strconv.ParseInt` and `ParseUint` with base 0. */
function isInteger(text: string): boolean {
  const match = /^(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text)
  const digits = match?.[2]
  if (digits === undefined) return false
  // BigInt supports every prefix except the bare 0 of an octal number.
  const value = BigInt(digits.replace(/^0(?=[0-7])/, '0o'))
  return match?.[1] === '-' ? value <= 2n ** 63n : value < 2n ** 64n
}

/** `time.Parse("2006-1-2")`: only an existing day. */
function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

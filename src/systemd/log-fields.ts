/**
 * The fields of a log line made plain: errors with their chain of causes, nothing secret, nothing endless. Pure. Callers never pass a
 * secret; this is the second lock, for the error of a library that quotes a request or a kubeconfig.
 */

export type PlainFields = Readonly<Record<string, unknown>>

const REDACTED = '[redacted]'
const MAX_DEPTH = 6
const MAX_TEXT = 8192
const MAX_ITEMS = 100

/** Names without case, `-` and `_`: those of a kubeconfig, a Secret, a ConfigMap's payload and an HTTP request. */
const SECRET_NAMES = new Set([
  'token',
  'idtoken',
  'accesstoken',
  'refreshtoken',
  'bearertoken',
  'password',
  'passphrase',
  'secret',
  'clientsecret',
  'authorization',
  'cookie',
  'privatekey',
  'data',
  'stringdata',
  'binarydata',
  'keydata',
  'certdata',
  'cadata',
  'clientkeydata',
  'clientcertificatedata',
  'certificateauthoritydata',
])

/** The line's own names; a field that is called so gets an underscore. */
const RESERVED = new Set(['level', 'time', 'msg'])

export function plainFields(fields: PlainFields): PlainFields {
  const plain = plainObject(fields, 0)
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [RESERVED.has(name) ? `${name}_` : name, value]))
}

function plainObject(object: object, depth: number): PlainFields {
  const entries = Object.entries(object).slice(0, MAX_ITEMS)
  return Object.fromEntries(entries.map(([name, value]) => [name, isSecret(name, value) ? REDACTED : plainValue(value, depth + 1)]))
}

function isSecret(name: string, value: unknown): boolean {
  return value !== undefined && SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''))
}

function plainValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return plainText(value)
    case 'bigint':
    case 'symbol':
      return String(value)
    case 'function':
      return '[function]'
    case 'object':
      if (value === null) return null
      // Also what ends a circle.
      if (depth > MAX_DEPTH) return '[...]'
      if (value instanceof Error) return plainError(value, depth)
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
      if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
      if (value instanceof Map) return plainObject(Object.fromEntries(value), depth)
      if (Array.isArray(value) || value instanceof Set) return [...value].slice(0, MAX_ITEMS).map((item) => plainValue(item, depth + 1))
      return plainObject(value, depth)
    default:
      return value
  }
}

/** No stack: for an expected failure it is noise. A bug keeps it, since there it is the only lead. */
function plainError(error: Error, depth: number): PlainFields {
  const { name, message, stack, cause, ...own } = error
  // A message that quotes its cause has said it.
  const isTold = error.cause instanceof Error && error.cause.message !== '' && error.message.includes(error.cause.message)
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  return {
    message: plainText(error.name === 'Error' ? error.message : `${error.name}: ${error.message}`),
    ...plainObject(own, depth),
    ...(isBug && error.stack !== undefined && { stack: plainText(error.stack) }),
    ...(error.cause !== undefined && !isTold && { cause: plainValue(error.cause, depth + 1) }),
  }
}

/** Also for messages. */
export function plainText(text: string): string {
  const safe = text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replaceAll(/-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(-----END [^-]*PRIVATE KEY-----|$)/g, REDACTED)
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}...` : safe
}

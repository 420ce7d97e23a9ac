/**
 * Converts the fields of a log line to plain values: errors with their chain of causes, secrets
 * redacted, sizes bounded. Pure. Callers never pass a secret; this is the second barrier, for
 * errors of libraries that quote a request or a kubeconfig.
 */

export type PlainFields = Readonly<Record<string, unknown>>

const REDACTED = '[redacted]'
const MAX_DEPTH = 6
const MAX_TEXT = 8192
const MAX_ITEMS = 100

/**
 * Names of fields in a kubeconfig, a Secret, a ConfigMap's payload and an HTTP request, compared
 * without case, `-` and `_`.
 */
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

/** The names of the line's own properties; a field with such a name gets an underscore. */
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
      // This also ends circular references.
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

/**
 * Without the stack, except for bugs: it is the only lead there, and noise for an expected failure.
 */
function plainError(error: Error, depth: number): PlainFields {
  const { name, message, stack, cause, ...own } = error
  // The cause is left out if the message quotes it.
  const isQuoted = error.cause instanceof Error && error.cause.message !== '' && error.message.includes(error.cause.message)
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  return {
    message: plainText(error.name === 'Error' ? error.message : `${error.name}: ${error.message}`),
    ...plainObject(own, depth),
    ...(isBug && error.stack !== undefined && { stack: plainText(error.stack) }),
    ...(error.cause !== undefined && !isQuoted && { cause: plainValue(error.cause, depth + 1) }),
  }
}

/** Redacts and shortens a text; used for messages too. */
export function plainText(text: string): string {
  const safe = text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replaceAll(/-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(-----END [^-]*PRIVATE KEY-----|$)/g, REDACTED)
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}...` : safe
}

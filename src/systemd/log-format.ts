// SPDX-License-Identifier: Apache-2.0
/**
 * Log lines: the formats that people read, which of them fits where stdout leads, and the fields as
 * plain values and as text. Pure.
 */

import {
  type ConfigMapRef,
  type ConfigMapSource,
  describeRef,
  describeSource,
  describeVersion,
  isConfigMapRef,
  isConfigMapSource,
} from '../subject/config-source.ts'
import { cutToBytes } from '../values/cut.ts'
import { isObject } from '../values/is-object.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** The format as the setting names it. */
type FormatChoice = 'auto' | 'json' | 'text'

/** `journal` and `journal-json` have the priority in front, and leave the time to journald. */
export type LogFormat = 'journal' | 'journal-json' | 'terminal' | 'json'

/**
 * By increasing severity. The numbers are syslog's (syslog(3)); journald reads them from a prefix
 * `<N>` (sd-daemon(3)).
 */
export const SYSLOG_PRIORITY: Readonly<Record<Level, number>> = { debug: 7, info: 6, warn: 4, error: 3 }

/** Where stdout leads: what `isatty` and fstat(2) say of it. */
export interface LogTarget {
  readonly isTTY: boolean
  readonly dev: number
  readonly ino: number
}

/**
 * JOURNAL_STREAM (systemd.exec(5)) contains the device and inode of the journal's pipe. Processes
 * whose output goes elsewhere inherit it too, so it counts only if stdout is that file.
 */
export function chooseFormat(choice: FormatChoice, journalStream: string | undefined, { isTTY, dev, ino }: LogTarget): LogFormat {
  const isJournal = journalStream === `${dev}:${ino}`
  if (choice === 'json' || (choice === 'auto' && !isJournal && !isTTY)) return isJournal ? 'journal-json' : 'json'
  return isJournal ? 'journal' : 'terminal'
}

/** `<4>message key=value key="two words"`: journald takes the priority off, and adds the time. */
export function journalLine(level: Level, message: string, fields: PlainFields): string {
  const pairs = fieldsText(message, fields)
  return `${cutToBytes(`${journalPrefix(level)}${oneLine(message)}${pairs === '' ? '' : ` ${pairs}`}`, LINE_BYTES)}\n`
}

/**
 * journald splits a line after 48 KiB (LineMax= in journald.conf(5)), and takes a `<N>` at the
 * start of the rest for a priority.
 */
const LINE_BYTES = 40 * 1024

export function journalPrefix(level: Level): string {
  return `<${SYSLOG_PRIORITY[level]}>`
}

/** SGR codes (ECMA-48). */
const COLOURS = { gray: 90, yellow: 33, red: 31 }
type Colour = keyof typeof COLOURS

const SIGNS: Readonly<Record<Level, { sign: string; colour: Colour }>> = {
  debug: { sign: ' ', colour: 'gray' },
  info: { sign: ' ', colour: 'gray' },
  warn: { sign: '!', colour: 'yellow' },
  error: { sign: 'x', colour: 'red' },
}

/** `09:19:02 ! message  key=value key="two words"`, in local time. */
export function terminalLine(level: Level, message: string, fields: PlainFields, wallMs: number, colours: boolean): string {
  const paint = (text: string, colour: Colour) => (colours ? `\u001b[${COLOURS[colour]}m${text}\u001b[39m` : text)
  const { sign, colour } = SIGNS[level]
  const time = new Date(wallMs).toTimeString().slice(0, 8)
  const pairs = fieldsText(message, fields)
  const tail = pairs === '' ? '' : `  ${paint(pairs, 'gray')}`
  const isQuiet = level === 'info' || level === 'debug'
  const text = isQuiet ? oneLine(message) : paint(oneLine(message), colour)
  return `${paint(time, 'gray')} ${paint(sign, colour)} ${text}${tail}\n`
}

/**
 * The fields of a log line as text behind its message, as klog writes structured values:
 * `reason=crash-loop detail="kubelet exited 2 times"`. A config is named as messages name it.
 * Values that the message has already are not repeated.
 * @returns '' or the pairs, separated by spaces
 */
export function fieldsText(message: string, fields: PlainFields): string {
  return listPairs(message, '', fields).join(' ')
}

/**
 * Replaces what is not printed: nothing in the log may move the cursor, turn the direction of the
 * text or fake a line. journalctl shows a message with a control character or a noncharacter as
 * `[blob data]` (systemd, `utf8_is_printable_newline`).
 */
function oneLine(text: string): string {
  return text.replaceAll(UNPRINTED_RUNS, ' ')
}

const UNPRINTED = String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]`
const UNPRINTED_RUNS = new RegExp(`${UNPRINTED}+`, 'gu')
const EACH_UNPRINTED = new RegExp(UNPRINTED, 'gu')

function listPairs(message: string, prefix: string, fields: PlainFields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => pairsOf(message, `${prefix}${name}`, value))
}

function pairsOf(message: string, name: string, value: unknown): readonly string[] {
  if (value === undefined) return []
  const text = textOf(message, value)
  if (text === undefined) return isObject(value) ? listPairs(message, `${name}.`, value) : [pair(name, JSON.stringify(value))]
  const stack = stackOf(value)
  return [...(isTold(message, value, text) ? [] : [pair(name, text)]), ...(stack === undefined ? [] : [pair(`${name}.stack`, stack)])]
}

function pair(name: string, text: string): string {
  return `${quoteIfNeeded(name)}=${quoteIfNeeded(text)}`
}

/** Undefined: an object of several facts, or a value that has no text of its own. */
function textOf(message: string, value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? value.join(',') : undefined
  if (!isObject(value)) return undefined
  if (isConfigMapSource(value))
    return isOfNamed(message, value) && !namesOtherKey(message, value) ? `@${describeVersion(value)}` : describeSource(value)
  return isConfigMapRef(value) ? describeRef(value) : chainOf(value)
}

/** If the message names its ConfigMap in upstream's longer form, its version is enough. */
function isOfNamed(message: string, { namespace, name, uid }: ConfigMapSource): boolean {
  return message.includes(`/api/v1/namespaces/${namespace}/configmaps/${name}, UID: ${uid}, `)
}

/** Whether the message has it already. */
function isTold(message: string, value: unknown, text: string): boolean {
  if (!isObject(value) || !isConfigMapSource(value) || !isOfNamed(message, value)) return hasWord(message, text)
  return value.overlay === undefined && !namesOtherKey(message, value) && hasWord(message, `ResourceVersion: ${value.resourceVersion}`)
}

/** Upstream names the key only where kubelet restarts. */
function namesOtherKey(message: string, { kubeletConfigKey }: ConfigMapRef): boolean {
  return message.includes('KubeletConfigKey: ') && !hasWord(message, `KubeletConfigKey: ${kubeletConfigKey}`)
}

function hasWord(message: string, word: string): boolean {
  return ` ${message} `.split(word).some((before, index, parts) => {
    const after = parts[index + 1]
    return word !== '' && after !== undefined && !/[\w./@+-]$/.test(before) && !/^[\w/@+-]/.test(after)
  })
}

/** An error with its causes: `could not write meta/assigned: no space left on device (ENOSPC)`. */
function chainOf({ message, code, cause }: PlainFields): string | undefined {
  if (typeof message !== 'string') return undefined
  const because = isObject(cause) ? chainOf(cause) : typeof cause === 'string' ? cause : undefined
  const named = typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message
  return because === undefined ? named : `${named}: ${because}`
}

/** Only the error of a bug has one. */
function stackOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  return typeof value.stack === 'string' ? value.stack : stackOf(value.cause)
}

/** In quotes, it is a JSON string. */
function quoteIfNeeded(text: string): string {
  if (PLAIN.test(text)) return text
  return JSON.stringify(text).replaceAll(EACH_UNPRINTED, (character) => character.split('').map(escapeUnit).join(''))
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const PLAIN = new RegExp(String.raw`^(?:(?!${UNPRINTED})[^\s"=])+$`, 'u')

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

/**
 * Converts the fields of a log line to plain values: errors with their chain of causes, secrets
 * redacted, sizes bounded. Callers never pass a secret; this is the second barrier, for errors of
 * libraries that quote a request or a kubeconfig.
 */
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
      return safeText(value)
    case 'bigint':
    case 'symbol':
      return String(value)
    case 'function':
      return '[function]'
    case 'object':
      if (value === null) return null
      // The limit also ends circular references.
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
    message: safeText(error.name === 'Error' ? error.message : `${error.name}: ${error.message}`),
    ...plainObject(own, depth),
    ...(isBug && error.stack !== undefined && { stack: safeText(error.stack) }),
    ...(error.cause !== undefined && !isQuoted && { cause: plainValue(error.cause, depth + 1) }),
  }
}

/** Redacts and shortens a text; used for messages too. */
export function safeText(text: string): string {
  const safe = text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replaceAll(/-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(-----END [^-]*PRIVATE KEY-----|$)/g, REDACTED)
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}...` : safe
}

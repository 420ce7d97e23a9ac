/**
 * The fields of a log line as text behind its message, as klog writes structured values:
 * `reason=crash-loop detail="kubelet exited 2 times"`. A config is named as messages name it. What
 * the message says already is not repeated. Pure.
 */
import { type ConfigMapRef, type ConfigMapSource, describeRef, describeSource, describeVersion } from '../decision/config-source.ts'
import { isObject } from '../values/is-object.ts'
import type { PlainFields } from './log-fields.ts'

/** @returns '' or the pairs, separated by spaces */
export function fieldsText(message: string, fields: PlainFields): string {
  return listPairs(message, '', fields).join(' ')
}

/**
 * Replaces what is not printed: nothing in the log may move the cursor, turn the direction of the
 * text or fake a line. journalctl shows a message with a control character or a noncharacter as
 * `[blob data]` (systemd, `utf8_is_printable_newline`).
 */
export function oneLine(text: string): string {
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
  if (isSource(value))
    return isOfNamed(message, value) && !namesOtherKey(message, value) ? `@${describeVersion(value)}` : describeSource(value)
  return isRef(value) ? describeRef(value) : chainOf(value)
}

function isRef(value: object): value is ConfigMapRef {
  return ['namespace', 'name', 'kubeletConfigKey'].every((name) => typeof (value as PlainFields)[name] === 'string')
}

function isSource(value: object): value is ConfigMapSource {
  const { resourceVersion, overlay } = value as PlainFields
  return isRef(value) && typeof resourceVersion === 'string' && (overlay === undefined || typeof overlay === 'string')
}

/** If the message names its ConfigMap in upstream's longer form, its version is enough. */
function isOfNamed(message: string, { namespace, name, uid }: ConfigMapSource): boolean {
  return message.includes(`/api/v1/namespaces/${namespace}/configmaps/${name}, UID: ${uid}, `)
}

/** Whether the message has it already. */
function isTold(message: string, value: unknown, text: string): boolean {
  if (!isObject(value) || !isSource(value) || !isOfNamed(message, value)) return hasWord(message, text)
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

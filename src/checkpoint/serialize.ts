// SPDX-License-Identifier: Apache-2.0
/**
 * `SerializedNodeConfigSource`: renders and parses the bytes of `meta/assigned` and the other
 * records of sources, just as kubelet does, and those of their marker. Pure. An empty file means
 * local. Bytes that neither kubelet nor the agent would write are rejected with a reason, never
 * guessed at. So is a source with a field that is not known, which may name another content, as
 * `overlay` does.
 *
 * Upstream: `fsstore.go`, `saveNodeConfigSource` and `readNodeConfigSource` in Kubernetes 1.20
 * `pkg/kubelet/kubeletconfig/checkpoint/store`; upstream reads it leniently
 * (`DecodeRemoteConfigSource`, "non-strict so we don't error out on newer API keys").
 */

import { SOURCE_NAMES, type SourceName } from '../decision/records.ts'
import { checkSource } from '../decision/safe-names.ts'
import type { ConfigMapSource, ConfigSource } from '../subject/config-source.ts'
import { isText, listOf, parseJson, shape } from '../values/json-shape.ts'

const HEADER = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: SerializedNodeConfigSource', 'source:', '  configMap:']
/**
 * In alphabetical order. Without an overlay only kubelet's own fields are written; kubelet ignores
 * `overlay`.
 */
const FIELDS = ['kubeletConfigKey', 'name', 'namespace', 'overlay', 'resourceVersion', 'uid'] as const

/** The names in the source must have been checked. */
export function serializeSource(source: ConfigSource): string {
  if (source === 'local') return ''
  const lines = FIELDS.flatMap((field) => {
    const value = source[field]
    return value === undefined ? [] : [`    ${field}: ${encodeScalar(value)}`]
  })
  return `${[...HEADER, ...lines].join('\n')}\n`
}

type ParsedSource =
  | { readonly ok: true; readonly source: ConfigSource }
  /** `isForeign`: a newer agent may have written it, and understands it. */
  | { readonly ok: false; readonly detail: string; readonly isForeign?: true }

export function parseSource(bytes: Uint8Array): ParsedSource {
  if (bytes.length === 0) return { ok: true, source: 'local' }
  const lines = Buffer.from(bytes).toString('latin1').replace(/\n$/, '').split('\n')
  for (const [at, expected] of HEADER.entries()) {
    if (lines[at] !== expected) return damaged(`line ${at + 1} is not \`${expected}\``)
  }
  const found = new Map<string, string>()
  for (const line of lines.slice(HEADER.length)) {
    const [, field, scalar] = /^ {4}(\w+): (.+)$/.exec(line) ?? []
    const value = scalar === undefined ? undefined : decodeScalar(scalar)
    if (field === undefined || value === undefined) return damaged('a line of the source is not a field with a valid name')
    if (found.has(field)) return damaged(`${field} occurs twice`)
    found.set(field, value)
  }
  const { namespace, name, kubeletConfigKey, uid, resourceVersion, overlay } = Object.fromEntries(found)
  if (namespace === undefined || name === undefined || kubeletConfigKey === undefined) return damaged('a field of the source is missing')
  if (uid === undefined || resourceVersion === undefined) return damaged('uid or resourceVersion is missing')
  const source: ConfigMapSource = { namespace, name, kubeletConfigKey, uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
  const check = checkSource(source)
  if (!check.ok) return damaged(check.detail)
  const unknown = [...found.keys()].find((field) => !FIELDS.some((known) => known === field))
  return unknown === undefined ? { ok: true, source } : { ...damaged(`the source has an unknown field, ${unknown}`), isForeign: true }
}

function damaged(what: string): { readonly ok: false; readonly detail: string } {
  return { ok: false, detail: `not a SerializedNodeConfigSource: ${what}` }
}

/**
 * A string as a YAML scalar, quoted exactly as kubelet's YAML library does (gopkg.in/yaml.v2 2.2,
 * `encoder.stringv` and `resolve`). Only for safe names (letters, digits, `-`, `_`, `.`). Quoted
 * with `"` if it would not be read as a string otherwise, and with `'` if it is not a plain
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
  // In such a text, `strconv.ParseFloat` gets the underscores, and allows them between two digits.
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

/** Names that another agent knows may be among them. */
export type Marked = ReadonlySet<string>
type SourceIn = (name: SourceName) => ConfigSource | undefined

/**
 * `meta/local`: which of the records of sources say local on purpose. Such a record is an empty
 * file, as upstream's is, and a disk can leave an empty file too: after a power loss, where it lies
 * about what it has flushed, or after a restore. So the marker is written first.
 */
const isMarker = shape({ local: listOf(isText) })

/** @param before what another agent has marked besides stays marked */
export function renderMarker(names: readonly SourceName[], before: Marked | undefined): string {
  const others = [...(before ?? [])].filter((marked) => !SOURCE_NAMES.some((name) => name === marked))
  return JSON.stringify({ local: [...names, ...others] })
}

/** undefined: damaged. */
export function parseMarker(bytes: Uint8Array): Marked | undefined {
  const marker = parseJson(bytes, isMarker)
  return marker && new Set(marker.local)
}

/**
 * Whether an empty record says local.
 *
 * An agent that wrote no marker left empty records, too. A fallback counts as local then: what else
 * it may have named is not known. An empty record of the assigned config counts as local only where
 * nothing shows that another config was assigned, and that is for the reader to find out.
 *
 * @param marked undefined: there is no marker
 * @param sourceIn what the record says. undefined: there is none, or it is damaged
 */
export function isConfirmed(name: SourceName, marked: Marked | undefined, sourceIn: SourceIn): boolean {
  if (marked?.has(name) === true) return true
  return name !== 'assigned' && (marked === undefined || isOutdated(marked, sourceIn))
}

/** Whether an agent that writes no marker has been here since, or this one died in between. */
function isOutdated(marked: Marked, sourceIn: SourceIn): boolean {
  return SOURCE_NAMES.some((name) => marked.has(name) && (sourceIn(name) ?? 'local') !== 'local')
}

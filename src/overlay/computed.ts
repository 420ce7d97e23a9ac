// SPDX-License-Identifier: Apache-2.0
/**
 * A text whose fields are partly computed from the node: fields of a KubeletConfiguration, and
 * under `computed` an expression for each other field. It has a kind of its own, so that an agent
 * that does not know it refuses it. Pure: what evaluates expressions is passed in.
 */
import { type ComputationResult, LONGEST_EXPRESSION, MOST_EXPRESSIONS } from '../cel/computation.ts'
import { describeMisfit } from '../kubelet/decode.ts'
import type { FieldTable } from '../kubelet/field.ts'
import { decides, formatPath } from '../kubelet/field-path.ts'
import { FIELDS, findMisfits, LAST_IN_TABLES } from '../kubelet/fields.ts'
import type { LocatedYaml, Position } from '../kubelet/yaml-document.ts'
import { onOneLine, shorten } from '../values/cut.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { composePatches } from '../values/merge-patch.ts'

const COMPUTED = { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'ComputedKubeletConfiguration' }
const EXPRESSIONS = 'computed'
/** Credentials may be in it, and the journal and `plan` show an expression that fails. */
const SECRET = 'staticPodURLHeader'

/** Rejects only where nothing is said about the expressions, so that a later call may work. */
export type Evaluate = (expressions: readonly string[]) => Promise<ComputationResult>

const KIND_WRITTEN = new RegExp(`\\bkind["']?\\s*:\\s*["']?${COMPUTED.kind}\\b`)

/**
 * Without a parser. A text of another kind may look so too, as in a comment. One of this kind that
 * does not, as with escapes in the name of its kind, is refused as of a kind that kubelet has not.
 */
export function mayCompute(text: string | undefined): boolean {
  return text !== undefined && KIND_WRITTEN.test(text)
}

export function isComputedText(value: unknown): value is JsonObject {
  return isObject(value) && value.kind === COMPUTED.kind
}

type ComputedReading = { readonly ok: true; readonly text: ComputedText } | Refusal
type Refusal = { readonly ok: false; readonly detail: string }

interface ComputedText {
  readonly fields: readonly ComputedField[]
  /** The fields that are not computed. */
  readonly written: JsonObject
}

/** A field with the value that was computed. */
export interface ComputedValue {
  readonly field: string
  readonly value: unknown
  /** The text that computes it. undefined: the assigned one. */
  readonly of?: string
}

type Filled = { readonly ok: true; readonly fields: JsonObject; readonly values: readonly ComputedValue[] } | Refusal

/** The fields of such a text as a patch, the computed ones included. */
export async function fillText(located: Pick<LocatedYaml, 'value' | 'locate'>, evaluate: Evaluate): Promise<Filled> {
  const reading = readComputed(located)
  return reading.ok ? fillIn(reading.text, await evaluate(reading.text.fields.map(({ text }) => text))) : reading
}

export function readComputed({ value, locate }: Pick<LocatedYaml, 'value' | 'locate'>): ComputedReading {
  if (!isObject(value)) return refuse('it is not a mapping of fields')
  const { apiVersion, kind: _, [EXPRESSIONS]: expressions, ...written } = value
  if (apiVersion !== COMPUTED.apiVersion)
    return refuse(`apiVersion must be ${COMPUTED.apiVersion}, the one of ${COMPUTED.kind} that this version knows`)
  if (!isObject(expressions)) return refuse(`${EXPRESSIONS} must be a mapping of fields to expressions`)
  const count = Object.keys(expressions).length
  if (count > MOST_EXPRESSIONS) return refuse(`${EXPRESSIONS} has ${count} expressions, and a text at most ${MOST_EXPRESSIONS}`)
  const fields: ComputedField[] = []
  for (const [key, text] of Object.entries(expressions)) {
    const field = readField(key, text, locate([EXPRESSIONS, key]))
    if ('detail' in field) return refuse(field.detail)
    fields.push(field)
  }
  const clash = findClash(fields, written)
  return clash === undefined ? { ok: true, text: { fields, written } } : refuse(clash)
}

/** The text with what was computed of it, as far as its fields can hold it. */
export function fillIn({ fields, written }: ComputedText, computed: ComputationResult): Filled {
  if (!computed.ok) {
    const { place = '', text = '' } = fields[computed.at] ?? {}
    return refuse(`${place}: ${computed.detail}, in ${shorten(onOneLine(text))}`)
  }
  if (computed.values === null) return { ok: true, fields: written, values: [] }
  let patch: unknown = written
  const values: ComputedValue[] = []
  for (const [index, { path, place, text }] of fields.entries()) {
    const value = computed.values[index]
    const result = path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)
    // A null removes the field, of whatever type.
    const [misfit] = value === null ? [] : findMisfits(isObject(result) ? result : {}, FIELDS, LAST_IN_TABLES.minor)
    if (misfit !== undefined) return refuse(`${place}: ${describeMisfit(misfit)}, and is not, in ${shorten(onOneLine(text))}`)
    values.push({ field: formatPath(path), value })
    patch = composePatches(patch, result)
  }
  return { ok: true, fields: isObject(patch) ? patch : {}, values }
}

function refuse(detail: string): Refusal {
  return { ok: false, detail }
}

interface ComputedField {
  readonly path: readonly string[]
  readonly text: string
  /** For messages. */
  readonly place: string
}

function readField(key: string, text: unknown, position: Position | undefined): ComputedField | { readonly detail: string } {
  const at = position === undefined ? '' : ` at line ${position.line}, column ${position.column}`
  const place = `${EXPRESSIONS} ${shorten(onOneLine(key))}${at}`
  if (typeof text !== 'string' || text.trim() === '') return { detail: `${place} is no expression: write a text` }
  if (text.length > LONGEST_EXPRESSION)
    return { detail: `${place} has ${text.length} characters, and an expression at most ${LONGEST_EXPRESSION}` }
  const path = readPath(key)
  if (path === undefined)
    return { detail: `${place} is no field: write it as in maxPods, kubeReserved.memory or evictionHard["memory.available"]` }
  if (path[0] === SECRET) return { detail: `${place} may hold a secret, and logs show expressions: write it` }
  if (!isField(path)) return { detail: `${place} is no field of a KubeletConfiguration` }
  return { path, text, place }
}

const STEP = /^(?:\.?([A-Za-z_][\w-]*)|\[("[^"\\]*"|'[^'\\]*')\])/

/** undefined: it is no path of names. */
function readPath(key: string): readonly string[] | undefined {
  const path: string[] = []
  let rest = key.startsWith('.') ? '' : `.${key}`
  while (rest !== '') {
    const [step = '', name, quoted] = STEP.exec(rest) ?? []
    if (step === '' || (name !== undefined && !step.startsWith('.'))) return undefined
    path.push(name ?? quoted?.slice(1, -1) ?? '')
    rest = rest.slice(step.length)
  }
  return path.length === 0 ? undefined : path
}

/** A field of the tables, or a key of one that is a map. A list has no parts. */
function isField(path: readonly string[]): boolean {
  let fields: FieldTable | undefined = FIELDS
  for (const [index, step] of path.entries()) {
    const field: FieldTable[string] | undefined = fields !== undefined && Object.hasOwn(fields, step) ? fields[step] : undefined
    if (field === undefined) return false
    if (field.type.endsWith('-map')) return path.length - index <= 2
    fields = field.type === 'object' ? field.fields : undefined
  }
  return true
}

/** A field has one value: that it is written, or computed twice, is a mistake of somebody. */
function findClash(fields: readonly ComputedField[], written: JsonObject): string | undefined {
  for (const [index, { path, place }] of fields.entries()) {
    if (decides(written, path)) return `${place}: ${formatPath(path)} is written in the same text too`
    const other = fields.find((each, at) => at !== index && path.every((step, depth) => each.path[depth] === step))
    if (other !== undefined) return `${place} and ${other.place} are the same field, or one in the other`
  }
  return undefined
}

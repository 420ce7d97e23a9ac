/**
 * A KubeletConfiguration out of a text, as kubelet decodes it: strict about JSON types, lenient about fields it does not know. Pure: the YAML parser is
 * passed in, so that it need not be loaded for JSON. Rules: `DecodeKubeletConfiguration`, pkg/kubelet/kubeletconfig/util/codec; what opens with `{` is JSON
 * and nothing else (`GuessJSONStream`, k8s.io/apimachinery), but behind a comment, a `---` or a byte order mark it is YAML, which has comments and
 * trailing commas. Types are those of the fields that every kubelet since 1.20 has; of newer ones an older kubelet does not mind.
 */

import { isObject } from '../values/is-object.ts'
import type { Field, Fields } from './field.ts'
import { formatPath } from './field-path.ts'
import { findMisfits, type Misfit } from './field-types.ts'
import { FIELDS, isFieldName } from './fields.ts'
import { layOut, mayHoldUnlikeIntegers, parseJson } from './json.ts'

export const API_VERSION = 'kubelet.config.k8s.io/v1beta1'
export const KIND = 'KubeletConfiguration'

/** How much of a text upstream looks at to tell JSON. */
const PEEKED = 2048
const OPENS_LIKE_JSON = /^(?:(?!\ufeff)[\s\u0085])*\{/

export type Decoded =
  | { readonly ok: true; readonly config: KubeletConfig; readonly remarks: readonly string[] }
  | { readonly ok: false; readonly detail: string }
/** By field name; every field that 1.20 knows has the type of its row in FIELDS, or is null. */
export type KubeletConfig = Readonly<Record<string, unknown>>

export type YamlParser = (
  text: string,
) => { readonly ok: true; readonly value: unknown; readonly remarks: readonly string[] } | { readonly ok: false; readonly detail: string }

export function looksLikeJson(text: string): boolean {
  return OPENS_LIKE_JSON.test(text.slice(0, PEEKED))
}

export function decodeConfig(text: string, parseYaml: YamlParser): Decoded {
  if (text.trim() === '') return { ok: false, detail: 'it is empty' }
  const isJson = looksLikeJson(text)
  const parsed = isJson ? { remarks: [], ...parseJson(text) } : parseYaml(text)
  if (!parsed.ok) return { ok: false, detail: parsed.detail }
  const problem = findProblem(parsed.value, isJson ? text : undefined)
  if (problem !== undefined) return { ok: false, detail: problem.detail }
  const config = isObject(parsed.value) ? parsed.value : {}
  const unknown = Object.keys(config).filter((name) => !isKindKey(name) && !isFieldName(name))
  return {
    ok: true,
    config,
    remarks: [...parsed.remarks, ...unknown.map((name) => `unknown field ${JSON.stringify(name)}: kubelet ignores it`)],
  }
}

/** Why kubelet would not decode this value, and where. `json`: the text that it was written in, if that was JSON. */
export function findProblem(
  value: unknown,
  json: string | undefined,
): { readonly detail: string; readonly path: Misfit['path'] } | undefined {
  if (!isObject(value)) return { detail: 'it is no object', path: [] }
  const kind = checkKind(value, json !== undefined)
  if (kind !== undefined) return kind
  const [first, ...others] = [...findMisfits(value, FIELDS, undefined), ...(json === undefined ? [] : findUnlikeIntegers(json))]
  if (first === undefined) return undefined
  return { detail: [first, ...others.slice(0, 9)].map(describeMisfit).join('; '), path: first.path }
}

/**
 * Of upper and lower case in these two keys kubelet makes no difference (`SimpleMetaFactory`, by encoding/json). Of several the last one counts: in JSON that of
 * the text, in YAML that of the alphabet, by which Go sorts what it makes JSON of.
 */
function checkKind(config: KubeletConfig, isJson: boolean): { detail: string; path: Misfit['path'] } | undefined {
  const entries = Object.entries(config)
  if (!isJson) entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const wrong = entries.find(([key, value]) => isKindKey(key) && value !== null && typeof value !== 'string')
  if (wrong !== undefined) return { detail: `${wrong[0]} must be a string`, path: [wrong[0]] }
  const last = (name: string): readonly [key: string, value: unknown] | undefined =>
    entries.findLast(([key, value]) => fold(key) === name && value !== null)
  const [kindKey, kind] = last('kind') ?? ['kind', undefined]
  if (kind !== KIND) return { detail: `kind is ${describe(kind)}, not ${KIND}`, path: [kindKey] }
  const [versionKey, apiVersion] = last('apiversion') ?? ['apiVersion', undefined]
  return apiVersion === API_VERSION
    ? undefined
    : { detail: `apiVersion is ${describe(apiVersion)}, not ${API_VERSION}`, path: [versionKey] }
}

function isKindKey(name: string): boolean {
  return ['kind', 'apiversion'].includes(fold(name))
}

function fold(key: string): string {
  return key.toUpperCase().toLowerCase()
}

function findUnlikeIntegers(json: string): Misfit[] {
  if (!mayHoldUnlikeIntegers(json)) return []
  return layOut(json).unlikeIntegers.flatMap((path) =>
    /^u?int\d/.test(findField(path)?.type ?? '') ? [{ path, wanted: 'an integer, written as one' }] : [],
  )
}

/** The field of a path of keys and indices. */
function findField(path: Misfit['path']): Field | undefined {
  let fields: Fields | undefined = FIELDS
  let field: Field | undefined
  for (const step of path) {
    if (typeof step === 'number') continue
    field = fields !== undefined && Object.hasOwn(fields, step) ? fields[step] : undefined
    fields = field?.fields
  }
  return field
}

export function describeMisfit({ path, wanted }: Misfit): string {
  return `${formatPath(path)} must be ${wanted}`
}

function describe(value: unknown): string {
  if (value === undefined) return 'not set'
  return typeof value === 'object' && value !== null ? 'no text' : JSON.stringify(value).slice(0, 80)
}

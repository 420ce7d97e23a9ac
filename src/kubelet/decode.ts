// SPDX-License-Identifier: Apache-2.0
/**
 * Decodes a KubeletConfiguration as kubelet does: strict about JSON types, lenient about unknown
 * fields. Pure; the YAML parser is passed in, since JSON does not need it. Rules:
 * `DecodeKubeletConfiguration`, pkg/kubelet/kubeletconfig/util/codec. A text that starts with `{`
 * is JSON only (`IsJSONBuffer`, k8s.io/apimachinery; kubelet 1.20 looks at 2048 bytes); after a
 * comment, a `---` or a byte order mark it is YAML, which allows comments and trailing commas.
 * Checks the types of the fields that every kubelet since 1.20 has; older kubelets ignore newer
 * fields.
 */
import { shorten } from '../values/cut.ts'
import { foldName } from '../values/go-syntax.ts'
import { isObject } from '../values/is-object.ts'
import type { Field, FieldTable } from './field.ts'
import { type FieldPath, formatPath } from './field-path.ts'
import { FIELDS, findMisfits, isFieldName, type Misfit } from './fields.ts'
import { layOut, mayHoldUnlikeIntegers, parseJsonText } from './json.ts'
import { describeMark } from './left-marks.ts'
import { explainJson } from './unreadable.ts'
import { describeWrapper } from './wrappers.ts'
import type { YamlFailure, YamlReader } from './yaml-document.ts'

export const API_VERSION = 'kubelet.config.k8s.io/v1beta1'
export const KIND = 'KubeletConfiguration'

const OPENS_LIKE_JSON = /^(?:(?!\ufeff)[\s\u0085])*\{/

interface DecodeFailure {
  readonly ok: false
  readonly detail: string
  /** Kubelet may take the text, and read another config from it. */
  readonly unjudged?: true | undefined
}

type Decoded = { readonly ok: true; readonly config: KubeletConfig; readonly remarks: readonly string[] } | DecodeFailure
/** By field name. Fields that 1.20 knows are null or have the type given in FIELDS. */
export type KubeletConfig = Readonly<Record<string, unknown>>

export const EMPTY_CONFIG = 'the config is empty'

type YamlParser = (text: string) => { readonly ok: true; readonly value: unknown; readonly remarks: readonly string[] } | DecodeFailure

export function looksLikeJson(text: string): boolean {
  return OPENS_LIKE_JSON.test(text)
}

export function decodeConfig(text: string, parseYaml: YamlParser): Decoded {
  if (text.trim() === '') return { ok: false, detail: EMPTY_CONFIG }
  const isJson = looksLikeJson(text)
  const parsed = isJson ? readJson(text) : parseYaml(text)
  if (!parsed.ok) return { ok: false, detail: parsed.detail, unjudged: parsed.unjudged }
  const problem = describeEmptyFirst(parsed.value, text) ?? findProblem(parsed.value, isJson ? text : undefined)
  if (problem !== undefined) return { ok: false, detail: problem.detail }
  const config = isObject(parsed.value) ? parsed.value : {}
  const unknown = Object.keys(config).filter((name) => !isKindKey(name) && !isFieldName(name))
  return {
    ok: true,
    config,
    remarks: [...parsed.remarks, ...unknown.map((name) => `unknown field ${JSON.stringify(name)}: kubelet ignores it`)],
  }
}

function readJson(text: string): { readonly ok: true; readonly value: unknown; readonly remarks: readonly string[] } | YamlFailure {
  const parsed = parseJsonText(text)
  return parsed.ok ? { ...parsed, remarks: [] } : explainJson(text, parsed)
}

/** Why kubelet cannot decode a value. */
export interface DecodeProblem {
  readonly detail: string
  readonly path: FieldPath
  /** All values of a wrong type, where that is why. Kubelet stops at one of them. */
  readonly misfits: readonly Misfit[]
}

/** `json` is its text if that is JSON. */
export function findProblem(value: unknown, json: string | undefined): DecodeProblem | undefined {
  if (!isObject(value)) return { detail: 'the config is not an object', path: [], misfits: [] }
  const kind = checkKind(value, json !== undefined)
  if (kind !== undefined) {
    const why = describeWrapper(value) ?? describeMark(value[String(kind.path[0])])
    return { ...kind, detail: why === undefined ? kind.detail : `${kind.detail}; ${why}`, misfits: [] }
  }
  const misfits = [...findMisfits(value, FIELDS, undefined), ...(json === undefined ? [] : findInText(json))]
  const [first] = misfits
  return first && { detail: misfits.slice(0, 10).map(describeMisfit).join('; '), path: first.path, misfits }
}

/**
 * Whether the config is a KubeletConfiguration. undefined: it is.
 *
 * Kubelet ignores the case of these two keys (`SimpleMetaFactory`, by encoding/json). The last
 * spelling counts: in JSON the last in the text, in YAML the last in alphabetical order, in which
 * Go writes the keys when it converts YAML to JSON.
 */
export function checkKind(config: KubeletConfig, isJson: boolean): { detail: string; path: FieldPath } | undefined {
  const entries = Object.entries(config)
  if (!isJson) entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const wrong = entries.find(([key, value]) => isKindKey(key) && value !== null && typeof value !== 'string')
  if (wrong !== undefined) return { detail: `${wrong[0]} must be a string`, path: [wrong[0]] }
  const last = (name: string): readonly [key: string, value: unknown] | undefined =>
    entries.findLast(([key, value]) => foldName(key) === name && value !== null)
  const [kindKey, kind] = last('kind') ?? ['kind', undefined]
  if (kind !== KIND) return { detail: `kind must be ${KIND}, but is ${describe(kind)}`, path: [kindKey] }
  const [versionKey, apiVersion] = last('apiversion') ?? ['apiVersion', undefined]
  return apiVersion === API_VERSION
    ? undefined
    : { detail: `apiVersion must be ${API_VERSION}, but is ${describe(apiVersion)}`, path: [versionKey] }
}

/** The answer of `checkKind` about a config that names no kind, as a part of one may. */
export const NO_KIND = `kind must be ${KIND}, but is ${describe(undefined)}`

function isKindKey(name: string): boolean {
  return ['kind', 'apiversion'].includes(foldName(name))
}

/** Faults of the text that the parsed value does not show. */
function findInText(json: string): Misfit[] {
  if (!mayHoldUnlikeIntegers(json)) return []
  return layOut(json).unlikeIntegers.flatMap(({ path }): Misfit[] =>
    /^u?int\d/.test(findField(path)?.type ?? '')
      ? [{ path, wanted: 'an integer without a fraction or an exponent', advice: 'write it in plain digits' }]
      : [],
  )
}

/** The field at a path of keys and indices. */
function findField(path: FieldPath): Field | undefined {
  let fields: FieldTable | undefined = FIELDS
  let field: Field | undefined
  for (const step of path) {
    if (typeof step === 'number') continue
    field = fields !== undefined && Object.hasOwn(fields, step) ? fields[step] : undefined
    fields = field?.fields
  }
  return field
}

export function describeMisfit({ path, wanted }: Misfit): string {
  return `${shorten(formatPath(path))} must be ${wanted}`
}

function describe(value: unknown): string {
  if (value === undefined) return 'not set'
  return typeof value === 'object' && value !== null ? 'not a string' : JSON.stringify(value).slice(0, 80)
}

/** Decodes the text of a KubeletConfiguration, with limits on what its YAML may cost. */
export async function decodeText(text: string, yaml: Pick<YamlReader, 'first'>, signal?: AbortSignal): Promise<Decoded> {
  if (text.trim() === '' || looksLikeJson(text)) return decodeConfig(text, () => ({ ok: false, detail: 'not read as YAML' }))
  const parsed = await yaml.first(text, signal)
  return decodeConfig(text, () => parsed)
}

/**
 * The kind of a config file that is not kubelet's. Without a parser of YAML: it runs when a config
 * is activated, which may not wait. A text that starts with `{` is JSON, as for kubelet. Any other
 * text is read as a block mapping of YAML, and only its first document, as sigs.k8s.io/yaml does.
 *
 * @returns undefined: the file is of kubelet's kind, or has no kind that can be told
 */
export function findOtherKind(text: string): string | undefined {
  const kind = looksLikeJson(text) ? kindOfJson(text) : kindOfYaml(text)
  return kind === KIND ? undefined : kind
}

function kindOfJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? nameKind(value.kind) : undefined
  } catch {
    return undefined
  }
}

/** As in `metav1.TypeMeta`, an empty kind is none. */
function nameKind(kind: unknown): string | undefined {
  if (kind === undefined || kind === null || kind === '') return undefined
  return typeof kind === 'string' ? kind : JSON.stringify(kind)
}

/** Lines before the first line of a document's content. */
const BEFORE_CONTENT = /^(?:%.*|---(?:[ \t]+(?:#.*)?)?|[ \t]*(?:#.*)?)$/
const DOCUMENT_END = /^(?:---|\.\.\.)(?:[ \t]|$)/
/** A key is not indented more than the first one; what is, belongs to another key. */
const KIND_LINE = /^( *)(?:kind|"kind"|'kind')[ \t]*:(?:[ \t]+(.*))?$/

function kindOfYaml(text: string): string | undefined {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|[\r\n]/)
  const start = lines.findIndex((line) => !BEFORE_CONTENT.test(line))
  if (start < 0) return undefined
  const end = lines.findIndex((line, at) => at > start && DOCUMENT_END.test(line))
  const content = lines.slice(start, end < 0 ? undefined : end)
  const indent = /^ */.exec(content[0] ?? '')?.[0] ?? ''
  const found = content.map((line) => KIND_LINE.exec(line)).filter((match) => match?.[1] === indent)
  return kindOfScalar(found.at(-1)?.[2] ?? '')
}

interface DocumentStart {
  /** Counted from 1. */
  readonly line: number
  /** The document has comments at most. */
  readonly isEmpty: boolean
}

/**
 * The documents of a text in YAML. Content is indented or begins otherwise, so that a line that
 * begins like a mark of documents is one.
 */
export function listDocuments(text: string): readonly DocumentStart[] {
  const starts: { line: number; isEmpty: boolean }[] = []
  let hasEnded = true
  for (const [index, whole] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n/)
    .entries()) {
    const isMark = /^---(?:[ \t]|$)/.test(whole)
    if (!isMark && DOCUMENT_END.test(whole)) hasEnded = true
    else if (isMark || (hasEnded && !BEFORE_CONTENT.test(whole))) {
      starts.push({ line: index + 1, isEmpty: BEFORE_CONTENT.test(whole) })
      hasEnded = false
    } else if (!BEFORE_CONTENT.test(whole)) {
      const last = starts.at(-1)
      if (last !== undefined) last.isEmpty = false
    }
  }
  return starts
}

/** Kubelet takes the first document of a text, also where that is empty. */
export function describeEmptyFirst(value: unknown, text: string): { readonly detail: string; readonly line: number } | undefined {
  const documents = value === null ? listDocuments(text) : []
  const at = documents.findIndex(({ isEmpty }) => !isEmpty)
  const line = documents[at]?.line
  if (line === undefined || at === 0) return undefined
  const detail = `the first document of this text is empty, and kubelet reads no other: remove what is before document ${at + 1}`
  return { detail: `${detail} at line ${line}, column 1`, line }
}

function kindOfScalar(text: string): string | undefined {
  const scalar = text.replace(/^(?:[&!]\S*[ \t]+)+/, '')
  const [, quoted, word] = /^(?:"([^"\\]*)"|'([^']*)')[ \t]*(?:#.*)?$/.exec(scalar) ?? []
  if (quoted !== undefined || word !== undefined) return nameKind(quoted ?? word)
  // An alias, a block scalar, a collection, or a quoted scalar that goes on.
  if (/^[*|>[{"'&!]/.test(scalar)) return undefined
  // One blank, not all of them: the time would grow with the square of the text.
  const plain = scalar.replace(/(?:^|[ \t])#.*$/s, '').trimEnd()
  return /^(?:~|null|Null|NULL)$/.test(plain) ? undefined : nameKind(plain)
}

/**
 * YAML as kubelet reads it: the one module that imports `yaml`, loaded late by whoever needs it, since it costs memory. It never throws for a text
 * that is wrong, and bounds what a text can cost. Rules: sigs.k8s.io/yaml, that is gopkg.in/yaml.v2: YAML 1.1, but neither timestamps nor
 * sexagesimal numbers; of two equal keys the last one counts.
 */
import {
  type Document,
  type DocumentOptions,
  type ParseOptions,
  parseAllDocuments,
  parseDocument as parseOne,
  type SchemaOptions,
} from 'yaml'

export interface YamlDocument {
  readonly value: unknown
  /** What kubelet takes without a word, and people want to hear of: equal keys. */
  readonly remarks: readonly string[]
}
export interface YamlFailure {
  readonly ok: false
  /** With line and column where they are known; never with the text itself, which may hold a secret. */
  readonly detail: string
}

/** A ConfigMap has at most 1 MiB; a file of manifests may hold a few of them. */
const LONGEST = 4 << 20
const MOST_ALIASES = 100
const DEEPEST = 100
/** `is_printable` of YAML 1.1, turned round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
const OTHER_TYPES = /^tag:yaml\.org,2002:(timestamp|binary|omap|pairs|set)$/

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !(OTHER_TYPES.test(tag.tag) || tag.format === 'TIME')),
  // What it would print, nobody reads; and of several documents the first one counts.
  logLevel: 'silent',
}

/** The first document of a text; of an empty text, null. */
export function parseDocument(text: string): ({ readonly ok: true } & YamlDocument) | YamlFailure {
  const refusal = refuse(text)
  if (refusal !== undefined) return { ok: false, detail: refusal }
  const read = readDocument(parseOne(text, OPTIONS))
  return typeof read === 'string' ? { ok: false, detail: read } : { ok: true, ...read }
}

/** All documents of a text that say anything. One that is wrong makes the whole wrong: nobody knows where it ends. */
export function parseDocuments(text: string): { readonly ok: true; readonly documents: readonly YamlDocument[] } | YamlFailure {
  const refusal = refuse(text)
  if (refusal !== undefined) return { ok: false, detail: refusal }
  const documents: YamlDocument[] = []
  for (const document of parseAllDocuments(text, OPTIONS)) {
    const read = readDocument(document)
    if (typeof read === 'string') return { ok: false, detail: read }
    if (read.value !== null) documents.push(read)
  }
  return { ok: true, documents }
}

function refuse(text: string): string | undefined {
  if (text.length > LONGEST) return `longer than ${LONGEST >> 20} MiB`
  const unprintable = UNPRINTABLE.exec(text)
  return unprintable === null
    ? undefined
    : `control characters are not allowed (at line ${text.slice(0, unprintable.index).split('\n').length})`
}

function readDocument(document: Document): YamlDocument | string {
  const [equalKeys, errors] = [true, false].map((equal) => document.errors.filter(({ code }) => (code === 'DUPLICATE_KEY') === equal))
  const error = errors?.[0]
  if (error !== undefined) return firstLine(error.message)
  const value = toValue(document)
  if (typeof value === 'string') return value
  const remarks = (equalKeys ?? []).map(
    ({ linePos }) => `the same key again at line ${linePos?.[0].line}, column ${linePos?.[0].col}: the last one counts`,
  )
  return { value: value.value, remarks }
}

function toValue(document: Document): { readonly value: unknown } | string {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
    return isDeep(value, DEEPEST) ? `nested more than ${DEEPEST} deep, or within itself` : { value }
  } catch (error) {
    // Aliases that lead nowhere, and those that multiply, show only here.
    if (error instanceof Error) return firstLine(error.message)
    throw error
  }
}

function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1))
}

/** Below it the library shows the text around. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}

/**
 * Tells whether a config file is of another kind than kubelet's. Pure, and without a parser of
 * YAML: it runs when a config is activated, which may not wait. A text that starts with `{` is
 * JSON, as for kubelet. Any other text is read as a block mapping of YAML, and only its first
 * document, as sigs.k8s.io/yaml does. Where the kind cannot be told, the file may be kubelet's.
 */
import { isObject } from '../values/is-object.ts'
import { KIND, looksLikeJson } from './decode.ts'

/** @returns undefined: the file is of kubelet's kind, or has no kind that can be told */
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

/** What comes before the first line of a document's content. */
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

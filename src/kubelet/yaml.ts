/**
 * YAML as kubelet reads it: the one module that imports `yaml`, loaded late by whoever needs it, since it costs memory. It never throws for a text
 * that is wrong, and bounds what a text can cost. Rules: sigs.k8s.io/yaml, that is gopkg.in/yaml.v2: YAML 1.1, but neither timestamps nor
 * sexagesimal numbers; of two equal keys the last one counts.
 */
import {
  Composer,
  CST,
  type Document,
  type DocumentOptions,
  isScalar,
  Lexer,
  LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  stringify,
  visit,
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
/** Of one anchor, those within it counted again each time. */
const MOST_ALIASES = 100
/** Of all anchors: to find what each means, the library looks at every other. */
const MOST_ALIASES_IN_ALL = 1000
const DEEPEST = 100
/** The document itself and a scalar come on top. */
const TALLEST_STACK = DEEPEST + 2
const TOO_DEEP = `nested more than ${DEEPEST} deep`
/** `is_printable` of YAML 1.1, turned round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
const OTHER_TYPES = /^tag:yaml\.org,2002:(timestamp|binary|omap|pairs|set)$/

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !(OTHER_TYPES.test(tag.tag) || tag.format === 'TIME')),
  // What it would print, nobody reads.
  logLevel: 'silent',
  // The library compares each key with every other: a minute for a ConfigMap of short ones. See findEqualKeys.
  uniqueKeys: false,
}

/** The first document of a text; of an empty text, null. */
export function parseDocument(text: string): ({ readonly ok: true } & YamlDocument) | YamlFailure {
  for (const read of readAll(text)) return typeof read === 'string' ? { ok: false, detail: read } : { ok: true, ...read }
  return { ok: true, value: null, remarks: [] }
}

/** All documents of a text that say anything. One that is wrong makes the whole wrong: nobody knows where it ends. */
export function parseDocuments(text: string): { readonly ok: true; readonly documents: readonly YamlDocument[] } | YamlFailure {
  const documents: YamlDocument[] = []
  for (const read of readAll(text)) {
    if (typeof read === 'string') return { ok: false, detail: read }
    if (read.value !== null) documents.push(read)
  }
  return { ok: true, documents }
}

/** A text in place of a document: why there is none, and then nothing follows. */
function* readAll(text: string): Generator<YamlDocument | string> {
  const refusal = refuse(text)
  if (refusal !== undefined) return yield refusal
  const lines = new LineCounter()
  lines.addNewLine(0)
  try {
    for (const document of new Composer(OPTIONS).compose(parseBounded(text, lines))) yield readDocument(document, lines)
  } catch (error) {
    if (!(error instanceof CostlyText)) throw error
    yield error.message
  }
}

class CostlyText extends Error {}

/**
 * The parser keeps its own stack; whatever reads its tokens goes down the call stack with each level, and the call stack has an end. So what is too deep never
 * gets there.
 */
function* parseBounded(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  let aliases = 0
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > TALLEST_STACK) throw new CostlyText(`${TOO_DEEP}${placeAt(lines, parser.offset)}`)
    if (lexeme.startsWith('*') && before !== CST.SCALAR) aliases += 1
    if (aliases > MOST_ALIASES_IN_ALL) throw new CostlyText(`more than ${MOST_ALIASES_IN_ALL} aliases${placeAt(lines, parser.offset)}`)
    before = lexeme
  }
  yield* parser.end()
}

function refuse(text: string): string | undefined {
  if (text.length > LONGEST) return `longer than ${LONGEST >> 20} MiB`
  const unprintable = UNPRINTABLE.exec(text)
  return unprintable === null
    ? undefined
    : `control characters are not allowed (at line ${text.slice(0, unprintable.index).split('\n').length})`
}

function readDocument(document: Document, lines: LineCounter): YamlDocument | string {
  const [error] = document.errors
  if (error !== undefined) return `${firstLine(error.message)}${placeAt(lines, error.pos[0])}`
  const value = toValue(document)
  if (typeof value === 'string') return value
  const remarks = findEqualKeys(document).map((offset) => `the same key again${placeAt(lines, offset)}: the last one counts`)
  return { value: value.value, remarks }
}

/** Where keys stand that their object has had before. */
function findEqualKeys(document: Document): number[] {
  const offsets: number[] = []
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) offsets.push(key.range?.[0] ?? 0)
        seen.add(key.value)
      }
    },
  })
  return offsets.sort((a, b) => a - b)
}

function placeAt(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return ` at line ${line}, column ${col}`
}

function toValue(document: Document): { readonly value: unknown } | string {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
    return isDeep(value, DEEPEST) ? `${TOO_DEEP}, or within itself` : { value }
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

/** Below it some errors of the library show the text around. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}

/** JSON values as YAML that every reader of YAML 1.1 or 1.2 takes for the same: in doubt, a text is quoted. Long texts are not folded. */
export function formatDocument(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
}

/**
 * YAML as kubelet reads it: the one module that imports `yaml`, loaded late by whoever needs it, since it costs memory. It never throws for a text
 * that is wrong, and bounds what a text can cost. Rules: sigs.k8s.io/yaml, that is gopkg.in/yaml.v2: YAML 1.1, but neither timestamps nor
 * sexagesimal numbers; of two equal keys the last one counts; and what cannot become JSON is an error.
 */
import {
  Composer,
  CST,
  type Document,
  type DocumentOptions,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  type ParseOptions,
  Parser,
  Scalar,
  type ScalarTag,
  type SchemaOptions,
  stringify,
  type YAMLMap,
} from 'yaml'
import type { LocatedYaml, YamlDocument, YamlFailure, YamlPath, YamlPlace } from './yaml-document.ts'
import { readGoNumber } from './yaml-number.ts'

/** A ConfigMap has at most 1 MiB; a file of manifests may hold a few of them. */
const LONGEST = 4 << 20
/** Of one anchor, those within it counted again each time. */
const MOST_ALIASES = 100
/** Of all anchors: to find what each means, the library looks at every other. */
const MOST_ALIASES_IN_ALL = 1000
const DEEPEST = 100
/** In YAML 1.1 a line ends with any of these; the library knows two of them. */
const OTHER_LINE_ENDS = /\r(?!\n)|[\u0085\u2028\u2029]/g
/** The document itself and a scalar come on top. */
const TALLEST_STACK = DEEPEST + 2
const TOO_DEEP = `nested more than ${DEEPEST} deep`
/** `is_printable` of YAML 1.1, turned round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
const OTHER_TYPES = /^tag:yaml\.org,2002:(timestamp|binary|omap|pairs|set)$/

const NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+.\d]/,
  resolve: (text): number | string => readGoNumber(text) ?? text,
}

/** What `!!float` asks for by name. */
const FLOAT: ScalarTag = { ...NUMBER, tag: 'tag:yaml.org,2002:float' }

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => [
    ...tags.filter((tag) => typeof tag === 'string' || !(OTHER_TYPES.test(tag.tag) || isOtherNumber(tag))),
    NUMBER,
    FLOAT,
  ],
  // What it would print, nobody reads.
  logLevel: 'silent',
  // The library compares each key with every other: a minute for a ConfigMap of short ones. See findEqualKeys.
  uniqueKeys: false,
}

/** The first document of a text; of an empty text, null. */
export function parseDocument(text: string): ({ readonly ok: true } & YamlDocument) | YamlFailure {
  const read = parseLocated(text)
  return read.ok ? { ok: true, value: read.value, remarks: read.remarks } : read
}

/** The same, with the places where things stand. They are looked up when they are asked for. */
export function parseLocated(text: string): ({ readonly ok: true } & LocatedYaml) | YamlFailure {
  for (const read of readAll(text)) return read
  return { ok: true, value: null, remarks: [], repeated: [], locate: () => undefined }
}

/** All documents of a text that say anything. One that is wrong makes the whole wrong: nobody knows where it ends. */
export function parseDocuments(text: string): { readonly ok: true; readonly documents: readonly YamlDocument[] } | YamlFailure {
  const documents: YamlDocument[] = []
  for (const read of readAll(text)) {
    if (!read.ok) return read
    if (read.value !== null) documents.push({ value: read.value, remarks: read.remarks })
  }
  return { ok: true, documents }
}

/** After a failure nothing follows. */
function* readAll(text: string): Generator<({ readonly ok: true } & LocatedYaml) | YamlFailure> {
  const refusal = refuse(text)
  if (refusal !== undefined) return yield refusal
  const lines = new LineCounter()
  lines.addNewLine(0)
  try {
    for (const document of new Composer(OPTIONS).compose(parseBounded(text.replace(OTHER_LINE_ENDS, '\n'), lines)))
      yield readDocument(document, lines)
  } catch (error) {
    if (!(error instanceof CostlyText)) throw error
    yield failAt(error.message, lines, error.offset)
  }
}

class CostlyText extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

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
    if (parser.stack.length > TALLEST_STACK) throw new CostlyText(TOO_DEEP, parser.offset)
    if (lexeme.startsWith('*') && before !== CST.SCALAR) aliases += 1
    if (aliases > MOST_ALIASES_IN_ALL) throw new CostlyText(`more than ${MOST_ALIASES_IN_ALL} aliases`, parser.offset)
    before = lexeme
  }
  yield* parser.end()
}

function refuse(text: string): YamlFailure | undefined {
  if (text.length > LONGEST) return { ok: false, detail: `longer than ${LONGEST >> 20} MiB`, position: undefined }
  const unprintable = UNPRINTABLE.exec(text)
  if (unprintable === null) return undefined
  const before = text.slice(0, unprintable.index)
  const line = before.split('\n').length
  const position = { line, column: before.length - before.lastIndexOf('\n') }
  return { ok: false, detail: `control characters are not allowed (at line ${line})`, position }
}

function readDocument(document: Document, lines: LineCounter): ({ readonly ok: true } & LocatedYaml) | YamlFailure {
  const [error] = document.errors
  if (error !== undefined) return failAt(firstLine(error.message), lines, error.pos[0])
  const directive = document.warnings.find(({ code }) => code === 'BAD_DIRECTIVE')
  if (directive !== undefined) return failAt('a directive that nobody knows', lines, directive.pos[0])
  const { yaml } = document.directives ?? {}
  if (yaml?.explicit === true && yaml.version !== '1.1') return failAt('only %YAML 1.1 is read', lines, 0)
  const keys = findKeys(document)
  const [wrong] = keys.wrong
  if (wrong !== undefined) return failAt(wrong.why, lines, wrong.offset)
  const value = toValue(document)
  if (typeof value === 'string') return { ok: false, detail: value, position: undefined }
  const repeated = keys.repeated.map(({ path, offset }) => ({ path, position: findPlace(lines, offset) }))
  const remarks = keys.repeated.map(({ offset }) => `the same key again${placeAt(lines, offset)}: the last one counts`)
  return {
    ok: true,
    value: value.value,
    remarks,
    repeated,
    locate: (path) => {
      const offset = findOffset(document, path)
      return offset === undefined ? undefined : findPlace(lines, offset)
    },
  }
}

interface Keys {
  /** That their object has had before. */
  readonly repeated: { path: YamlPath; offset: number }[]
  /** That cannot be the key of a JSON object, and values that JSON has no word for. */
  readonly wrong: { why: string; offset: number }[]
}

function findKeys(document: Document): Keys {
  const keys: Keys = { repeated: [], wrong: [] }
  collectKeys(document, document.contents, [], keys)
  keys.repeated.sort((a, b) => a.offset - b.offset)
  return keys
}

function collectKeys(document: Document, node: unknown, path: YamlPath, keys: Keys): void {
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) collectKeys(document, item, [...path, index], keys)
    return
  }
  if (isScalar(node)) {
    if (typeof node.value === 'number' && !Number.isFinite(node.value))
      keys.wrong.push({ why: 'JSON has no such number', offset: offsetOf(node) })
    return
  }
  if (!isMap(node)) return
  const seen = new Set<string>()
  for (const { key, value } of node.items) {
    const isNull = key === null || (isScalar(key) && key.value === null)
    if (isNull || isCollection(key)) keys.wrong.push({ why: 'no text, so that it cannot be a key', offset: offsetOf(key) })
    const name = nameOf(key)
    if (isMerge(key)) overrideBefore(node, key, value, document)
    if (seen.has(name)) keys.repeated.push({ path: [...path, name], offset: offsetOf(key) })
    seen.add(name)
    collectKeys(document, value, [...path, name], keys)
  }
}

/** To Go what is merged in counts more than what stands before it, and less than what follows. The library lets both count more. */
function overrideBefore(map: YAMLMap, key: unknown, value: unknown, document: Document): void {
  const index = map.items.findIndex((pair) => pair.key === key)
  const sources = (isSeq(value) ? value.items : [value]).map((source) => (isAlias(source) ? source.resolve(document) : source))
  const merged = new Set(sources.flatMap((source) => (isMap(source) ? source.items.map((pair) => nameOf(pair.key)) : [])))
  map.items = map.items.filter((pair, at) => at >= index || !merged.has(nameOf(pair.key)))
}

function findOffset(document: Document, path: YamlPath): number | undefined {
  let node: unknown = document.contents
  let offset: number | undefined
  for (const step of path) {
    const inner = isAlias(node) ? node.resolve(document) : node
    if (typeof step === 'number') {
      if (!isSeq(inner)) return undefined
      node = inner.items[step]
      offset = isNode(node) ? offsetOf(node) : undefined
    } else {
      const pair = isMap(inner) ? findPair(document, inner, step) : undefined
      if (pair === undefined) return undefined
      node = pair.value
      offset = offsetOf(pair.key)
    }
    if (offset === undefined) return undefined
  }
  return offset
}

/** Of equal keys the last, then what is merged in. */
function findPair(document: Document, map: YAMLMap, name: string): Pair | undefined {
  const own = map.items.findLast(({ key }) => nameOf(key) === name)
  if (own !== undefined) return own
  for (const { key, value } of map.items) {
    if (!isMerge(key)) continue
    const source = isAlias(value) ? value.resolve(document) : value
    for (const each of isSeq(source) ? source.items : [source]) {
      const merged = isAlias(each) ? each.resolve(document) : each
      const found = isMap(merged) && merged !== map ? merged.items.findLast((pair) => nameOf(pair.key) === name) : undefined
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** The library has a symbol for it. In quotes it is a key like any other. */
function isMerge(key: unknown): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && nameOf(key) === '<<'
}

function nameOf(key: unknown): string {
  const name = isScalar(key) ? key.value : key
  return typeof name === 'symbol' ? (name.description ?? '') : String(name)
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

function findPlace(lines: LineCounter, offset: number): YamlPlace {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

function placeAt(lines: LineCounter, offset: number): string {
  const { line, column } = findPlace(lines, offset)
  return ` at line ${line}, column ${column}`
}

function failAt(detail: string, lines: LineCounter, offset: number): YamlFailure {
  return { ok: false, detail: `${detail}${placeAt(lines, offset)}`, position: findPlace(lines, offset) }
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

/** Those of the library, but for infinity and what is no number. */
function isOtherNumber({ tag, test }: { readonly tag: string; readonly test?: RegExp }): boolean {
  return /:(int|float)$/.test(tag) && test?.test('.inf') !== true
}

/** JSON values as YAML that every reader of YAML 1.1 or 1.2 takes for the same: in doubt, a text is quoted. Long texts are not folded. */
export function formatDocument(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
}

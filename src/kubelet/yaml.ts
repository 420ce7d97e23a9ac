// SPDX-License-Identifier: Apache-2.0
/**
 * Parses YAML as kubelet does. The only module that imports `yaml`; loaded on demand, since it
 * takes memory. Never throws for an invalid text, and bounds the cost of any text. Rules:
 * sigs.k8s.io/yaml, which uses gopkg.in/yaml.v2: YAML 1.1 without timestamps and sexagesimal
 * numbers; of duplicate keys the last one counts; values that JSON cannot express are errors.
 */
import {
  Composer,
  CST,
  type Document,
  type DocumentOptions,
  isAlias,
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
import type { FieldPath } from './field-path.ts'
import { DEEPEST, TOO_DEEP } from './json.ts'
import { explainYaml } from './unreadable.ts'
import type { DocumentsReading, LocatedReading, Position, YamlDocument, YamlFailure } from './yaml-document.ts'
import { findOutside, type Outside, readGoNumber, refuseText, TabbedLines } from './yaml-subset.ts'

/** Per anchor, counting nested aliases each time. */
const MOST_ALIASES = 100
/** For all anchors together: to resolve an alias, the library visits all others. */
const MOST_ALIASES_IN_ALL = 1000
/** Plus the document itself and a scalar. */
const TALLEST_STACK = DEEPEST + 2

const NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+.\d]/,
  resolve: (text): number | string => readGoNumber(text) ?? text,
}

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags) => [...tags.filter((tag) => typeof tag === 'string' || !isOther(tag)), NUMBER],
  logLevel: 'silent',
  // The library compares each key with every other, which takes a minute for a ConfigMap of short
  // keys. See findKeys.
  uniqueKeys: false,
}

/** The first document of a text; null for an empty text. */
export function parseDocument(text: string): ({ readonly ok: true } & YamlDocument) | YamlFailure {
  const read = parseLocated(text)
  return read.ok ? { ok: true, value: read.value, remarks: read.remarks } : read
}

/** The same with positions, which are looked up on demand. */
export function parseLocated(text: string): LocatedReading {
  return readFirst(text, true)
}

/** Also a text that kubelet may read differently: for one of which it does not get the bytes. */
export function parseUncommon(text: string): LocatedReading {
  return readFirst(text, false)
}

function readFirst(text: string, isCommonOnly: boolean): LocatedReading {
  for (const read of readAll(text, isCommonOnly)) return read.ok ? read : explainYaml(text, read)
  return { ok: true, value: null, remarks: [], repeated: [], locate: () => undefined }
}

/** All of any text that are not empty. One error makes all fail: where that one ends is unknown. */
export function parseDocuments(text: string): DocumentsReading {
  const documents: YamlDocument[] = []
  for (const read of readAll(text, false)) {
    if (!read.ok) return explainYaml(text, read)
    if (read.value !== null) documents.push({ value: read.value, remarks: read.remarks })
  }
  return { ok: true, documents }
}

/** Stops after the first failure. */
function* readAll(text: string, isCommonOnly: boolean): Generator<LocatedReading> {
  const refusal = refuseText(text)
  if (refusal !== undefined && (isCommonOnly || refusal.unjudged !== true)) return yield refusal
  const lines = new LineCounter()
  lines.addNewLine(0)
  try {
    const outsides: Outside[] = []
    const tokens = withOutsides(parseBounded(text, lines), outsides)
    for (const document of new Composer(OPTIONS).compose(tokens)) {
      const outside = outsides.find(({ offset }) => offset < (document.range?.[2] ?? 0))
      yield readDocument(document, lines, isCommonOnly ? outside : 'any')
    }
  } catch (error) {
    if (!(error instanceof RefusedText)) throw error
    yield failAt(error.message, lines, error.offset)
  }
}

/** Keeps what is outside of the common part of YAML. Errors of the library say more. */
function* withOutsides(tokens: Iterable<CST.Token>, outsides: Outside[]): Generator<CST.Token> {
  for (const token of tokens) {
    const outside = findOutside(token)
    if (outside !== undefined) outsides.push(outside)
    yield token
  }
}

class RefusedText extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/**
 * Checks the depth while parsing: the parser keeps its own stack, but the readers of its tokens
 * recurse, and a deeper text could exhaust the call stack.
 */
function* parseBounded(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  let aliases = 0
  let before = ''
  const lineStarts = new TabbedLines([CST.BOM, CST.DOCUMENT, CST.FLOW_END, CST.SCALAR], CST.SCALAR)
  for (const lexeme of new Lexer().lex(text)) {
    if (lineStarts.hasTab(lexeme)) throw new RefusedText('a line begins with a tab', parser.offset)
    yield* parser.next(lexeme)
    if (parser.stack.length > TALLEST_STACK) throw new RefusedText(TOO_DEEP, parser.offset)
    if (lexeme.startsWith('*') && before !== CST.SCALAR) aliases += 1
    if (aliases > MOST_ALIASES_IN_ALL) throw new RefusedText(`more than ${MOST_ALIASES_IN_ALL} aliases`, parser.offset)
    before = lexeme
  }
  yield* parser.end()
}

/** @param outside `any`: what is outside of the common part is taken, too */
function readDocument(document: Document, lines: LineCounter, outside: Outside | undefined | 'any'): LocatedReading {
  const [error] = document.errors
  if (error !== undefined) return failAt(firstLine(error.message), lines, error.pos[0])
  if (outside !== undefined && outside !== 'any') return { ...failAt(outside.why, lines, outside.offset), unjudged: true }
  const keys = findKeys(document)
  const wrong = keys.wrong.find(({ unjudged }) => outside !== 'any' || unjudged !== true)
  if (wrong !== undefined) return { ...failAt(wrong.why, lines, wrong.offset), unjudged: wrong.unjudged }
  const value = toValue(document)
  if (typeof value === 'string') return { ok: false, detail: value, position: undefined }
  const repeated = keys.repeated.map(({ path, offset }) => ({ path, position: findPlace(lines, offset) }))
  const remarks = keys.repeated.map(({ offset }) => `duplicate key${placeAt(lines, offset)}: the last one counts`)
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
  /** Keys that occur again in their object. */
  readonly repeated: { path: FieldPath; offset: number }[]
  /** Keys and values that JSON cannot express. */
  readonly wrong: { why: string; offset: number; unjudged?: true }[]
}

function findKeys(document: Document): Keys {
  const keys: Keys = { repeated: [], wrong: [] }
  collectKeys(document, document.contents, [], keys)
  keys.repeated.sort((a, b) => a.offset - b.offset)
  return keys
}

function collectKeys(document: Document, node: unknown, path: FieldPath, keys: Keys): void {
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) collectKeys(document, item, [...path, index], keys)
    return
  }
  if (isAlias(node)) {
    // The library looks only at those that no other key replaces.
    const end = node.resolve(document)?.range?.[1]
    const why = end === undefined ? 'Unresolved alias' : end < offsetOf(node) ? undefined : 'anchor contains itself'
    if (why !== undefined) keys.wrong.push({ why, offset: offsetOf(node) })
  }
  if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value))
    keys.wrong.push({ why: 'JSON does not allow this number', offset: offsetOf(node) })
  if (!isMap(node)) return
  const seen = new Set<string>()
  for (const { key, value } of node.items) {
    if (!isMerge(key) && !(isScalar(key) && typeof key.value === 'string'))
      keys.wrong.push({ why: 'a key must be text: put it in quotes', offset: offsetOf(key), unjudged: true })
    const name = nameOf(key)
    if (isMerge(key)) overrideBefore(node, key, value, document)
    if (seen.has(name)) keys.repeated.push({ path: [...path, name], offset: offsetOf(key) })
    seen.add(name)
    collectKeys(document, value, [...path, name], keys)
  }
}

/**
 * In Go, merged keys override the keys before the merge and yield to those after it. The library
 * lets all own keys override merged ones.
 */
function overrideBefore(map: YAMLMap, key: unknown, value: unknown, document: Document): void {
  const index = map.items.findIndex((pair) => pair.key === key)
  const sources = (isSeq(value) ? value.items : [value]).map((source) => (isAlias(source) ? source.resolve(document) : source))
  const merged = new Set(sources.flatMap((source) => (isMap(source) ? source.items.map((pair) => nameOf(pair.key)) : [])))
  map.items = map.items.filter((pair, at) => at >= index || !merged.has(nameOf(pair.key)))
}

function findOffset(document: Document, path: FieldPath): number | undefined {
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

/** The last of duplicate keys; otherwise a merged one. */
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

/** The library parses it as a symbol. In quotes it is an ordinary key. */
function isMerge(key: unknown): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && nameOf(key) === '<<'
}

function nameOf(key: unknown): string {
  const name = isScalar(key) ? key.value : undefined
  return typeof name === 'symbol' ? (name.description ?? '') : String(name)
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

function findPlace(lines: LineCounter, offset: number): Position {
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
    return isDeep(value, DEEPEST) ? `${TOO_DEEP}, or contains itself` : { value }
  } catch (error) {
    // Unresolved aliases and too many expansions are detected only here.
    if (error instanceof Error) return firstLine(error.message)
    throw error
  }
}

function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1))
}

/** Some errors of the library quote the text in further lines. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}

/** Timestamps, and the library's own numbers, except for infinity and NaN. */
function isOther({ tag, test }: { readonly tag: string; readonly test?: RegExp }): boolean {
  return /:(int|float|timestamp)$/.test(tag) && test?.test('.inf') !== true
}

/**
 * Writes JSON values as YAML that parsers of YAML 1.1 and 1.2 read alike: quotes a string in doubt.
 * Does not fold long strings.
 */
export function formatDocument(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
}

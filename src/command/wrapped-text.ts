// SPDX-License-Identifier: Apache-2.0
/**
 * Takes a KubeletConfiguration out of what a person has: the only one among several documents, or
 * one within the object of another tool, alone or in the MIME parts of user data. Where the text
 * holds several or none, says what it is and where. Never guesses: what has a tool's own fields is
 * named, not translated.
 */
import { isDeepStrictEqual } from 'node:util'
import { API_VERSION, KIND, listDocuments, looksLikeJson } from '../kubelet/decode.ts'
import { type FieldPath, formatPath } from '../kubelet/field-path.ts'
import { findOffset, layOut, parseJsonText } from '../kubelet/json.ts'
import { findWrapper, type HeldConfig, type Wrapped } from '../kubelet/wrappers.ts'
import { type Position, positionsIn, type YamlReader } from '../kubelet/yaml-document.ts'
import { locateNearest } from '../preflight/finding.ts'
import { foldName } from '../values/go-syntax.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import type { PlaceInFile } from './manifest-text.ts'

type Readers = Pick<YamlReader, 'all' | 'firstOfAny'>

type WrappedReading =
  /** As it is, it may be a KubeletConfiguration. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'taken'
      readonly text: string
      /** The tool lays it over a config of its own. */
      readonly isPart: boolean
      /** Where it was, for a sentence: `spec.kubelet.config of a NodeConfig of nodeadm, line 8`. */
      readonly from: string
      readonly place: PlaceInFile
    }
  | { readonly kind: 'named'; readonly problem: string; readonly position: Position | undefined; readonly advice: string }

/** A document of the text. */
interface Piece {
  readonly text: string
  /** Lines before it. */
  readonly before: number
}

interface Document extends Piece {
  readonly value: unknown
  readonly number: number
}

const MOST_PIECES = 200

export async function readWrapped(text: string, yaml: Readers): Promise<WrappedReading> {
  const mime = splitMime(text)
  if (mime?.length === 0) return { kind: 'named', problem: NO_NODE_CONFIG, position: undefined, advice: SAVE }
  const documents = await readDocuments(mime ?? [{ text, before: 0 }], yaml)
  const [first] = documents
  if (first === undefined || (mime === undefined && isConfig(first.value))) return { kind: 'none' }
  const found = documents.flatMap((document): Found[] => {
    if (isConfig(document.value)) return [{ document, wrapped: undefined, held: { path: [], value: document.value } }]
    const wrapped = findWrapper(document.value)
    if (wrapped === undefined) return []
    return wrapped.held.length === 0 ? [{ document, wrapped, held: undefined }] : wrapped.held.map((held) => ({ document, wrapped, held }))
  })
  const taken = found.flatMap(({ document, wrapped, held }) => (held === undefined ? [] : [{ document, wrapped, held }]))
  const [only, ...others] = taken
  const count = documents.length
  if (only !== undefined) return others.length === 0 ? take(only, count, yaml) : nameAll(taken, count, yaml)
  return found[0]?.wrapped === undefined ? { kind: 'none' } : name(found[0].document, found[0].wrapped, count, yaml)
}

interface Found {
  readonly document: Document
  /** undefined: the document itself is a KubeletConfiguration. */
  readonly wrapped: Wrapped | undefined
  readonly held: HeldConfig | undefined
}

type Taken = Found & { readonly held: HeldConfig }

const SAVE = 'save the KubeletConfiguration as a file of its own, and give that'
const NO_NODE_CONFIG = 'this is user data in MIME parts, and none of them is an application/node.eks.aws in plain text'

/** Kubelet ignores the case of the key: see `checkKind`. */
function isConfig(value: unknown): value is JsonObject {
  return isObject(value) && Object.entries(value).some(([name, kind]) => kind === KIND && foldName(name) === 'kind')
}

async function take({ document, wrapped, held }: Taken, count: number, yaml: Readers): Promise<WrappedReading> {
  const shift: PlaceInFile = ({ line, column }) => ({ line: line + document.before, column })
  const locate = await locateIn(document, yaml)
  const from = describePlace(wrapped, held.path, locate(held.path), document, count)
  if (held.path.length === 0) return { kind: 'taken', text: document.text, isPart: false, from, place: shift }
  const place: PlaceInFile = (_, path) => locate([...held.path, ...path])
  return { kind: 'taken', text: await cutOut(document, held, locate(held.path), yaml), isPart: true, from, place }
}

function describePlace(
  wrapped: Wrapped | undefined,
  path: FieldPath,
  position: Position | undefined,
  { number, before, text }: Document,
  count: number,
): string {
  const document = count > 1 ? `document ${number}, ` : ''
  const line = `${document}line ${position?.line ?? before + contentOf(text)}`
  return wrapped === undefined ? line : `${path.length === 0 ? '' : `${formatPath(path)} of `}${wrapped.called}, ${line}`
}

async function nameAll(found: readonly Taken[], count: number, yaml: Readers): Promise<WrappedReading> {
  const places: string[] = []
  let last: { readonly document: Document; readonly locate: (path: FieldPath) => Position | undefined } | undefined
  for (const { document, wrapped, held } of found.slice(0, 10)) {
    if (last?.document !== document) last = { document, locate: await locateIn(document, yaml) }
    places.push(describePlace(wrapped, held.path, last.locate(held.path), document, count))
  }
  const more = found.length > places.length ? ', and more' : ''
  return {
    kind: 'named',
    problem: `this holds ${found.length} KubeletConfigurations: ${places.join('; ')}${more}`,
    position: undefined,
    advice: 'save one of them as a file, and give that',
  }
}

async function name(document: Document, wrapped: Wrapped, count: number, yaml: Readers): Promise<WrappedReading> {
  const { called, path, advice } = wrapped
  const position = (await locateIn(document, yaml))(path) ?? { line: document.before + contentOf(document.text), column: 1 }
  const where = count > 1 ? `document ${document.number} is ${called}` : `this is ${called}`
  return { kind: 'named', problem: `${where}, and no KubeletConfiguration`, position, advice }
}

/** Finds a place in the whole text. */
async function locateIn({ text, before }: Document, yaml: Readers): Promise<(path: FieldPath) => Position | undefined> {
  if (looksLikeJson(text)) {
    const [layout, positionOf] = [layOut(text), positionsIn(text)]
    const locate = (path: FieldPath) => {
      const offset = findOffset(layout, path)
      return offset === undefined ? undefined : positionOf(offset)
    }
    return (path) => locateNearest({ locate }, path)
  }
  const read = await yaml.firstOfAny(text)
  if (!read.ok) return () => undefined
  return (path) => {
    const position = locateNearest(read, path)
    return position && { line: position.line + before, column: position.column }
  }
}

/** The text of a config in a document: as it is there, if it stands in lines of its own. */
async function cutOut({ text, before }: Document, { value }: HeldConfig, key: Position | undefined, yaml: Readers): Promise<string> {
  const block = key === undefined || looksLikeJson(text) ? undefined : cutBlock(text.split('\n'), { ...key, line: key.line - before })
  const kind = value.kind === undefined ? { kind: KIND } : {}
  const head = value.kind === undefined && value.apiVersion === undefined ? { apiVersion: API_VERSION, ...kind } : kind
  const lines = Object.entries(head).map(([name, word]) => `${name}: ${word}\n`)
  if (block !== undefined) {
    const cut = `${lines.join('')}${block}`
    const again = await yaml.firstOfAny(cut)
    // A block may be lines that cannot follow others, or need an anchor that is elsewhere.
    if (again.ok && isDeepStrictEqual(again.value, { ...head, ...value })) return cut
  }
  return `${lines.join('')}${(await import('../kubelet/yaml.ts')).formatDocument(value)}`
}

/** The lines below a key that are indented more, without that indentation. */
function cutBlock(lines: readonly string[], { line, column }: Position): string | undefined {
  if (!/:\s*(?:#.*)?$/.test((lines[line - 1] ?? '').slice(0, 1000))) return undefined
  const after = lines.slice(line)
  const indent = /^ */.exec(after.find((each) => !/^\s*(?:#.*)?$/.test(each.slice(0, 1000))) ?? '')?.[0].length ?? 0
  if (indent < column) return undefined
  const end = after.findIndex((each) => each.trim() !== '' && !each.startsWith(' '.repeat(indent)))
  return `${after
    .slice(0, end < 0 ? undefined : end)
    .map((each) => each.slice(indent))
    .join('\n')
    .trimEnd()}\n`
}

async function readDocuments(pieces: readonly Piece[], yaml: Readers): Promise<Document[]> {
  const documents: Document[] = []
  if (pieces.length > MOST_PIECES) return []
  for (const piece of pieces) {
    const read = await readPiece(piece, yaml)
    if (read === undefined) return []
    for (const each of read) documents.push({ ...each, number: documents.length + 1 })
  }
  return documents
}

async function readPiece(piece: Piece, yaml: Readers): Promise<(Piece & { readonly value: unknown })[] | undefined> {
  const { text } = piece
  if (looksLikeJson(text)) {
    const parsed = parseJsonText(text)
    return parsed.ok ? [{ ...piece, value: parsed.value }] : undefined
  }
  const read = await yaml.all(text)
  if (!read.ok) return undefined
  const written = splitDocuments(piece)
  if (written.length !== read.documents.length || written.length > MOST_PIECES) return undefined
  return written.map((each, index) => ({ ...each, value: read.documents[index]?.value }))
}

/** The first line that is more than a comment; counts from 1. */
function contentOf(text: string): number {
  return text.split('\n').findIndex((line) => !WITHOUT_CONTENT.test(line.slice(0, 1000))) + 1
}

const MARK = /^---\s*(?:#.*)?$/
const WITHOUT_CONTENT = /^(?:%.*|---|\.\.\.)?\s*(?:#.*)?$/

/** Without the empty ones, and without a mark that stands alone. */
function splitDocuments({ text, before }: Piece): Piece[] {
  const lines = text.split('\n')
  const starts = listDocuments(text)
  return starts.flatMap(({ line, isEmpty }, index) => {
    const end = starts[index + 1]?.line
    const first = MARK.test((lines[line - 1] ?? '').slice(0, 1000)) ? line : line - 1
    const own = lines.slice(first, end === undefined ? undefined : end - 1).join('\n')
    return isEmpty ? [] : [{ text: end === undefined ? own : `${own}\n`, before: before + first }]
  })
}

/**
 * The parts of user data that are for nodeadm (awslabs/amazon-eks-ami, nodeadm: a MIME multi-part
 * document). undefined: the text is no such thing.
 */
function splitMime(text: string): Piece[] | undefined {
  if (!/^(?:mime-version|content-type)\s*:/i.test(text.slice(0, 100))) return undefined
  const lines = text.split(/\r?\n/)
  const boundary = /boundary="?([^"\s;]+)/i.exec(headersOf(lines, 0).text)?.[1]
  if (boundary === undefined) return undefined
  const last = lines.indexOf(`--${boundary}--`)
  // A part that is not closed counts: the text may have been cut.
  const own = last < 0 ? lines : lines.slice(0, last)
  const marks = own.flatMap((line, index) => (line === `--${boundary}` ? [index] : []))
  return marks.flatMap((mark, index) => {
    const { text: headers, end } = headersOf(own, mark + 1)
    const isPlain =
      /^content-type:\s*application\/node\.eks\.aws\b/im.test(headers) && !/^content-transfer-encoding:\s*base64/im.test(headers)
    return isPlain ? [{ text: own.slice(end + 1, marks[index + 1]).join('\n'), before: end + 1 }] : []
  })
}

const MOST_HEADERS = 50

/** Up to the empty line behind them. */
function headersOf(lines: readonly string[], start: number): { readonly text: string; readonly end: number } {
  const some = lines.slice(start, start + MOST_HEADERS)
  const empty = some.indexOf('')
  const headers = empty < 0 ? some : some.slice(0, empty)
  return { text: headers.join('\n').slice(0, 4000), end: empty < 0 ? lines.length : start + empty }
}

/**
 * Parses JSON as kubelet does, with positions and without a library. Pure. Rules: encoding/json,
 * which checks the whole text first, and github.com/json-iterator/go, which does not accept `1.0`
 * and `1e3` as integers. It takes fewer levels than kubelet does.
 */
import { DEEPEST, TOO_DEEP } from './depth.ts'
import type { FieldPath } from './field-path.ts'

/** A value in the text. */
interface JsonNode {
  /** Of its key, or of the list's item. */
  readonly offset: number
  /** Of the value itself. */
  readonly start: number
  readonly members?: Map<string, JsonNode>
  readonly items?: JsonNode[]
}

/** Its path is made when it is asked for: the paths of a long text together take much memory. */
interface Place {
  readonly path: FieldPath
}

export interface JsonLayout {
  readonly root: JsonNode
  readonly repeated: readonly (Place & { readonly offset: number })[]
  /** Of repeated keys, all values but the last: where they begin in the text. */
  readonly shadowed: readonly (Place & { readonly start: number })[]
  /** Whole numbers that are not written as integers: `1.0`, `1e3`. */
  readonly unlikeIntegers: readonly Place[]
}

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly detail: string; readonly offset: number | undefined }

export function parseJson(text: string): ParsedJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The engine's error quotes the text, which may hold a secret: only the position is used.
    const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
    return { ok: false, detail: 'starts with { but is not valid JSON', offset: position === undefined ? undefined : Number(position) }
  }
  return isDeeper(value, DEEPEST) ? { ok: false, detail: TOO_DEEP, offset: undefined } : { ok: true, value }
}

/** A cheap test whether `layOut` could find any. */
export function mayHoldUnlikeIntegers(text: string): boolean {
  return /\d(?:\.0|[eE])/.test(text)
}

/** The same for a key that is there twice, in the text of this value. */
export function mayRepeatKeys(text: string, value: unknown): boolean {
  const written = text.match(/"\s*:/g)?.length ?? 0
  let kept = 0
  for (let level = [value]; level.length > 0 && kept < written; )
    level = level.flatMap((item) => {
      if (typeof item !== 'object' || item === null) return []
      if (!Array.isArray(item)) kept += Object.keys(item).length
      return Object.values(item)
    })
  return kept < written
}

/** Level by level, because recursion could exhaust the call stack. */
function isDeeper(value: unknown, deepest: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

/** A value, and the way to it. */
class Open implements Place {
  readonly node: JsonNode
  readonly outer: Open | undefined
  readonly step: string | number

  constructor(node: JsonNode, outer: Open | undefined, step: string | number) {
    this.node = node
    this.outer = outer
    this.step = step
  }

  get path(): FieldPath {
    return pathOf(this)
  }

  get offset(): number {
    return this.node.offset
  }
}

/** The value that a later one of the same key replaces. */
class Shadowed implements Place {
  readonly start: number
  readonly #by: Open

  constructor(start: number, by: Open) {
    this.start = start
    this.#by = by
  }

  get path(): FieldPath {
    return this.#by.path
  }
}

/** Only for a text that `parseJson` accepts: does not check the syntax again. */
export function layOut(text: string): JsonLayout {
  const repeated: Open[] = []
  const shadowed: Shadowed[] = []
  const unlikeIntegers: Open[] = []
  const stack: Open[] = []
  let root: JsonNode = { offset: 0, start: 0 }
  let key: { readonly name: string; readonly offset: number } | undefined
  const place = (offset: number, content: Pick<JsonNode, 'members' | 'items'>): Open => {
    const top = stack.at(-1)
    const node = { offset: key?.offset ?? offset, start: offset, ...content }
    if (top === undefined) {
      root = node
      return new Open(node, undefined, '')
    }
    const step = key?.name ?? top.node.items?.length ?? 0
    const open = new Open(node, top, step)
    const before = key && top.node.members?.get(key.name)
    if (key !== undefined && before !== undefined) {
      repeated.push(open)
      shadowed.push(new Shadowed(before.start, open))
    }
    if (key !== undefined) top.node.members?.set(key.name, node)
    else top.node.items?.push(node)
    key = undefined
    return open
  }
  const token = /[{}[\]:,]|"|[^\s{}[\]:,"]+/g
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [lexeme] = match
    if (lexeme === '{') stack.push(place(match.index, { members: new Map() }))
    else if (lexeme === '[') stack.push(place(match.index, { items: [] }))
    else if (lexeme === '}' || lexeme === ']') stack.pop()
    else if (lexeme === '"') {
      token.lastIndex = findEnd(text, match.index)
      if (stack.at(-1)?.node.members !== undefined && key === undefined)
        key = { name: readString(text.slice(match.index, token.lastIndex)), offset: match.index }
      else place(match.index, {})
    } else if (lexeme !== ':' && lexeme !== ',') {
      const open = place(match.index, {})
      if (/[.eE]/.test(lexeme) && Number.isInteger(Number(lexeme))) unlikeIntegers.push(open)
    }
  }
  return { root, repeated, shadowed, unlikeIntegers }
}

function pathOf(open: Open): FieldPath {
  const path: (string | number)[] = []
  for (let at = open; at.outer !== undefined; at = at.outer) path.push(at.step)
  return path.reverse()
}

export function findOffset({ root }: JsonLayout, path: FieldPath): number | undefined {
  let node: JsonNode | undefined = root
  for (const step of path) node = typeof step === 'number' ? node?.items?.[step] : node?.members?.get(step)
  return node?.offset
}

/** The value that begins there, in a text that `parseJson` accepts. */
export function readValueAt(text: string, start: number): unknown {
  let depth = 0
  const token = /[{}[\]]|"|[^\s{}[\]:,"]+/g
  token.lastIndex = start
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [lexeme] = match
    if (lexeme === '"') token.lastIndex = findEnd(text, match.index)
    else if (lexeme === '{' || lexeme === '[') depth += 1
    else if (lexeme === '}' || lexeme === ']') depth -= 1
    if (depth === 0) break
  }
  return JSON.parse(text.slice(start, token.lastIndex))
}

/** The offset after the closing quote. */
function findEnd(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end + 1
}

function readString(literal: string): string {
  const value: unknown = JSON.parse(literal)
  return typeof value === 'string' ? value : ''
}

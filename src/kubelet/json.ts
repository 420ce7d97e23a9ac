// SPDX-License-Identifier: Apache-2.0
/**
 * Parses JSON as kubelet does, with positions and without a library. Pure. Rules: encoding/json,
 * which checks the whole text first, and github.com/json-iterator/go, which does not accept `1.0`
 * and `1e3` as integers. It takes fewer levels than kubelet does.
 */
import { type FieldPath, formatPath } from './field-path.ts'

/** A value in the text. */
interface JsonNode {
  /** The place of the value's key, or of the list's item. */
  readonly offset: number
  readonly members?: Map<string, JsonNode>
  readonly items?: JsonNode[]
}

/**
 * A place whose path is made when it is asked for: the paths of a long text together take much
 * memory.
 */
interface Place {
  readonly path: FieldPath
}

interface JsonLayout {
  readonly root: JsonNode
  readonly repeated: readonly (Place & { readonly offset: number })[]
  /** Whole numbers that are not written as integers: `1.0`, `1e3`. */
  readonly unlikeIntegers: readonly Place[]
}

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly detail: string
      readonly offset: number | undefined
      readonly unjudged?: true
      /** The text is not JSON at all. */
      readonly isSyntax?: true
    }

export function parseJsonText(text: string): ParsedJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The engine's error quotes the text, which may hold a secret: only the position is used.
    const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
    return { ok: false, detail: NOT_JSON, offset: position === undefined ? undefined : Number(position), isSyntax: true }
  }
  if (FAR_BEHIND.test(text)) return refuse('white space of 2000 characters stands before the {: kubelet 1.20 would read it as YAML')
  const refused = findRefused(value)
  if (refused === TOO_DEEP) return { ok: false, detail: refused, offset: undefined }
  if (refused !== undefined) return refuse(refused)
  const [repeated] = mayRepeatKeys(text, value) ? layOut(text).repeated : []
  if (repeated === undefined) return { ok: true, value }
  return refuse(`repeated key ${formatPath(repeated.path)}: kubelet may mix its values; keep one of them`, repeated.offset)
}

/** Not every kubelet refuses it. */
function refuse(detail: string, offset?: number): ParsedJson {
  return { ok: false, detail, offset, unjudged: true }
}

const NOT_JSON = 'starts with { but is not valid JSON'
/** Kubelet 1.20 looks for it in 2048 bytes. */
const FAR_BEHIND = /^\s{2000}/
/** Half of a pair in UTF-16, without its other half. */
const HALF_A_PAIR = /\p{Surrogate}/u

/** A cheap test whether `layOut` could find any. */
export function mayHoldUnlikeIntegers(text: string): boolean {
  return /\d(?:\.0|[eE])/.test(text)
}

/** The same for a key that is there twice, in the text of this value. */
function mayRepeatKeys(text: string, value: unknown): boolean {
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
function findRefused(value: unknown): string | undefined {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return TOO_DEEP
    if (level.some((item) => typeof item === 'number' && !Number.isFinite(item))) return 'a number is larger than kubelet can read'
    if (level.some((item) => typeof item === 'string' && HALF_A_PAIR.test(item))) return 'half a surrogate pair is no character'
    level = level.flatMap((item) => {
      if (typeof item !== 'object' || item === null) return []
      return Array.isArray(item) ? item : Object.entries(item).flat()
    })
  }
  return undefined
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

/** Only for a text that is JSON: does not check the syntax again. */
export function layOut(text: string): JsonLayout {
  const repeated: Open[] = []
  const unlikeIntegers: Open[] = []
  const stack: Open[] = []
  let root: JsonNode = { offset: 0 }
  let key: { readonly name: string; readonly offset: number } | undefined
  const place = (offset: number, content: Pick<JsonNode, 'members' | 'items'>): Open => {
    const top = stack.at(-1)
    const node = { offset: key?.offset ?? offset, ...content }
    if (top === undefined) {
      root = node
      return new Open(node, undefined, '')
    }
    const step = key?.name ?? top.node.items?.length ?? 0
    const open = new Open(node, top, step)
    if (key !== undefined && top.node.members?.has(key.name) === true) repeated.push(open)
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
  return { root, repeated, unlikeIntegers }
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

/** The offset after the closing quote. */
export function findEnd(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end + 1
}

function readString(literal: string): string {
  const value: unknown = JSON.parse(literal)
  return typeof value === 'string' ? value : ''
}

/**
 * How deep a config may be nested, in YAML and in JSON. Kubelet takes 10,000 levels of JSON
 * (`maxDepth` of its decoder), but no field is a tenth as deep as this. A check of a value goes
 * level by level and names its path, so that each level of a long text costs memory and time.
 */
export const DEEPEST = 100

export const TOO_DEEP = `nested more than ${DEEPEST} levels deep`

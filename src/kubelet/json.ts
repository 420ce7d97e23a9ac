/**
 * JSON as kubelet reads it, with the places where things stand, and without a library: a config that is JSON needs none. Pure. Rules: encoding/json, which
 * checks the whole text first, and github.com/json-iterator/go, which takes `1.0` and `1e3` for no integers, and ends at a depth.
 */

type JsonPath = readonly (string | number)[]

/** What stands at one place, and what is in it. */
interface JsonNode {
  /** Of the key, or of the item. */
  readonly offset: number
  readonly members?: Map<string, JsonNode>
  readonly items?: JsonNode[]
}

export interface JsonLayout {
  readonly root: JsonNode
  readonly repeated: readonly { readonly path: JsonPath; readonly offset: number }[]
  /** Whole numbers that are written like others: `1.0`, `1e3`. */
  readonly unlikeIntegers: readonly JsonPath[]
}

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly detail: string; readonly offset: number | undefined }

/** Where kubelet's decoder gives up (`maxDepth`). */
const DEEPEST = 10_000

export function parseJson(text: string): ParsedJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The error of the engine quotes the text: nothing but the place is taken from it.
    const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
    return { ok: false, detail: 'it opens with { but is not JSON', offset: position === undefined ? undefined : Number(position) }
  }
  return isDeep(value) ? { ok: false, detail: `it is nested more than ${DEEPEST} deep`, offset: undefined } : { ok: true, value }
}

/** Cheap: whether `layOut` could find any. */
export function mayHoldUnlikeIntegers(text: string): boolean {
  return /\d(?:\.0|[eE])/.test(text)
}

/** Level by level: the stack has an end, too. */
function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}

interface Open {
  readonly node: JsonNode
  readonly path: JsonPath
}

/** Of a text that `parseJson` has taken: nothing is checked again. */
export function layOut(text: string): JsonLayout {
  const repeated: { path: JsonPath; offset: number }[] = []
  const unlikeIntegers: JsonPath[] = []
  const stack: Open[] = []
  let root: JsonNode = { offset: 0 }
  let key: { readonly name: string; readonly offset: number } | undefined
  const place = (offset: number, content: Pick<JsonNode, 'members' | 'items'>): Open => {
    const top = stack.at(-1)
    const node = { offset: key?.offset ?? offset, ...content }
    if (top === undefined) {
      root = node
      return { node, path: [] }
    }
    const step = key?.name ?? top.node.items?.length ?? 0
    const path = [...top.path, step]
    if (key !== undefined && top.node.members?.has(key.name) === true) repeated.push({ path, offset: key.offset })
    if (key !== undefined) top.node.members?.set(key.name, node)
    else top.node.items?.push(node)
    key = undefined
    return { node, path }
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
      const { path } = place(match.index, {})
      if (/[.eE]/.test(lexeme) && Number.isInteger(Number(lexeme))) unlikeIntegers.push(path)
    }
  }
  return { root, repeated, unlikeIntegers }
}

export function findOffset({ root }: JsonLayout, path: JsonPath): number | undefined {
  let node: JsonNode | undefined = root
  for (const step of path) node = typeof step === 'number' ? node?.items?.[step] : node?.members?.get(step)
  return node?.offset
}

/** Behind its closing quote. */
function findEnd(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end + 1
}

function readString(literal: string): string {
  const value: unknown = JSON.parse(literal)
  return typeof value === 'string' ? value : ''
}

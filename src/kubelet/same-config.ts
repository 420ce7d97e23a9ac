// SPDX-License-Identifier: Apache-2.0
/**
 * Whether kubelet decodes the same config from two texts: other comments, other quotes, another
 * order of keys. In doubt the two differ. A text in which decoders of YAML are known to disagree,
 * or that is no KubeletConfiguration, equals only itself. Pure. Rules: sigs.k8s.io/yaml, which
 * reads YAML 1.1 and turns it into JSON; YAML 1.2 reads some of the same scalars otherwise.
 */
import { createHash } from 'node:crypto'
import { isObject } from '../values/is-object.ts'
import { findProblem, looksLikeJson } from './decode.ts'
import { layOut, parseJsonText } from './json.ts'
import type { YamlReader } from './yaml-document.ts'

/** A change is compared with several texts, and each of them was new once. */
const KEPT = 8

export class SameConfigs {
  readonly #yaml: YamlReader
  /** The meaning of each text, by its hash, so that it is parsed once. */
  readonly #meanings = new Map<string, string | undefined>()

  constructor(yaml: YamlReader) {
    this.#yaml = yaml
  }

  /** Rejects where the parser cannot run. */
  async isSame(a: string, b: string): Promise<boolean> {
    if (a === b) return true
    if (!mayMeanTheSame(a, b)) return false
    const first = await this.#meaningOf(a)
    return first !== undefined && first === (await this.#meaningOf(b))
  }

  async #meaningOf(text: string): Promise<string | undefined> {
    const key = hash(text)
    const known = this.#meanings.get(key)
    if (known !== undefined || this.#meanings.has(key)) return known
    const meaning = describeMeaning(await readCertainly(text, this.#yaml))
    this.#meanings.set(key, meaning)
    for (const [oldest] of this.#meanings) {
      if (this.#meanings.size <= KEPT) break
      this.#meanings.delete(oldest)
    }
    return meaning
  }
}

/**
 * Whether two texts are worth parsing: that takes far longer than all else that is done with most
 * changes. Comments, quotes, layout and the order of keys leave the letters and digits as many as
 * they are, apart from escapes, the case of `True` and `Null`, and a null that is left out. A
 * number with more zeros behind its point counts as another one.
 */
function mayMeanTheSame(a: string, b: string): boolean {
  if (a.includes('\\') || b.includes('\\')) return true
  const [one, other] = [lettersOf(a), lettersOf(b)]
  return one.length === other.length && one.sort().equals(other.sort())
}

function lettersOf(text: string): Buffer {
  const config = looksLikeJson(text) ? text : text.replace(/(^|[ \t])#.*$/gm, '')
  return Buffer.from(config.toLowerCase().replace(/\bnull\b|[^a-z0-9]+/g, ''), 'latin1')
}

/** The same for two values that differ only in the order of their keys. */
function describeMeaning(value: unknown): string | undefined {
  if (value === undefined) return undefined
  try {
    return hash(inOrder(value))
  } catch (error) {
    // The call stack is limited.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function inOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`
  if (isObject(value))
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${inOrder(value[key])}`)
      .join()}}`
  return Object.is(value, -0) ? '-0' : JSON.stringify(value)
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** undefined: it cannot be decoded, or not without doubt. */
async function readCertainly(text: string, yaml: YamlReader): Promise<unknown> {
  // The replacement character stands for bytes that are not UTF-8: the texts may differ in them.
  if (text.includes('\ufffd')) return undefined
  const isJson = looksLikeJson(text)
  const value = isJson ? readJson(text) : await readYaml(text, yaml)
  return value === undefined || findProblem(value, isJson ? text : undefined) !== undefined || !isExact(value) ? undefined : value
}

function readJson(text: string): unknown {
  const parsed = parseJsonText(text)
  if (!parsed.ok) return undefined
  return layOut(text).unlikeIntegers.length > 0 ? undefined : parsed.value
}

async function readYaml(text: string, yaml: YamlReader): Promise<unknown> {
  const plain = text.replace(/^[ \t]*#.*$/gm, '')
  if (beginsAnother(plain) || DOUBTFUL.some((pattern) => pattern.test(plain))) return undefined
  const read = await yaml.first(text)
  // A remark is about a key that is there twice.
  return read.ok && read.remarks.length === 0 ? read.value : undefined
}

/** A second document. */
function beginsAnother(text: string): boolean {
  const last = [...text.matchAll(/^---/gm)].at(-1)
  return last !== undefined && /\S/.test(text.slice(0, last.index))
}

/** Characters that may stand before and after a plain scalar. */
const BEFORE = String.raw`(?:^|[\s,[{:?-])`
const AFTER = String.raw`(?=[\s,\]}:]|$)`
const DOUBTFUL: readonly RegExp[] = [
  // Anchors, aliases, tags and merge keys.
  /(?:^|[\s,[{:?-])[&*!]\S|<</m,
  // Directives, and the end of a document.
  /^%|^\.\.\./m,
  // Truth and null, in the words of YAML 1.1.
  new RegExp(`${BEFORE}(?:y|n|yes|no|on|off|~)${AFTER}`, 'im'),
  // Numbers that are not written in plain decimals: octal, binary, hexadecimal, with underscores,
  // sexagesimal, with an exponent, infinite. Two repetitions that follow each other take no
  // character in common: the time would grow with the square of the text.
  new RegExp(`${BEFORE}[-+]?(?:0[0-7_]+|0[box][0-9a-f_]+|[0-9]+_[0-9_]*|[0-9.]+e[-+]?[0-9]+|\\.(?:inf|nan))${AFTER}`, 'im'),
  /(?:^|[\s,[{:?-])[-+]?[0-9]+(?::[0-5]?[0-9])+(?![0-9a-z.])/im,
]

/** Level by level, because recursion could exhaust the call stack. */
function isExact(value: unknown): boolean {
  let level = [value]
  while (level.length > 0) {
    const numbers = level.filter((item) => typeof item === 'number')
    if (numbers.some((number) => !Number.isFinite(number) || Math.abs(number) > Number.MAX_SAFE_INTEGER)) return false
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return true
}

/**
 * Whether kubelet decodes the same config from two texts: other comments, other quotes, another
 * order of keys. In doubt the two differ. A text in which decoders of YAML are known to disagree,
 * or that is no KubeletConfiguration, equals only itself. Pure. Rules: sigs.k8s.io/yaml, which
 * reads YAML 1.1 and turns it into JSON; YAML 1.2 reads some of the same scalars otherwise.
 */
import { isDeepStrictEqual } from 'node:util'
import { findProblem, looksLikeJson } from './decode.ts'
import { layOut, parseJson } from './json.ts'
import type { YamlReader } from './yaml-document.ts'

export async function isSameConfig(a: string, b: string, yaml: YamlReader): Promise<boolean> {
  if (a === b) return true
  const first = await readCertainly(a, yaml)
  const second = first === undefined ? undefined : await readCertainly(b, yaml)
  try {
    return second !== undefined && isDeepStrictEqual(first, second)
  } catch (error) {
    // The call stack is limited.
    if (error instanceof RangeError) return false
    throw error
  }
}

/** undefined: it cannot be decoded, or not without doubt. */
async function readCertainly(text: string, yaml: YamlReader): Promise<unknown> {
  // What stands for bytes that are not UTF-8: the texts may differ in them.
  if (text.includes('\ufffd')) return undefined
  const value = looksLikeJson(text) ? readJson(text) : await readYaml(text, yaml)
  return value === undefined || findProblem(value, undefined) !== undefined || !isExact(value) ? undefined : value
}

function readJson(text: string): unknown {
  const parsed = parseJson(text)
  if (!parsed.ok) return undefined
  const { repeated, unlikeIntegers } = layOut(text)
  return repeated.length > 0 || unlikeIntegers.length > 0 ? undefined : parsed.value
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

/** What may stand before and after a plain scalar. */
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
  // sexagesimal, with an exponent, infinite.
  new RegExp(`${BEFORE}[-+]?(?:0[0-7_]+|0[box][0-9a-f_]+|[0-9][0-9_]*_[0-9_]*|[0-9.]+e[-+]?[0-9]+|\\.(?:inf|nan))${AFTER}`, 'im'),
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

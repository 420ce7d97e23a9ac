// SPDX-License-Identifier: Apache-2.0
/**
 * Reads files as patches, applies patches to a config, and writes the result. Pure; what parses
 * YAML is passed in.
 */

import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { API_VERSION, KIND, looksLikeJson } from '../kubelet/decode.ts'
import { parseJsonText } from '../kubelet/json.ts'
import type { Position, YamlReader } from '../kubelet/yaml-document.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import { isObject } from '../values/is-object.ts'
import { mergePatch } from '../values/merge-patch.ts'
import { type ComputedValue, type Evaluate, fillText, isComputedText } from './computed.ts'

type RenderResult = { readonly ok: true; readonly data: ConfigMapData } | { readonly ok: false; readonly detail: string }
type ParseYaml = (text: string) => { readonly ok: true; readonly value: unknown } | { readonly ok: false }

/**
 * Applies patches to a config and writes the result as JSON: it is YAML too, and every library
 * version writes it alike, so its hash is stable. A text that is not a config stays as it is, and
 * preflight refuses it; so does a config that the patches do not change. Only the file under `key`
 * is kubelet's config; the other files stay as they are.
 */
export function render(
  data: ConfigMapData,
  key: string,
  patches: readonly Patch[],
  parse: ParseYaml,
  merge: (target: unknown, patch: unknown) => unknown = mergePatch,
): RenderResult {
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  const parsed = text === undefined ? undefined : looksLikeJson(text) ? parseJsonText(text) : parse(text)
  if (parsed?.ok !== true || !isObject(parsed.value)) return { ok: true, data }
  try {
    const merged = patches.reduce<unknown>((target, patch) => merge(target, patch), parsed.value)
    if (isDeepStrictEqual(merged, parsed.value)) return { ok: true, data }
    if (findUnsafeInteger(merged) !== undefined)
      return { ok: false, detail: `${key} contains an integer beyond 2^53 (cannot be written back exactly)` }
    const rendered = `${JSON.stringify(merged, null, 2)}\n`
    // No assignment: `__proto__` is a valid key.
    return {
      ok: true,
      data: Object.fromEntries(Object.entries(data).map(([name, original]) => [name, name === key ? rendered : original])),
    }
  } catch (error) {
    // The call stack is limited.
    if (error instanceof RangeError) return { ok: false, detail: `${key} is nested too deeply` }
    throw error
  }
}

export type Patch = Readonly<Record<string, unknown>>
type PatchReading =
  /** `computed`: the fields of the patch that were computed. */
  | { readonly ok: true; readonly patch: Patch; readonly computed?: readonly ComputedValue[] }
  /** `computes`: of a text that computes its fields. */
  | { readonly ok: false; readonly detail: string; readonly computes?: true }

const HEADER: Readonly<Record<string, string>> = { apiVersion: API_VERSION, kind: KIND }

/**
 * Reads one file of the overlay, or one text of the cluster, as a patch. Refuses ambiguous texts
 * instead of guessing what they mean for kubelet. `apiVersion` and `kind` of a KubeletConfiguration
 * may be present (for editors) and are left out of the patch: a patch never turns another kind of
 * document into a KubeletConfiguration.
 * @param evaluate of a text that may compute its fields. undefined: none may, as in the overlay
 */
export async function readPatch(bytes: Buffer, yaml: YamlReader, evaluate?: Evaluate): Promise<PatchReading> {
  if (!isUtf8(bytes)) return refuse('it is not valid UTF-8')
  const text = bytes.toString('utf8')
  const read = await yaml.firstOfAny(text)
  if (!read.ok) return refuse(read.detail)
  if (read.value === null) return refuse('it is empty; to patch nothing, write {} or remove it')
  if (!isObject(read.value)) return refuse('it is not a mapping of fields')
  const [repeated] = read.repeated
  if (repeated !== undefined) return refuse(`duplicate key${placeAt(repeated.position)}`)
  const all = await yaml.all(text)
  if (!all.ok) return refuse(all.detail)
  if (all.documents.length > 1) return refuse('it has more than one document')
  const unsafe = findUnsafeInteger(read.value)
  if (unsafe !== undefined) return refuse(`integer beyond 2^53 (cannot be written back exactly)${placeAt(read.locate(unsafe))}`)
  if (evaluate !== undefined && isComputedText(read.value)) {
    const computed = await fillText(read, evaluate)
    return computed.ok ? { ok: true, patch: computed.fields, computed: computed.values } : { ...computed, computes: true }
  }
  for (const [field, required] of Object.entries(HEADER)) {
    if (Object.hasOwn(read.value, field) && read.value[field] !== required)
      return refuse(`${field} is not ${required}, and no other document can be patched${placeAt(read.locate([field]))}`)
  }
  return { ok: true, patch: Object.fromEntries(Object.entries(read.value).filter(([field]) => !Object.hasOwn(HEADER, field))) }
}

function refuse(detail: string): PatchReading {
  return { ok: false, detail }
}

function placeAt(place: Position | undefined): string {
  return place === undefined ? '' : ` at line ${place.line}, column ${place.column}`
}

type Path = readonly (string | number)[]

/** A value, and the way to it. Its path is made at the end: all paths would take much memory. */
interface Entry {
  readonly value: unknown
  readonly step: string | number
  readonly outer: Entry | undefined
}

/**
 * Finds integers that JavaScript cannot represent exactly (beyond 2^53), and so cannot write back
 * unchanged. Searches level by level, without recursion, since the call stack is limited.
 * undefined: there are none.
 */
function findUnsafeInteger(value: unknown): Path | undefined {
  let level: Entry[] = [{ value, step: '', outer: undefined }]
  while (level.length > 0) {
    const found = level.find((entry) => Number.isInteger(entry.value) && !Number.isSafeInteger(entry.value))
    if (found !== undefined) return pathOf(found)
    level = level.flatMap((outer) => entriesOf(outer.value).map(([step, inner]): Entry => ({ value: inner, step, outer })))
  }
  return undefined
}

function pathOf(entry: Entry): Path {
  const path: (string | number)[] = []
  for (let at = entry; at.outer !== undefined; at = at.outer) path.push(at.step)
  return path.reverse()
}

function entriesOf(value: unknown): (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()]
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

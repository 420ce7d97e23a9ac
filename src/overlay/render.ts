/**
 * Applies patches to a config and writes the result as JSON: it is YAML too, and every library
 * version writes it alike, so its hash is stable. Pure. A text that is not a config stays as it is,
 * and preflight refuses it; so does a config that the patches do not change.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConfigMapData } from '../decision/config-source.ts'
import { looksLikeJson } from '../kubelet/decode.ts'
import { parseJson } from '../kubelet/json.ts'
import { isObject } from '../values/is-object.ts'
import { mergePatch } from '../values/merge-patch.ts'
import type { Patch } from './patch-file.ts'
import { findUnsafeInteger } from './unsafe-integer.ts'

export type RenderResult = { readonly ok: true; readonly data: ConfigMapData } | { readonly ok: false; readonly detail: string }
export type ParseYaml = (text: string) => { readonly ok: true; readonly value: unknown } | { readonly ok: false }

/** Only the file under `key` is kubelet's config; the other files stay as they are. */
export function render(
  data: ConfigMapData,
  key: string,
  patches: readonly Patch[],
  parse: ParseYaml,
  merge: (target: unknown, patch: unknown) => unknown = mergePatch,
): RenderResult {
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  const parsed = text === undefined ? undefined : looksLikeJson(text) ? parseJson(text) : parse(text)
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

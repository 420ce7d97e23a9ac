/**
 * A config with patches laid over it, as JSON, which is YAML too and which no other version of a library writes differently: its hash is stable. Pure. A text
 * that is no config stays as it is, for preflight to refuse in its own words; so does one that the patches do not change.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConfigMapData } from '../decision/config-source.ts'
import { looksLikeJson } from '../kubelet/decode.ts'
import { parseJson } from '../kubelet/json.ts'
import { isObject } from '../values/is-object.ts'
import { findInexact } from './inexact.ts'
import { mergePatch } from './merge-patch.ts'
import type { Patch } from './patch-file.ts'

export type RenderResult = { readonly ok: true; readonly data: ConfigMapData } | { readonly ok: false; readonly detail: string }
export type ParseYaml = (text: string) => { readonly ok: true; readonly value: unknown } | { readonly ok: false }

/** Only the file that kubelet reads is a config; the others go along. */
export function render(data: ConfigMapData, key: string, patches: readonly Patch[], parse: ParseYaml): RenderResult {
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  const parsed = text === undefined ? undefined : looksLikeJson(text) ? parseJson(text) : parse(text)
  if (parsed?.ok !== true || !isObject(parsed.value)) return { ok: true, data }
  try {
    const merged = patches.reduce<unknown>(mergePatch, parsed.value)
    if (isDeepStrictEqual(merged, parsed.value)) return { ok: true, data }
    if (findInexact(merged) !== undefined)
      return { ok: false, detail: `${key} holds a whole number that is too large to be written again as it is` }
    const rendered = `${JSON.stringify(merged, null, 2)}\n`
    // Not by assignment: `__proto__` is a legal key.
    return { ok: true, data: Object.fromEntries(Object.entries(data).map(([name, own]) => [name, name === key ? rendered : own])) }
  } catch (error) {
    // The call stack has an end.
    if (error instanceof RangeError) return { ok: false, detail: `${key} is nested too deep to be written again` }
    throw error
  }
}

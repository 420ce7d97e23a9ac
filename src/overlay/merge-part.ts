// SPDX-License-Identifier: Apache-2.0
/**
 * Merges a part over its bases, and layers over either a part or a whole config. Pure; what parses
 * YAML is passed in. Refuses a root that kubelet would not read as a KubeletConfiguration, and
 * parts that are ambiguous. The result has `apiVersion` and `kind` of the root, and a relative path
 * in the local config still starts at the directory of that. A root over which kubelet itself
 * merges the result is not in it.
 */
import { posix } from 'node:path'
import type { Rendered } from '../decision/desired.ts'
import { checkKind, type KubeletConfig, looksLikeJson } from '../kubelet/decode.ts'
import { absolutePaths } from '../kubelet/field-path.ts'
import { parseJsonText } from '../kubelet/json.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import { isObject } from '../values/is-object.ts'
import { composePatches } from '../values/merge-patch.ts'
import { nameRendering } from './read-overlay.ts'
import { type Patch, readPatch, render } from './render.ts'

/** The texts that the assigned one is merged with. */
export interface BaseTexts {
  /** A whole config. undefined: the assigned text is one itself. */
  readonly root: Root | undefined
  /** Parts that are merged over it, in this order, below the assigned one. */
  readonly parts: readonly Layer[]
  /** Layers that are merged over the assigned text, in this order. */
  readonly layers?: readonly Layer[]
}

interface Root extends Layer {
  readonly kind: 'local' | 'config-map'
  /** kubelet itself merges the result over it. */
  readonly staysBelow?: boolean
}

export interface Layer {
  /** For messages. Of the local config, its path. */
  readonly name: string
  readonly text: string
}

export type MergeResult =
  /** `patches`: of all but the lowest, in the order in which they were merged. */
  | { readonly ok: true; readonly rendered: Rendered; readonly patches: readonly Patch[] }
  /** `fault`: which of them is to be corrected. */
  | { readonly ok: false; readonly fault: 'local' | 'base' | 'part' | 'layer'; readonly detail: string }

export async function mergePart(
  { root, parts, layers = [] }: BaseTexts,
  data: ConfigMapData,
  key: string,
  yaml: YamlReader,
): Promise<MergeResult> {
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  // Preflight refuses it, in upstream's words.
  const asIs: MergeResult = { ok: true, rendered: nameRendering(data, key), patches: [] }
  if (text === undefined) return asIs
  const own = await readPatches(root === undefined ? [] : [{ name: key, text }], 'part', yaml)
  if (!own.ok) return own
  const fault = root?.kind === 'local' ? 'local' : 'base'
  const { name, text: rootText } = root ?? { name: key, text }
  const read = await readConfig(rootText, yaml)
  if (!read.ok) return root === undefined ? asIs : { ok: false, fault, detail: `${name}: ${read.detail}` }
  const under = await readPatches(parts, 'base', yaml)
  if (!under.ok) return under
  const over = await readPatches(layers, 'layer', yaml)
  if (!over.ok) return over
  if (root?.staysBelow === true) return compose(data, key, read.value, [...under.patches, ...own.patches, ...over.patches])
  // Kubelet reads the result from another directory.
  const absolute = root?.kind === 'local' ? absolutePaths(read.value, posix.dirname(root.name)) : {}
  const patches = [...under.patches, ...own.patches, ...over.patches]
  const merged = render(withText(data, key, rootText), key, [absolute, ...patches], () => read)
  return merged.ok
    ? { ok: true, rendered: nameRendering(merged.data, key), patches }
    : { ok: false, fault, detail: `${name}: ${merged.detail}` }
}

/**
 * Only what the patches say, so that all else stays as kubelet finds it below: in the local config
 * and in other drop-ins. A null has to reach kubelet.
 */
function compose(data: ConfigMapData, key: string, { apiVersion, kind }: KubeletConfig, patches: readonly Patch[]): MergeResult {
  const head = { apiVersion, kind }
  const composed = render(withText(data, key, JSON.stringify(head)), key, patches, () => ({ ok: true, value: head }), composePatches)
  return composed.ok
    ? { ok: true, rendered: nameRendering(composed.data, key), patches }
    : { ok: false, fault: 'part', detail: composed.detail }
}

type Patches = { readonly ok: true; readonly patches: readonly Patch[] } | Extract<MergeResult, { ok: false }>

async function readPatches(texts: readonly Layer[], fault: 'base' | 'part' | 'layer', yaml: YamlReader): Promise<Patches> {
  const patches: Patch[] = []
  for (const { name, text } of texts) {
    const reading = await readPatch(Buffer.from(text), yaml)
    if (!reading.ok) return { ok: false, fault, detail: `${name}: ${reading.detail}` }
    patches.push(reading.patch)
  }
  return { ok: true, patches }
}

async function readConfig(text: string, yaml: YamlReader): Promise<ReadConfig> {
  const isJson = looksLikeJson(text)
  const read = isJson ? parseJsonText(text) : await yaml.first(text)
  if (!read.ok) return { ok: false, detail: read.detail }
  if (!isObject(read.value)) return { ok: false, detail: 'it is not a mapping of fields' }
  const problem = checkKind(read.value, isJson)
  return problem === undefined ? { ok: true, value: read.value } : { ok: false, detail: problem.detail }
}

type ReadConfig = { readonly ok: true; readonly value: KubeletConfig } | { readonly ok: false; readonly detail: string }

/** No assignment: `__proto__` is a valid key. */
function withText(data: ConfigMapData, key: string, text: string): ConfigMapData {
  return Object.fromEntries(Object.entries(data).map(([name, original]) => [name, name === key ? text : original]))
}

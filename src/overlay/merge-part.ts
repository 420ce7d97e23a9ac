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
import { API_VERSION, checkKind, KIND, type KubeletConfig, looksLikeJson } from '../kubelet/decode.ts'
import { absolutePaths } from '../kubelet/field-path.ts'
import { parseJsonText } from '../kubelet/json.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import { isObject } from '../values/is-object.ts'
import { composePatches, mergePatch } from '../values/merge-patch.ts'
import { type ComputedValue, type Evaluate, isComputedText, mayCompute } from './computed.ts'
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
  /**
   * `patches`: of all but the lowest, in the order in which they were merged. `computed`: the
   * fields that any of them computes.
   */
  | { readonly ok: true; readonly rendered: Rendered; readonly patches: readonly Patch[]; readonly computed: readonly ComputedValue[] }
  /** `fault`: which of them is to be corrected. */
  | { readonly ok: false; readonly fault: 'local' | 'base' | 'part' | 'layer' | 'computed'; readonly detail: string }

const NOTHING_COMPUTES: Evaluate = async () => ({ ok: false, at: 0, detail: 'nothing is computed here' })

/** Whether the result depends on the node itself. A local config never does. */
export function mayComputeAny({ root, parts, layers = [] }: BaseTexts, own: string | undefined): boolean {
  const texts = [...(root?.kind === 'config-map' ? [root] : []), ...parts, ...layers]
  return mayCompute(own) || texts.some(({ text }) => mayCompute(text))
}

export async function mergePart(
  { root, parts, layers = [] }: BaseTexts,
  data: ConfigMapData,
  key: string,
  yaml: YamlReader,
  evaluate: Evaluate = NOTHING_COMPUTES,
): Promise<MergeResult> {
  const readers = { yaml, evaluate }
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  // Preflight refuses it, in upstream's words.
  const asIs: MergeResult = { ok: true, rendered: nameRendering(data, key), patches: [], computed: [] }
  if (text === undefined) return asIs
  const own = await readPatches(root === undefined ? [] : [{ name: key, text }], 'part', readers)
  if (!own.ok) return own
  const fault = root?.kind === 'local' ? 'local' : 'base'
  const { name, text: written } = root ?? { name: key, text }
  const read = root?.kind === 'local' ? await readConfig(written, readers.yaml) : await readWhole(written, readers)
  if (!read.ok && read.computes === true) return { ok: false, fault: 'computed', detail: `${name}: ${read.detail}` }
  if (!read.ok) return root === undefined ? asIs : { ok: false, fault, detail: `${name}: ${read.detail}` }
  const rootText = read.text ?? written
  const under = await readPatches(parts, 'base', readers)
  if (!under.ok) return under
  const over = await readPatches(layers, 'layer', readers)
  if (!over.ok) return over
  const patches = [...under.patches, ...own.patches, ...over.patches]
  const lowest = (read.computed ?? []).map((value) => (root === undefined ? value : { ...value, of: name }))
  const computed = [...lowest, ...under.computed, ...own.computed, ...over.computed]
  if (root?.staysBelow === true) return compose(data, key, read.value, patches, computed)
  // Kubelet reads the result from another directory.
  const absolute = root?.kind === 'local' ? absolutePaths(read.value, posix.dirname(root.name)) : {}
  const merged = render(withText(data, key, rootText), key, [absolute, ...patches], () => read)
  return merged.ok
    ? { ok: true, rendered: nameRendering(merged.data, key), patches, computed }
    : { ok: false, fault, detail: `${name}: ${merged.detail}` }
}

/**
 * Only what the patches say, so that all else stays as kubelet finds it below: in the local config
 * and in other drop-ins. A null has to reach kubelet.
 */
function compose(
  data: ConfigMapData,
  key: string,
  { apiVersion, kind }: KubeletConfig,
  patches: readonly Patch[],
  computed: readonly ComputedValue[],
): MergeResult {
  const head = { apiVersion, kind }
  const composed = render(withText(data, key, JSON.stringify(head)), key, patches, () => ({ ok: true, value: head }), composePatches)
  return composed.ok
    ? { ok: true, rendered: nameRendering(composed.data, key), patches, computed }
    : { ok: false, fault: 'part', detail: composed.detail }
}

interface TextReaders {
  readonly yaml: YamlReader
  readonly evaluate: Evaluate
}

type Patches =
  | { readonly ok: true; readonly patches: readonly Patch[]; readonly computed: readonly ComputedValue[] }
  | Extract<MergeResult, { ok: false }>

async function readPatches(texts: readonly Layer[], fault: 'base' | 'part' | 'layer', { yaml, evaluate }: TextReaders): Promise<Patches> {
  const patches: Patch[] = []
  const computed: ComputedValue[] = []
  for (const { name, text } of texts) {
    const reading = await readPatch(Buffer.from(text), yaml, evaluate)
    if (!reading.ok) return { ok: false, fault: reading.computes === true ? 'computed' : fault, detail: `${name}: ${reading.detail}` }
    patches.push(reading.patch)
    computed.push(...(reading.computed ?? []).map((value) => (fault === 'part' ? value : { ...value, of: name })))
  }
  return { ok: true, patches, computed }
}

async function readConfig(text: string, yaml: YamlReader): Promise<ReadConfig> {
  const isJson = looksLikeJson(text)
  const read = isJson ? parseJsonText(text) : await yaml.first(text)
  if (!read.ok) return { ok: false, detail: read.detail }
  if (!isObject(read.value)) return { ok: false, detail: 'it is not a mapping of fields' }
  const problem = checkKind(read.value, isJson)
  return problem === undefined ? { ok: true, value: read.value } : { ok: false, detail: problem.detail }
}

type ReadConfig =
  /** `text`: where it is another than the one that was read. */
  | { readonly ok: true; readonly value: KubeletConfig; readonly text?: string; readonly computed?: readonly ComputedValue[] }
  | { readonly ok: false; readonly detail: string; readonly computes?: true }

/** A whole config of the cluster. One that is computed has the kind that kubelet knows. */
async function readWhole(text: string, { yaml, evaluate }: TextReaders): Promise<ReadConfig> {
  const parsed = mayCompute(text) ? await yaml.firstOfAny(text) : undefined
  if (parsed?.ok !== true || !isComputedText(parsed.value)) return readConfig(text, yaml)
  const reading = await readPatch(Buffer.from(text), yaml, evaluate)
  if (!reading.ok) return { ...reading, computes: true }
  const value = mergePatch({ apiVersion: API_VERSION, kind: KIND }, reading.patch)
  if (!isObject(value)) return { ok: false, detail: 'it has no fields' }
  return { ok: true, value, text: `${JSON.stringify(value, null, 2)}\n`, computed: reading.computed ?? [] }
}

/** No assignment: `__proto__` is a valid key. */
function withText(data: ConfigMapData, key: string, text: string): ConfigMapData {
  return Object.fromEntries(Object.entries(data).map(([name, original]) => [name, name === key ? text : original]))
}

/**
 * Merges a part over its bases. Pure; what parses YAML is passed in. Refuses a root that kubelet
 * would not read as a KubeletConfiguration, and parts that are ambiguous. The result has
 * `apiVersion` and `kind` of the root, and a relative path in the local config still starts at the
 * directory of that.
 */
import { posix } from 'node:path'
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Rendered } from '../decision/desired.ts'
import { checkKind, type KubeletConfig, looksLikeJson } from '../kubelet/decode.ts'
import { parseJson } from '../kubelet/json.ts'
import { absolutePaths } from '../kubelet/relative-paths.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { isObject } from '../values/is-object.ts'
import { type Patch, readPatch } from './patch-file.ts'
import { nameRendering } from './read-overlay.ts'
import { render } from './render.ts'

/** What a part is merged over. */
export interface BaseTexts {
  /** A whole config. */
  readonly root: Layer & { readonly kind: 'local' | 'config-map' }
  /** Parts that are merged over it, in this order. */
  readonly parts: readonly Layer[]
}

export interface Layer {
  /** For messages. Of the local config, its path. */
  readonly name: string
  readonly text: string
}

export type PartResult =
  | { readonly ok: true; readonly rendered: Rendered }
  /** `fault`: which of them is to be corrected. */
  | { readonly ok: false; readonly fault: 'local' | 'base' | 'part'; readonly detail: string }

export async function mergePart({ root, parts }: BaseTexts, data: ConfigMapData, key: string, yaml: YamlReader): Promise<PartResult> {
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  // Preflight refuses it, in upstream's words.
  if (text === undefined) return { ok: true, rendered: nameRendering(data, key) }
  const part = await readPatch(Buffer.from(text), yaml)
  if (!part.ok) return { ok: false, fault: 'part', detail: `${key}: ${part.detail}` }
  const fault = root.kind === 'local' ? 'local' : 'base'
  const read = await readConfig(root.text, yaml)
  if (!read.ok) return { ok: false, fault, detail: `${root.name}: ${read.detail}` }
  const patches: Patch[] = []
  for (const layer of parts) {
    const patch = await readPatch(Buffer.from(layer.text), yaml)
    if (!patch.ok) return { ok: false, fault: 'base', detail: `${layer.name}: ${patch.detail}` }
    patches.push(patch.patch)
  }
  // Kubelet reads the result from another directory.
  const absolute = root.kind === 'local' ? absolutePaths(read.value, posix.dirname(root.name)) : {}
  const merged = render(withText(data, key, root.text), key, [absolute, ...patches, part.patch], () => read)
  return merged.ok
    ? { ok: true, rendered: nameRendering(merged.data, key) }
    : { ok: false, fault, detail: `${root.name}: ${merged.detail}` }
}

async function readConfig(text: string, yaml: YamlReader): Promise<ReadConfig> {
  const isJson = looksLikeJson(text)
  const read = isJson ? parseJson(text) : await yaml.first(text)
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

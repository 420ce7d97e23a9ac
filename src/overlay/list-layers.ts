/**
 * The layers of a config that this node merges, and which of them a field comes from. For people
 * who run a command. Pure; what parses YAML is passed in.
 */
import type { FoundConfigMap } from '../decision/desired.ts'
import { looksLikeJson } from '../kubelet/decode.ts'
import { decides, type FieldPath } from '../kubelet/field-path.ts'
import { parseJson } from '../kubelet/json.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import { mergePatch } from '../values/merge-patch.ts'
import { findBases, type Merged } from './find-bases.ts'
import type { Layer } from './merge-part.ts'
import { type NodePatches, nameAllPatches } from './patch-set.ts'

export interface ConfigLayer {
  /** For people. */
  readonly name: string
  /** The parsed document. A null in it removes a field. */
  readonly value: unknown
}

export interface LayeredConfig {
  /** Of the assigned text, for people. */
  readonly name: string
  readonly key: string
  readonly object: Pick<FoundConfigMap, 'data'> & Merged
  readonly local: LocalConfigView | undefined
  /** In the order in which they apply. */
  readonly patches: readonly NodePatches[]
}

/** @returns the lowest first. Empty: nothing is merged, or the layers are not known */
export async function listLayers(
  { name: ownName, key, object, local, patches: sets }: LayeredConfig,
  yaml: YamlReader,
): Promise<readonly ConfigLayer[]> {
  const { data } = object
  const own = { name: ownName, text: Object.hasOwn(data, key) ? (data[key] ?? '') : '' }
  const reading = findBases(object, () => local)
  if (reading.kind !== 'found') return []
  const { root, parts, layers = [] } = reading.bases
  const texts: readonly Layer[] = [...(root === undefined || root.staysBelow ? [] : [root]), ...parts, own, ...layers]
  const values = await Promise.all(texts.map(async ({ name, text }) => ({ name, value: await parse(text, yaml) })))
  const merged = values.reduce<unknown>((target, { value }) => mergePatch(target, value), {})
  const all = [...values, ...nameAllPatches(sets, merged)]
  return all.length < 2 ? [] : all
}

async function parse(text: string, yaml: YamlReader): Promise<unknown> {
  const read = looksLikeJson(text) ? parseJson(text) : await yaml.first(text)
  return read.ok ? read.value : undefined
}

/** @returns undefined: no layer sets or removes this field */
export function findLayer(layers: readonly ConfigLayer[], path: FieldPath): string | undefined {
  return layers.findLast(({ value }) => decides(value, path))?.name
}

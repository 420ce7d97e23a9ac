/**
 * The layers of a config that this node merges, and which of them a field comes from. For people
 * who run a command. Pure; what parses YAML is passed in.
 */
import type { FoundConfigMap } from '../decision/desired.ts'
import { looksLikeJson } from '../kubelet/decode.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import { parseJson } from '../kubelet/json.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView } from '../ports/local-config.ts'
import { isObject } from '../values/is-object.ts'
import { findBases, type Merged } from './find-bases.ts'
import type { Layer } from './merge-part.ts'
import type { OverlayView } from './view.ts'

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
  readonly overlay: OverlayView
}

/** @returns the lowest first. Empty: nothing is merged, or the layers are not known */
export async function listLayers(
  { name: ownName, key, object, local, overlay }: LayeredConfig,
  yaml: YamlReader,
): Promise<readonly ConfigLayer[]> {
  const { data } = object
  const own = { name: ownName, text: Object.hasOwn(data, key) ? (data[key] ?? '') : '' }
  const reading = findBases(object, () => local)
  if (reading.kind !== 'found') return []
  const { root, parts, layers = [] } = reading.bases
  const texts: readonly Layer[] = [...(root === undefined ? [] : [root]), ...parts, own, ...layers]
  const patches = overlay.kind === 'present' ? overlay.patches.map(({ name, patch }) => ({ name: `overlay ${name}`, value: patch })) : []
  if (texts.length + patches.length < 2) return []
  const values = await Promise.all(texts.map(async ({ name, text }) => ({ name, value: await parse(text, yaml) })))
  return [...values, ...patches]
}

async function parse(text: string, yaml: YamlReader): Promise<unknown> {
  const read = looksLikeJson(text) ? parseJson(text) : await yaml.first(text)
  return read.ok ? read.value : undefined
}

/** @returns undefined: no layer sets or removes this field */
export function findLayer(layers: readonly ConfigLayer[], path: FieldPath): string | undefined {
  return layers.findLast(({ value }) => decides(value, path))?.name
}

/** Whether it sets or removes the field, or a value that the field is in. */
function decides(value: unknown, path: FieldPath): boolean {
  let inner = value
  for (const step of path) {
    // A list is replaced as a whole, and a null removes all that is in it.
    if (!isObject(inner)) return inner !== undefined
    if (!Object.hasOwn(inner, step)) return false
    inner = inner[step]
  }
  return inner !== undefined
}

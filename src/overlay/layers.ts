// SPDX-License-Identifier: Apache-2.0
/**
 * The layers of a config that this node merges, and which of them a field comes from. Pure; what
 * parses YAML is passed in.
 */
import type { FoundConfigMap, LayeredField } from '../decision/desired.ts'
import { looksLikeJson } from '../kubelet/decode.ts'
import { decides, type FieldPath, valueAt } from '../kubelet/field-path.ts'
import { parseJsonText } from '../kubelet/json.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { mergePatch } from '../values/merge-patch.ts'
import { type Evaluate, mayCompute } from './computed.ts'
import { findBases, type Merged } from './find-bases.ts'
import type { Layer } from './merge-part.ts'
import { type NodePatches, nameAllPatches } from './patch-set.ts'
import { readPatch } from './render.ts'

export interface ConfigLayer {
  /** For people. */
  readonly name: string
  /** The parsed document. A null in it removes a field. */
  readonly value: unknown
}

interface LayeredConfig {
  /** The name of the assigned text, for people. */
  readonly name: string
  readonly key: string
  readonly object: Pick<FoundConfigMap, 'data'> & Merged
  readonly local: LocalConfigView | undefined
  /** In the order in which they apply. */
  readonly patches: readonly NodePatches[]
}

/**
 * For people who run a command.
 * @returns the lowest first. Empty: nothing is merged, or the layers are not known
 */
export async function listLayers(
  { name: ownName, key, object, local, patches: sets }: LayeredConfig,
  yaml: YamlReader,
  evaluate?: Evaluate,
): Promise<readonly ConfigLayer[]> {
  const { data } = object
  const own = { name: ownName, text: Object.hasOwn(data, key) ? (data[key] ?? '') : '' }
  const reading = findBases(object, () => local)
  if (reading.kind !== 'found') return []
  const { root, parts, layers = [] } = reading.bases
  const texts: readonly Layer[] = [...(root === undefined || root.staysBelow ? [] : [root]), ...parts, own, ...layers]
  const values = await Promise.all(texts.map(async ({ name, text }) => ({ name, value: await parse(text, yaml, evaluate) })))
  const merged = values.reduce<unknown>((target, { value }) => mergePatch(target, value), {})
  const all = [...values, ...nameAllPatches(sets, merged)]
  return all.length < 2 ? [] : all
}

async function parse(text: string, yaml: YamlReader, evaluate: Evaluate | undefined): Promise<unknown> {
  const patch = mayCompute(text) ? await readPatch(Buffer.from(text), yaml, evaluate) : undefined
  if (patch?.ok === true) return patch.patch
  const read = looksLikeJson(text) ? parseJsonText(text) : await yaml.first(text)
  return read.ok ? read.value : undefined
}

/** @returns undefined: no layer sets or removes this field */
export function findLayer(layers: readonly ConfigLayer[], path: FieldPath): string | undefined {
  return layers.findLast(({ value }) => decides(value, path))?.name
}

/**
 * Which fields of a merged config the layers above the lowest set or remove, each by the last of
 * them that does. Lists are one value.
 * @param layers the lowest first
 * @returns undefined: a layer sets more than is listed
 */
export function listFields(layers: readonly ConfigLayer[]): readonly LayeredField[] | undefined {
  return layers.slice(1).reduce<readonly LayeredField[] | undefined>(layOver, [])
}

/**
 * The fields that are set or removed once a layer lies over those below it: its own fields come
 * last.
 */
export function layOver(below: readonly LayeredField[] | undefined, { name, value }: ConfigLayer): readonly LayeredField[] | undefined {
  const own = below === undefined ? undefined : listChanges(value)
  if (below === undefined || own === undefined) return undefined
  const fields = own.map(([path, set]): LayeredField => ({ path, layer: name, ...(set === null && { removed: true }) }))
  return [...below.filter((field) => !replaces(value, field)), ...fields]
}

/**
 * Whether the value takes the place of the field. A field that was removed as a whole stays removed
 * but for the parts that are set in it anew.
 */
function replaces(value: unknown, { path, removed }: LayeredField): boolean {
  return decides(value, path) && !(removed === true && isObject(valueAt(value, path)))
}

type Change = readonly [path: readonly string[], value: unknown]

/** `apiVersion` and `kind` are no fields of the config. An empty mapping changes nothing. */
function listChanges(value: unknown): readonly Change[] | undefined {
  const listing = new Listing()
  if (isObject(value)) listing.visit(value, [])
  return listing.isWhole
    ? listing.changes.filter(([path]) => path.length > 1 || (path[0] !== 'apiVersion' && path[0] !== 'kind'))
    : undefined
}

/**
 * The author of a layer decides how large it is, and the fields are listed each time the agent
 * looks. A KubeletConfiguration has some 150 fields and 300 feature gates, at most 4 deep.
 */
const [MOST_VALUES, DEEPEST, MOST_CHARACTERS] = [2000, 16, 65_536] as const

class Listing {
  readonly changes: Change[] = []
  isWhole = true
  #values = 0
  #characters = 0

  visit(object: JsonObject, path: readonly string[]): void {
    // Object.entries would copy what is then left out.
    for (const name in object) {
      if (!this.#hasRoomFor(name, path)) return
      const [inner, value] = [[...path, name], object[name]]
      if (isObject(value)) this.visit(value, inner)
      else if (value !== undefined) this.changes.push([inner, value])
    }
  }

  #hasRoomFor(name: string, path: readonly string[]): boolean {
    this.#values += 1
    this.#characters += name.length
    if (this.#values > MOST_VALUES || this.#characters > MOST_CHARACTERS || path.length >= DEEPEST) this.isWhole = false
    return this.isWhole
  }
}

/**
 * Which fields of a merged config the layers above the lowest set or remove, each by the last of
 * them that does. Lists are one value. Pure.
 */
import type { LayeredField } from '../decision/desired.ts'
import { decides, valueAt } from '../kubelet/field-path.ts'
import { isObject } from '../values/is-object.ts'
import type { ConfigLayer } from './list-layers.ts'

/** @param layers the lowest first */
export function listFields(layers: readonly ConfigLayer[]): readonly LayeredField[] {
  return layers.slice(1).reduce<readonly LayeredField[]>(layOver, [])
}

/** What a layer makes of what those below it set or remove: its own fields come last. */
export function layOver(below: readonly LayeredField[], { name, value }: ConfigLayer): readonly LayeredField[] {
  const own = listChanges(value).map(([path, set]): LayeredField => ({ path, layer: name, ...(set === null && { removed: true }) }))
  return [...below.filter((field) => !replaces(value, field)), ...own]
}

/** What was removed as a whole stays removed but for what is set in it anew. */
function replaces(value: unknown, { path, removed }: LayeredField): boolean {
  return decides(value, path) && !(removed === true && isObject(valueAt(value, path)))
}

/** `apiVersion` and `kind` are no fields of the config. An empty mapping changes nothing. */
function listChanges(value: unknown): (readonly [path: readonly string[], value: unknown])[] {
  const leaves = isObject(value) ? listLeaves(value, []) : []
  return leaves.filter(([path]) => path.length > 1 || (path[0] !== 'apiVersion' && path[0] !== 'kind'))
}

function listLeaves(value: unknown, path: readonly string[]): (readonly [path: readonly string[], value: unknown])[] {
  if (value === undefined) return []
  return isObject(value) ? Object.entries(value).flatMap(([name, inner]) => listLeaves(inner, [...path, name])) : [[path, value]]
}

/** The author of a part decides how many there are. */
const MOST_RECORDED = 500

/** As they are written down on the node: no more than it should keep. */
export function limitFields(fields: readonly LayeredField[]): readonly LayeredField[] {
  return fields.slice(0, MOST_RECORDED)
}

/**
 * Which fields of a merged config the layers above the lowest set or remove, each by the last of
 * them that does. Lists are one value. Pure.
 */
import type { LayeredField } from '../decision/desired.ts'
import { decides, valueAt } from '../kubelet/field-path.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import type { ConfigLayer } from './list-layers.ts'

/**
 * @param layers the lowest first
 * @returns undefined: a layer sets more than is listed
 */
export function listFields(layers: readonly ConfigLayer[]): readonly LayeredField[] | undefined {
  return layers.slice(1).reduce<readonly LayeredField[] | undefined>(layOver, [])
}

/** What a layer makes of what those below it set or remove: its own fields come last. */
export function layOver(below: readonly LayeredField[] | undefined, { name, value }: ConfigLayer): readonly LayeredField[] | undefined {
  const own = below === undefined ? undefined : listChanges(value)
  if (below === undefined || own === undefined) return undefined
  const fields = own.map(([path, set]): LayeredField => ({ path, layer: name, ...(set === null && { removed: true }) }))
  return [...below.filter((field) => !replaces(value, field)), ...fields]
}

/** What was removed as a whole stays removed but for what is set in it anew. */
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

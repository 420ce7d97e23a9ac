/**
 * The places of values in a text as plain data, for a text that another process parsed. Pure. Only
 * places near the top are listed: a message names few, and a hostile text has very many.
 */
import { isObject } from '../values/is-object.ts'
import { type Check, isNumber, listOf, shape, type TypeOf } from '../values/json-shape.ts'
import type { FieldPath } from './field-path.ts'
import type { Position } from './text-position.ts'
import type { LocatedYaml } from './yaml-document.ts'

/** In all. To find one takes time that grows with the size of its map. */
const MOST_PLACES = 2000
const WIDEST_MAP = 1000

const isStep: Check<string | number> = (value) => typeof value === 'string' || typeof value === 'number'
const isPosition: Check<Position> = shape({ line: isNumber, column: isNumber })
/** A path with its place. */
const isPlace = shape({ path: listOf(isStep), position: isPosition })
type Place = TypeOf<typeof isPlace>
export const isPlaces = listOf(isPlace)
export const isMaybePosition: Check<Position | undefined> = (value): value is Position | undefined =>
  value === undefined || isPosition(value)

/** Level by level, so that the places at the top come first. */
export function listPlaces({ value, locate }: Pick<LocatedYaml, 'value' | 'locate'>): Place[] {
  const places: Place[] = []
  let level: { readonly path: FieldPath; readonly value: unknown }[] = [{ path: [], value }]
  while (level.length > 0 && places.length < MOST_PLACES) {
    const next: typeof level = []
    for (const outer of level) {
      for (const [step, inner] of stepsOf(outer.value)) {
        if (places.length >= MOST_PLACES) return places
        const path = [...outer.path, step]
        const position = locate(path)
        if (position !== undefined) places.push({ path, position })
        next.push({ path, value: inner })
      }
    }
    level = next
  }
  return places
}

/** Looks a place up in the list. */
export function locateIn(places: readonly Place[]): LocatedYaml['locate'] {
  const positions = new Map(places.map(({ path, position }) => [JSON.stringify(path), position]))
  return (path) => positions.get(JSON.stringify(path))
}

function stepsOf(value: unknown): (readonly [string | number, unknown])[] {
  const steps = Array.isArray(value) ? [...value.slice(0, MOST_PLACES).entries()] : isObject(value) ? Object.entries(value) : []
  return steps.length > WIDEST_MAP && !Array.isArray(value) ? [] : steps
}

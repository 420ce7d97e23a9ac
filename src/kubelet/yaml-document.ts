// SPDX-License-Identifier: Apache-2.0
/** Results of parsing YAML, and what parses a text that comes from outside. Types only. */

import { isObject } from '../values/is-object.ts'
import { anyOf, type Check, isNumber, isText, isThere, listOf, oneOf, optional, shape, shapeOf, type TypeOf } from '../values/json-shape.ts'
import type { FieldPath } from './field-path.ts'

export interface YamlDocument {
  readonly value: unknown
  /** Duplicate keys, which kubelet silently accepts. */
  readonly remarks: readonly string[]
}

export interface LocatedYaml extends YamlDocument {
  readonly repeated: readonly { readonly path: FieldPath; readonly position: Position }[]
  /** Position of the key at this path, or of a list's item. */
  locate(path: FieldPath): Position | undefined
}

export interface YamlFailure {
  readonly ok: false
  /** With line and column if known; never with the text itself, which may hold a secret. */
  readonly detail: string
  readonly position: Position | undefined
  /** Kubelet may take the text, and read another value from it. */
  readonly unjudged?: true | undefined
}

export type LocatedReading = ({ readonly ok: true } & LocatedYaml) | YamlFailure
export type DocumentsReading = { readonly ok: true; readonly documents: readonly YamlDocument[] } | YamlFailure

/**
 * Parses what others wrote, with limits of time and memory. A text that exceeds them gets a failure
 * that says so. Rejects only where the text is not at fault, so that a later call may work.
 * Adapter: `bounded-yaml.ts`.
 */
export interface YamlReader {
  /** The first document of a text that kubelet reads too: only what both take alike. */
  first(text: string, signal?: AbortSignal): Promise<LocatedReading>
  /** The first document of any YAML, for a text of which kubelet gets at most what is rendered. */
  firstOfAny(text: string, signal?: AbortSignal): Promise<LocatedReading>
  /** All documents of any YAML that are not empty. */
  all(text: string, signal?: AbortSignal): Promise<DocumentsReading>
}

/** A place in a text, as editors show it: both count from 1; columns count UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

export function positionAt(text: string, offset: number): Position {
  return positionsIn(text)(offset)
}

/** For many offsets of one text: its lines are found once, when the first position is asked for. */
export function positionsIn(text: string): (offset: number) => Position {
  let lineStarts: number[] | undefined
  return (offset) => {
    lineStarts ??= [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
    const line = countUpTo(lineStarts, offset)
    return { line, column: offset - (lineStarts[line - 1] ?? 0) + 1 }
  }
}

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((ascending[middle] ?? limit) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

/** In all. To find one takes time that grows with the size of its map. */
const MOST_PLACES = 2000
const WIDEST_MAP = 1000

const isStep: Check<string | number> = (value) => typeof value === 'string' || typeof value === 'number'
const isPosition: Check<Position> = shape({ line: isNumber, column: isNumber })
/** A path with its place. */
const isPlace = shape({ path: listOf(isStep), position: isPosition })
type Place = TypeOf<typeof isPlace>
const isPlaces = listOf(isPlace)
export const isMaybePosition: Check<Position | undefined> = (value): value is Position | undefined =>
  value === undefined || isPosition(value)

/**
 * The places of values as plain data, for a text that another process parsed. Level by level, so
 * that the places at the top come first, and only those: a message names few, and a hostile text
 * has very many.
 */
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

/** The answer of the process that parses a text. */
export const isChildAnswer = anyOf(
  shape({ kind: oneOf('first'), value: isThere, remarks: listOf(isText), repeated: isPlaces, places: isPlaces }),
  shape({ kind: oneOf('all'), documents: listOf(shapeOf<YamlDocument>({ value: isThere, remarks: listOf(isText) })) }),
  shape({ kind: oneOf('failed'), detail: isText, position: isMaybePosition, unjudged: optional(oneOf(true)) }),
  /** `starved`: the process got too little CPU to tell. */
  shape({ kind: oneOf('too-slow', 'too-large', 'starved') }),
)
export type ChildAnswer = TypeOf<typeof isChildAnswer>

// SPDX-License-Identifier: Apache-2.0
/**
 * Every field of KubeletConfiguration with its JSON type and the minor versions of kubelet that
 * added and removed it. Pure. The table is read from upstream's sources, and stands in the order of
 * upstream's types.go. No top-level field has ever been removed. A kubelet older than a field
 * ignores it, whatever its value.
 */

import { parseGoDuration } from '../values/go-syntax.ts'
import { isObject } from '../values/is-object.ts'
import type { Field, FieldTable, FieldType } from './field.ts'
import type { FieldPath } from './field-path.ts'
import { FIELD_TABLE } from './generated/fields.ts'
import { parseQuantity } from './quantity.ts'
import { adviseValue } from './right-value.ts'

/** The oldest minor of 1.x that the tables and rules cover. */
export const OLDEST_MINOR = 20
/** The newest minor that is released. */
export const NEWEST_MINOR = 37
/**
 * The last version in the tables and rules: a pre-release of the minor after it, from which the
 * release may differ, or the newest release itself.
 */
export const LAST_IN_TABLES = { minor: 38, version: '1.38.0-beta.0' }

export const FIELDS = FIELD_TABLE

export type FieldName = keyof typeof FIELDS

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name)
}

/** Whether kubelet 1.`minor` knows a field; without a minor, whether all versions do. */
export function isKnown({ since, gone }: Pick<Field, 'since' | 'gone'>, minor: number | undefined): boolean {
  if (minor === undefined) return since === undefined && gone === undefined
  return (since ?? 0) <= minor && minor < (gone ?? Number.POSITIVE_INFINITY)
}

type LeafOf<Table extends FieldTable> = {
  [Name in keyof Table & string]: Table[Name] extends { readonly type: 'object'; readonly fields: infer Inner extends FieldTable }
    ? `${Name}.${LeafOf<Inner>}`
    : Name
}[keyof Table & string]

/**
 * The path with dots of a field that is set as a whole. An object with fields of its own is not a
 * leaf; a list of such objects is.
 */
export type LeafName = LeafOf<typeof FIELDS>

/** The paths that enclose a dotted path: of `a.b.c`, these are `a` and `a.b`. */
export function listParents(name: string): string[] {
  return [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))
}

/** Each with its LeafName, in the order of the table. */
export function listLeaves(fields: FieldTable = FIELDS): (readonly [name: string, field: Field])[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.type === 'object' && field.fields !== undefined
      ? listLeaves(field.fields).map(([inner, leaf]) => [`${name}.${inner}`, leaf] as const)
      : [[name, field] as const],
  )
}

/**
 * Whether a field accepts a value by its type. Kubelet fails to load a config with a wrong JSON
 * type. null means "not set", as in Go's encoding/json, except for a duration: `UnmarshalJSON` of
 * metav1.Duration parses it as an empty string.
 */
interface TypeRule {
  readonly called: string
  readonly fits: (value: unknown) => boolean
  /** The type of what is in a list or a map. */
  readonly inner?: FieldType
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isInteger = (value: unknown, bits: 32 | 64) => isNumber(value) && Number.isInteger(value) && Math.abs(value) <= 2 ** (bits - 1)
const isInt32 = (value: unknown) => isInteger(value, 32) && value !== 2 ** 31
const isUint32 = (value: unknown) => isNumber(value) && Number.isInteger(value) && value >= 0 && value < 2 ** 32
const isDuration = (value: unknown) => isString(value) && parseGoDuration(value) !== undefined
const isQuantity = (value: unknown) => isNumber(value) || (isString(value) && parseQuantity(value) !== undefined)
const isTime = (value: unknown) => isString(value) && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)$/.test(value)

const RULES: Readonly<Record<FieldType, TypeRule>> = {
  string: { called: 'a string', fits: isString },
  boolean: { called: 'true or false', fits: isBoolean },
  int32: { called: 'a 32 bit integer', fits: isInt32 },
  int64: { called: 'an integer', fits: (value) => isInteger(value, 64) },
  uint32: { called: 'a 32 bit integer that is not negative', fits: isUint32 },
  number: { called: 'a number', fits: isNumber },
  duration: { called: 'a duration such as "1m30s"', fits: isDuration },
  'nullable-duration': { called: 'a duration such as "1m30s"', fits: isDuration },
  nanoseconds: { called: 'a number of nanoseconds', fits: (value) => isInteger(value, 64) || isDuration(value) },
  quantity: { called: 'a quantity such as "100Mi"', fits: isQuantity },
  time: { called: 'a time such as "2024-05-01T12:00:00Z"', fits: isTime },
  object: { called: 'an object', fits: isObject },
  objects: { called: 'a list of objects', fits: Array.isArray, inner: 'object' },
  strings: { called: 'a list of strings', fits: Array.isArray, inner: 'string' },
  int32s: { called: 'a list of integers', fits: Array.isArray, inner: 'int32' },
  'string-map': { called: 'an object of strings', fits: isObject, inner: 'string' },
  'boolean-map': { called: 'an object of true and false', fits: isObject, inner: 'boolean' },
  'strings-map': { called: 'an object of lists of strings', fits: isObject, inner: 'strings' },
  'quantity-map': { called: 'an object of quantities', fits: isObject, inner: 'quantity' },
}

/** A value of the wrong type. Does not contain the value, which may be a secret. */
export interface Misfit {
  readonly path: FieldPath
  readonly wanted: string
  /** The value to write instead. */
  readonly advice?: string | undefined
  /** The minor of 1.x that added the field. undefined: 1.20 or older. */
  readonly since?: number | undefined
}

/** More are not listed: a hostile text has very many. */
const MOST_MISFITS = 500

/** Where a value does not fit its type: itself, or what is in it. */
function* misfitsOf(type: FieldType, value: unknown, path: FieldPath): Generator<Misfit> {
  const { called, fits, inner } = RULES[type]
  if (value === undefined || (value === null && type !== 'duration')) return
  if (!fits(value)) yield { path, wanted: called, advice: adviseValue(type, value, path) }
  else if (inner !== undefined) {
    const items: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value ?? {})
    for (const [step, item] of items) yield* misfitsOf(inner, item, [...path, step])
  }
}

/**
 * Values that kubelet 1.`minor` cannot load; without a minor, that no version can. Unknown fields
 * pass.
 */
export function findMisfits(config: Readonly<Record<string, unknown>>, fields: FieldTable, minor: number | undefined): Misfit[] {
  const found: Misfit[] = []
  for (const misfit of misfitsIn(config, fields, minor, [])) {
    if (found.length === MOST_MISFITS) break
    found.push(misfit)
  }
  return found
}

function* misfitsIn(
  value: Readonly<Record<string, unknown>>,
  fields: FieldTable,
  minor: number | undefined,
  path: FieldPath,
): Generator<Misfit> {
  for (const [name, inner] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined || !isKnown(field, minor)) continue
    const here = [...path, name]
    const { since } = field
    for (const misfit of misfitsOf(field.type, inner, here)) yield { ...misfit, since }
    if (field.fields !== undefined)
      for (const [object, at] of listObjects(field, inner, here))
        for (const misfit of misfitsIn(object, field.fields, minor, at)) yield { ...misfit, since: misfit.since ?? since }
  }
}

/** The objects within a field that has fields of its own, each with its path. */
export function listObjects(
  { type }: Field,
  value: unknown,
  path: FieldPath,
): [object: Readonly<Record<string, unknown>>, path: FieldPath][] {
  if (type === 'object') return isObject(value) ? [[value, path]] : []
  if (!Array.isArray(value)) return []
  return value.flatMap((item, index): [Readonly<Record<string, unknown>>, FieldPath][] =>
    isObject(item) ? [[item, [...path, index]]] : [],
  )
}

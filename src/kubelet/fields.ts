/**
 * Every field of KubeletConfiguration with its JSON type and the minor versions of kubelet that
 * added and removed it. Pure. The table is read from upstream's sources, and stands in the order of
 * upstream's types.go. No top-level field has ever been removed. A kubelet older than a field
 * ignores it, whatever its value.
 */

import { parseGoDuration } from '../values/go-syntax.ts'
import { isObject } from '../values/is-object.ts'
import type { Field, FieldTable, FieldType } from './field.ts'
import { FIELD_TABLE } from './generated/fields.ts'
import { parseQuantity } from './quantity.ts'

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
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value)
const listOf = (fits: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(orNull(fits))
const mapOf = (fits: (value: unknown) => boolean) => (value: unknown) => isObject(value) && Object.values(value).every(orNull(fits))

const RULES: Readonly<Record<FieldType, TypeRule>> = {
  string: { called: 'a string', fits: isString },
  boolean: { called: 'true or false', fits: isBoolean },
  int32: { called: 'a 32 bit integer', fits: isInt32 },
  int64: { called: 'an integer', fits: (value) => isInteger(value, 64) },
  uint32: { called: 'a 32 bit integer that is not negative', fits: isUint32 },
  number: { called: 'a number', fits: isNumber },
  duration: { called: 'a duration such as "1m30s"', fits: isDuration },
  'nullable-duration': { called: 'a duration such as "1m30s"', fits: orNull(isDuration) },
  nanoseconds: { called: 'a number of nanoseconds', fits: (value) => isInteger(value, 64) || isDuration(value) },
  quantity: { called: 'a quantity such as "100Mi"', fits: isQuantity },
  time: { called: 'a time such as "2024-05-01T12:00:00Z"', fits: isTime },
  object: { called: 'an object', fits: isObject },
  objects: { called: 'a list of objects', fits: listOf(isObject) },
  strings: { called: 'a list of strings', fits: listOf(isString) },
  int32s: { called: 'a list of integers', fits: listOf(isInt32) },
  'string-map': { called: 'an object of strings', fits: mapOf(isString) },
  'boolean-map': { called: 'an object of true and false', fits: mapOf(isBoolean) },
  'strings-map': { called: 'an object of lists of strings', fits: mapOf(listOf(isString)) },
  'quantity-map': { called: 'an object of quantities', fits: mapOf(isQuantity) },
}

/** A value of the wrong type. Does not contain the value, which may be a secret. */
export interface Misfit {
  readonly path: readonly (string | number)[]
  readonly wanted: string
}

/** undefined: the value fits. Otherwise what the type requires. */
function misfit(type: FieldType, value: unknown): string | undefined {
  const { called, fits } = RULES[type]
  const isUnset = value === undefined || (value === null && type !== 'duration')
  return isUnset || fits(value) ? undefined : called
}

/**
 * Values that kubelet 1.`minor` cannot load; without a minor, that no version can. Unknown fields
 * pass.
 */
export function findMisfits(config: Readonly<Record<string, unknown>>, fields: FieldTable, minor: number | undefined): Misfit[] {
  const found: Misfit[] = []
  collectMisfits(config, fields, minor, [], found)
  return found
}

function collectMisfits(
  value: Readonly<Record<string, unknown>>,
  fields: FieldTable,
  minor: number | undefined,
  path: Misfit['path'],
  found: Misfit[],
) {
  for (const [name, inner] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined || !isKnown(field, minor)) continue
    const here = [...path, name]
    const wanted = misfit(field.type, inner)
    if (wanted !== undefined) found.push({ path: here, wanted })
    else if (field.fields !== undefined)
      for (const [object, at] of listObjects(field, inner, here)) collectMisfits(object, field.fields, minor, at, found)
  }
}

/** The objects within a field that has fields of its own, each with its path. */
export function listObjects(
  { type }: Field,
  value: unknown,
  path: Misfit['path'],
): [object: Readonly<Record<string, unknown>>, path: Misfit['path']][] {
  if (type === 'object') return isObject(value) ? [[value, path]] : []
  if (!Array.isArray(value)) return []
  return value.flatMap((item, index): [Readonly<Record<string, unknown>>, Misfit['path']][] =>
    isObject(item) ? [[item, [...path, index]]] : [],
  )
}

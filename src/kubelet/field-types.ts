/**
 * Whether a field accepts a value by its type. Pure. Kubelet fails to load a config with a wrong
 * JSON type. null means "not set", as in Go's encoding/json, except for a duration: `UnmarshalJSON`
 * of metav1.Duration parses it as an empty string.
 */

import { parseGoDuration } from '../values/go-syntax.ts'
import { isObject } from '../values/is-object.ts'
import type { Field, Fields, FieldType } from './field.ts'
import { isKnown } from './fields.ts'
import { parseQuantity } from './quantity.ts'

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
export function findMisfits(config: Readonly<Record<string, unknown>>, fields: Fields, minor: number | undefined): Misfit[] {
  const found: Misfit[] = []
  collectMisfits(config, fields, minor, [], found)
  return found
}

function collectMisfits(
  value: Readonly<Record<string, unknown>>,
  fields: Fields,
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

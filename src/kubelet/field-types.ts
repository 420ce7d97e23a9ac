/**
 * Whether a value can go into a field of that type. Pure. A wrong JSON type is what kubelet fails to load on; null stands for "not set", as Go's
 * encoding/json has it.
 */
import { isObject } from '../agent/is-object.ts'
import type { FieldType } from './fields.ts'

interface TypeRule {
  readonly called: string
  readonly fits: (value: unknown) => boolean
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isInteger = (value: unknown, bits: 32 | 64) => isNumber(value) && Number.isInteger(value) && Math.abs(value) <= 2 ** (bits - 1)
const isInt32 = (value: unknown) => isInteger(value, 32) && value !== 2 ** 31
/** `time.ParseDuration`. */
const isDuration = (value: unknown) => isString(value) && /^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(value)
const listOf = (fits: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every((one) => one === null || fits(one))
const mapOf = (fits: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every((one) => one === null || fits(one))

const RULES: Readonly<Record<FieldType, TypeRule>> = {
  string: { called: 'a string', fits: isString },
  boolean: { called: 'true or false', fits: isBoolean },
  int32: { called: 'a 32 bit integer', fits: isInt32 },
  int64: { called: 'an integer', fits: (value) => isInteger(value, 64) },
  number: { called: 'a number', fits: isNumber },
  duration: { called: 'a duration such as "1m30s"', fits: isDuration },
  object: { called: 'an object', fits: isObject },
  objects: { called: 'a list of objects', fits: listOf(isObject) },
  strings: { called: 'a list of strings', fits: listOf(isString) },
  int32s: { called: 'a list of integers', fits: listOf(isInt32) },
  'string-map': { called: 'an object of strings', fits: mapOf(isString) },
  'boolean-map': { called: 'an object of true and false', fits: mapOf(isBoolean) },
  'strings-map': { called: 'an object of lists of strings', fits: mapOf(listOf(isString)) },
}

/** undefined: it fits. Otherwise what the type asks for, without the value, which may be a secret. */
export function misfit(type: FieldType, value: unknown): string | undefined {
  const { called, fits } = RULES[type]
  return value === null || value === undefined || fits(value) ? undefined : called
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Checks that JSON read from a file has a shape. The type of what is stored is derived from its
 * shape, so both say the same. Pure.
 */
import { isObject } from './is-object.ts'

export type Check<T> = (value: unknown) => value is T
type Checks<T> = { readonly [K in keyof T]-?: Check<T[K]> }
export type TypeOf<C> = C extends Check<infer T> ? T : never

/** The check of a field that may be left out of the object. */
type Optional<T> = Check<T | undefined> & { readonly isOptional: true }
export type Fields = Readonly<Record<string, Check<unknown>>>
type OptionalNames<F> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F]
export type Shaped<F> = Flat<
  { readonly [K in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[K]> } & { readonly [K in OptionalNames<F>]?: TypeOf<F[K]> }
>
type Flat<T> = { [K in keyof T]: T[K] }
type Shape<F> = Check<Shaped<F>> & { readonly fields: F }

export const isAny: Check<unknown> = (_value): _value is unknown => true
/** JSON has no undefined. */
export const isThere: Check<unknown> = (value): value is unknown => value !== undefined
export const isText: Check<string> = (value) => typeof value === 'string'
export const isNumber: Check<number> = (value): value is number => typeof value === 'number' && Number.isFinite(value)
export const isFlag: Check<boolean> = (value) => typeof value === 'boolean'

/** A field that is left out when it is undefined, as JSON.stringify does. */
export function optional<T>(check: Check<T>): Optional<T> {
  return Object.assign(orUndefined(check), { isOptional: true as const })
}

/** The same of a field that nobody may forget to set: the type requires it, the file does not. */
export function orUndefined<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value)
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check)
}

export function mapOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> => isObject(value) && Object.values(value).every(check)
}

/** Each word may be missing. */
export function partialMapOf<const K extends string, T>(words: readonly K[], check: Check<T>): Check<Readonly<Partial<Record<K, T>>>> {
  const isWord = oneOf(...words)
  return (value): value is Readonly<Partial<Record<K, T>>> =>
    isObject(value) && Object.entries(value).every(([name, each]) => isWord(name) && check(each))
}

export function oneOf<const T extends string | boolean | null>(...words: readonly T[]): Check<T> {
  return (value): value is T => words.some((word) => word === value)
}

export function anyOf<C extends readonly Check<unknown>[]>(...checks: C): Check<TypeOf<C[number]>> {
  return (value): value is TypeOf<C[number]> => checks.some((check) => check(value))
}

export function shape<F extends Fields>(fields: F): Shape<F> {
  return Object.assign((value: unknown): value is Shaped<F> => hasFields(value, fields), { fields })
}

/** The same of a type that is declared elsewhere. */
export function shapeOf<T extends object>(fields: Checks<T>): Check<T> {
  return (value): value is T => hasFields(value, fields)
}

function hasFields(value: unknown, fields: object): boolean {
  return isObject(value) && Object.entries<Check<unknown>>({ ...fields }).every(([name, check]) => check(value[name]))
}

/** undefined: not JSON, or not of this shape. */
export function parseJson<T>(bytes: Uint8Array, check: Check<T>): T | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    return check(value) ? value : undefined
  } catch {
    return undefined
  }
}

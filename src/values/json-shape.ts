/**
 * Checks that JSON read from a file has the shape of a type. The compiler requires a check for
 * every field of the type, so a new field cannot be forgotten. It does not require that a check
 * accepts all that the type allows: `oneOf` with too few words compiles. So a list of words that
 * grows is a constant, from which the type is derived. Pure.
 */
import { isObject } from './is-object.ts'

export type Check<T> = (value: unknown) => value is T
export type Checks<T> = { readonly [K in keyof T]-?: Check<T[K]> }
export type TypeOf<C> = C extends Check<infer T> ? T : never

/** Of a field that may be left out of the object. */
export type Optional<T> = Check<T | undefined> & { readonly isOptional: true }
export type Fields = Readonly<Record<string, Check<unknown>>>
type OptionalNames<F> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F]
export type Shaped<F> = Flat<
  { readonly [K in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[K]> } & { readonly [K in OptionalNames<F>]?: TypeOf<F[K]> }
>
type Flat<T> = { [K in keyof T]: T[K] }
export type Shape<F> = Check<Shaped<F>> & { readonly fields: F }

export const isAny: Check<unknown> = (_value): _value is unknown => true
export const isText: Check<string> = (value) => typeof value === 'string'
export const isNumber: Check<number> = (value): value is number => typeof value === 'number' && Number.isFinite(value)
export const isFlag: Check<boolean> = (value) => typeof value === 'boolean'

/** A field that is left out when it is undefined, as JSON.stringify does. */
export function optional<T>(check: Check<T>): Optional<T> {
  return Object.assign((value: unknown): value is T | undefined => value === undefined || check(value), { isOptional: true as const })
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check)
}

export function mapOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> => isObject(value) && Object.values(value).every(check)
}

export function oneOf<const T extends string>(...words: readonly T[]): Check<T> {
  return (value): value is T => words.some((word) => word === value)
}

export function either<A, B>(a: Check<A>, b: Check<B>): Check<A | B> {
  return (value): value is A | B => a(value) || b(value)
}

export function shape<T extends object>(fields: Checks<T>): Check<T> {
  return (value): value is T => {
    return isObject(value) && Object.entries<Check<unknown>>(fields).every(([name, check]) => check(value[name]))
  }
}

export function shaped<F extends Fields>(fields: F): Shape<F> {
  const isShaped = (value: unknown): value is Shaped<F> =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]))
  return Object.assign(isShaped, { fields })
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

/** Reads a field's value as a type, with a default if it is not set or of another type. Pure. */
import { parseGoDuration } from '../../values/go-syntax.ts'

export function numberOf<Default extends number | undefined>(value: unknown, initial: Default): number | Default {
  return typeof value === 'number' ? value : initial
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function isOn(value: unknown, initial: boolean): boolean {
  return typeof value === 'boolean' ? value : initial
}

/** null in a list means an empty string, as in Go. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(textOf) : undefined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** In nanoseconds. */
export function durationOf(value: unknown, initial: bigint): bigint {
  return typeof value === 'string' ? (parseGoDuration(value) ?? initial) : initial
}

export const SECOND_NS = 1_000_000_000n
export const MILLISECOND_NS = 1_000_000n

/** Where each value stands first. `indexOf` for each item takes quadratic time. */
export function firstPlaces<T>(values: readonly T[]): ReadonlyMap<T, number> {
  return new Map(values.map((value, index) => [value, index] as const).reverse())
}

/** A field's value as its type has it, with kubelet's default where nothing is set. Pure. Fields that 0 or "" leaves unset, as Go's zero values do, name it. */
import { parseDuration } from '../../values/go-duration.ts'

export function numberOf<Default extends number | undefined>(value: unknown, initial: Default): number | Default {
  return typeof value === 'number' ? value : initial
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function isOn(value: unknown, initial: boolean): boolean {
  return typeof value === 'boolean' ? value : initial
}

/** null stands for an empty text in a list, as in Go. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(textOf) : undefined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** In nanoseconds. */
export function durationOf(value: unknown, initial: bigint): bigint {
  return typeof value === 'string' ? (parseDuration(value) ?? initial) : initial
}

export const SECOND_NS = 1_000_000_000n
export const MILLISECOND_NS = 1_000_000n

/**
 * Whether two values mean the same to kubelet: `60s` and `1m`, `1Gi` and `1024Mi`, maps in any
 * order. Pure. Brings each value to a canonical text and compares the texts. A text that is not a
 * valid duration or quantity is compared as it is.
 */

import { parseQuantity } from '../../kubelet/quantity.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import type { FieldRow } from './field-rows.ts'

export function isSameValue(a: unknown, b: unknown, measure: FieldRow['measure']): boolean {
  return a === b || spell(a, measure) === spell(b, measure)
}

function spell(value: unknown, measure: FieldRow['measure']): string {
  if (Array.isArray(value)) return `[${value.map((item) => spell(item, measure)).join()}]`
  if (isObject(value)) {
    const names = Object.keys(value).sort()
    return `{${names.map((name) => `${JSON.stringify(name)}:${spell(value[name], measure)}`).join()}}`
  }
  const measured = measure === undefined ? undefined : spellMeasure(value, measure)
  return measured ?? JSON.stringify(value) ?? 'undefined'
}

function spellMeasure(value: unknown, measure: 'duration' | 'quantity'): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  // logging.flushFrequency may be a number of nanoseconds, its original type.
  if (measure === 'duration') return typeof value === 'number' ? `${value} ns` : withUnit(parseGoDuration(value), 'ns')
  const percentage = typeof value === 'string' ? /^([+-]?[\d.]+)%$/.exec(value)?.[1] : undefined
  if (percentage !== undefined) return `${Number(percentage)} %`
  return withUnit(parseQuantity(String(value)), '')
}

function withUnit(count: bigint | undefined, unit: string): string | undefined {
  return count === undefined ? undefined : `${count} ${unit}`
}

/** What a record that is stored as JSON was found to hold. Pure. */
import { type Check, parseJson } from '../values/json-shape.ts'

export interface Json<T> {
  readonly ok: true
  readonly value: T
}

export interface Damaged {
  readonly ok: false
  readonly detail: string
}

export function loadJson<T>(bytes: Uint8Array, check: Check<T>): Json<T> | Damaged {
  const value = parseJson(bytes, check)
  return value === undefined ? { ok: false, detail: 'not the expected JSON' } : { ok: true, value }
}

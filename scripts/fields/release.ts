// SPDX-License-Identifier: Apache-2.0
/** The facts about one release that the reader in `reader/` prints. Pure. */
import { isObject } from '../../src/values/is-object.ts'

export interface ReleaseField {
  /** `a.b` of an object, `a[].b` of the objects of a list. */
  readonly path: string
  readonly type: string
  readonly pointer?: boolean
  readonly zeroInside?: boolean
}

const STAGES = ['alpha', 'beta', 'ga', 'deprecated'] as const

export interface ReleaseGate {
  readonly stage: (typeof STAGES)[number]
  readonly default: boolean
  readonly locked?: boolean
}

export interface Release {
  readonly minor: number
  readonly fields: readonly ReleaseField[]
  /** By the path of the field. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Defaults that depend on other fields or on feature gates, as upstream's code. */
  readonly dependent: Readonly<Record<string, string>>
  readonly gates: Readonly<Record<string, ReleaseGate>>
  /** The gates that each gate needs. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>
  /** The code of what decides over a config, by its package and name. */
  readonly functions: Readonly<Record<string, string>>
}

export function parseRelease(minor: number, text: string): Release {
  const read: unknown = JSON.parse(text)
  if (!isObject(read) || !Array.isArray(read.fields)) throw new Error(`the reader printed no release for 1.${minor}`)
  return {
    minor,
    fields: read.fields,
    defaults: objectOf<unknown>(read.defaults),
    dependent: objectOf<string>(read.dependent),
    gates: objectOf<ReleaseGate>(read.gates),
    dependencies: objectOf<readonly string[]>(read.dependencies),
    functions: objectOf<string>(read.functions),
  }
}

function objectOf<Value>(value: unknown): Readonly<Record<string, Value>> {
  return Object.fromEntries(isObject(value) ? Object.entries(value).map(([name, entry]) => [name, entry as Value]) : [])
}

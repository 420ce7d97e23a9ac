/**
 * Which fields of two configs differ, value by value: maps key by key, lists as a whole, null and an empty map as "not set". Pure. It knows no defaults
 * and no spellings of one value, and of the risk only what holds for all: kubelet reads its config when it starts.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../agent/is-object.ts'
import type { KubeletConfig } from '../kubelet/decode.ts'
import type { FieldPath } from './finding.ts'
import type { ConfigChange } from './inspection.ts'

const SECRET = 'staticPodURLHeader'
const HIDDEN = '(not shown)'

export function compareFields(before: KubeletConfig, after: KubeletConfig): ConfigChange[] {
  return [...walk([], before, after)]
}

function* walk(path: FieldPath, before: unknown, after: unknown): Generator<ConfigChange> {
  const from = before ?? undefined
  const to = after ?? undefined
  const [field] = path
  if (field !== SECRET && [from, to].every((value) => value === undefined || isObject(value))) {
    const keys = new Set([from, to].flatMap((map) => (isObject(map) ? Object.keys(map) : [])))
    for (const key of [...keys].sort()) yield* walk([...path, key], own(from, key), own(to, key))
    return
  }
  if (isDeepStrictEqual(from, to)) return
  const show = (value: unknown) => (field === SECRET && value !== undefined ? HIDDEN : value)
  yield { path, before: show(from), after: show(to), risk: 'restart', meaning: 'kubelet is restarted', policy: undefined }
}

function own(map: unknown, key: string): unknown {
  return isObject(map) && Object.hasOwn(map, key) ? map[key] : undefined
}

/**
 * JSON Merge Patch, RFC 7386: objects are merged, other values and lists are replaced whole, null
 * removes a key. Pure; changes neither argument. Keys keep their order and new keys follow, so the
 * same patch gives the same text each time.
 */
import { isObject } from './is-object.ts'

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  // A Map instead of assignments: `__proto__` is a key like any other.
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/**
 * RFC 7386, JSON Merge Patch: what a patch names takes the place of what is there, object by object; null removes; a list is replaced whole. Pure, and neither
 * argument is changed. Keys keep their order, new ones follow, so that the same patch makes the same text each time.
 */
import { isObject } from '../values/is-object.ts'

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  // A map, and not assignments: `__proto__` is a key like any other.
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

// SPDX-License-Identifier: Apache-2.0
/**
 * JSON Merge Patch, RFC 7386: objects are merged, other values and lists are replaced whole, null
 * removes a key. Pure; changes neither argument. Keys keep their order and new keys follow, so the
 * same patch gives the same text each time.
 */
import { isObject } from './is-object.ts'

export function mergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, false)
}

/**
 * One patch that does what two do, one after the other. The exception is a key that the second sets
 * to an object, and the first removes or sets to something else: what a target has there stays.
 */
export function composePatches(first: unknown, second: unknown): unknown {
  return merge(first, second, true)
}

function merge(target: unknown, patch: unknown, keepsNull: boolean): unknown {
  if (!isObject(patch)) return patch
  // A Map instead of assignments: `__proto__` is a key like any other.
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null && !keepsNull) merged.delete(key)
    else merged.set(key, merge(merged.get(key), value, keepsNull))
  }
  return Object.fromEntries(merged)
}

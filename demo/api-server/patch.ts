// SPDX-License-Identifier: Apache-2.0
/**
 * Patches as an API server applies them: RFC 7386 (JSON merge patch), and the part of strategic
 * merge patch that Nodes and ConfigMaps need. Lists with a merge key are merged by it, `$patch:
 * delete` and `$patch: replace` are supported, other directives are ignored. Pure.
 */
import { isJsonObject, type Json } from './objects.ts'

export function mergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, false)
}

export function strategicMergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, true)
}

/** `patchMergeKey` of the Go types, by the name of the list. */
const MERGE_KEYS: Readonly<Record<string, string>> = { conditions: 'type', addresses: 'type', taints: 'key', ownerReferences: 'uid' }

function merge(target: unknown, patch: unknown, strategic: boolean): unknown {
  if (!isJsonObject(patch)) return patch
  if (strategic && patch.$patch === 'replace') return withoutDirectives(patch)
  const merged: Record<string, unknown> = isJsonObject(target) ? { ...target } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (strategic && field.startsWith('$')) continue
    const key = strategic ? MERGE_KEYS[field] : undefined
    if (value === null) delete merged[field]
    else if (key !== undefined && Array.isArray(value)) merged[field] = mergeList(merged[field], value, key)
    else merged[field] = merge(merged[field], value, strategic)
  }
  return merged
}

function mergeList(target: unknown, patch: readonly unknown[], key: string): unknown[] {
  let merged: unknown[] = Array.isArray(target) ? [...target] : []
  for (const item of patch) {
    if (!isJsonObject(item)) throw new TypeError(`an item of a list that is merged by ${key} is not an object`)
    const at = merged.findIndex((existing) => isJsonObject(existing) && existing[key] === item[key])
    if (item.$patch === 'delete') merged = merged.filter((_, index) => index !== at)
    else if (at === -1) merged.push(withoutDirectives(item))
    else merged[at] = merge(merged[at], item, true)
  }
  return merged
}

function withoutDirectives(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !field.startsWith('$')))
}

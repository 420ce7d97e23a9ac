/** The fields of a Kubernetes object that assignments need, read from JSON of any shape. Pure. */

import type { ConfigMapData } from '../decision/config-source.ts'
import type { ConfigMapView } from '../decision/desired.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { readBase } from './channels/base-annotation.ts'
import { readRollout } from './channels/rollout-annotations.ts'

export interface ObjectIdentity {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
}

/** undefined: it is not a Kubernetes object with a name. Other missing fields are empty. */
export function identityOf(object: unknown): ObjectIdentity | undefined {
  if (!isObject(object) || !isObject(object.metadata)) return undefined
  const { name, namespace, uid, resourceVersion } = object.metadata
  if (typeof name !== 'string' || name === '') return undefined
  return { name, namespace: textOf(namespace), uid: textOf(uid), resourceVersion: textOf(resourceVersion) }
}

/** The items of a list. Go encodes an empty list as null. undefined: it is not a list. */
export function itemsOf(list: unknown): readonly unknown[] | undefined {
  const items = isObject(list) ? list.items : undefined
  if (items === null) return []
  return Array.isArray(items) ? items : undefined
}

/**
 * resourceVersions that are decimal numbers, as etcd's revisions are, have an order. If one of them
 * is not a number, neither is older.
 */
export function isOlder(version: string, than: string): boolean {
  return isDecimal(version) && isDecimal(than) && BigInt(version) < BigInt(than)
}

/** undefined: a value is not a string. A missing `data` means no keys. */
export function dataOf(configMap: JsonObject): ConfigMapData | undefined {
  const { data } = configMap
  if (data === undefined || data === null) return {}
  return isObject(data) && Object.values(data).every((value) => typeof value === 'string') ? (data as ConfigMapData) : undefined
}

export function viewConfigMap(configMap: unknown): ConfigMapView {
  const identity = identityOf(configMap)
  const data = isObject(configMap) ? dataOf(configMap) : undefined
  if (identity === undefined || identity.uid === '' || identity.resourceVersion === '')
    return { kind: 'unavailable', reason: 'malformed', detail: 'the ConfigMap has no uid or no resourceVersion' }
  if (data === undefined) return { kind: 'unavailable', reason: 'malformed', detail: 'data of the ConfigMap is not a map of strings' }
  const [base, rollout] = [readBase(configMap), readRollout(configMap)]
  const { uid, resourceVersion } = identity
  return { kind: 'found', uid, resourceVersion, data, ...(base && { base }), ...(rollout && { rollout }) }
}

function isDecimal(text: string): boolean {
  return /^\d{1,20}$/.test(text)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Kubernetes objects, read from JSON of any shape: the fields that assignments need, and whether an
 * answer of the API server is what was requested. Pure.
 */

import type { ConfigMapView } from '../decision/desired.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { quote } from '../values/kubernetes-names.ts'
import { readBase, readRollout } from './channels/metadata.ts'

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

/** Whole objects or metadata alone, which is a fraction of a Node. */
export type Form = 'whole' | 'metadata'

/**
 * Compares an answer of the API server with the request. An object of another kind or name, or a
 * part of one, says nothing about the requested object: taken as it is, a Node without its spec
 * would read as one without an assignment.
 */
export interface Requested {
  readonly kind: 'Node' | 'ConfigMap'
  /** Empty for a Node. */
  readonly namespace: string
  /** undefined: any name. */
  readonly name: string | undefined
  readonly form: Form
}

interface FoundObject {
  readonly object: JsonObject
  readonly identity: ObjectIdentity
}

/** `detail`: what was expected and what came. */
interface Mismatch {
  readonly ok: false
  readonly detail: string
}

type ObjectAnswer = { readonly ok: true; readonly found: FoundObject } | Mismatch

type ListAnswer = { readonly ok: true; readonly resourceVersion: string; readonly found: readonly FoundObject[] } | Mismatch

const PARTIAL = 'PartialObjectMetadata'

export function wholeNode(name: string): Requested {
  return { kind: 'Node', namespace: '', name, form: 'whole' }
}

/** A single object: the answer to a get, or the object of a watch event. */
export function readAnswer(answer: unknown, requested: Requested): ObjectAnswer {
  return readObject(answer, isObject(answer) ? answer.kind : undefined, requested)
}

export function readListAnswer(answer: unknown, requested: Requested): ListAnswer {
  const expected = kindsOf(requested).map((kind) => `${kind}List`)
  const mismatch = (found: string): Mismatch => ({ ok: false, detail: `expected a ${expected[0]}, got ${found}` })
  if (!isObject(answer)) return mismatch('no JSON object')
  const { kind } = answer
  if (typeof kind !== 'string' || !expected.includes(kind)) return mismatch(describeKind(kind))
  const items = itemsOf(answer)
  const resourceVersion = isObject(answer.metadata) ? answer.metadata.resourceVersion : undefined
  if (items === undefined) return mismatch(`a ${kind} without items`)
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return mismatch(`a ${kind} without a resourceVersion`)
  const found: FoundObject[] = []
  for (const item of items) {
    // An API server leaves out the kind of items: it is that of the list.
    const itemKind = isObject(item) && item.kind !== undefined ? item.kind : kind.replace(/List$/, '')
    const reading = readObject(item, itemKind, requested)
    if (!reading.ok) return reading
    found.push(reading.found)
  }
  return { ok: true, resourceVersion, found }
}

function readObject(object: unknown, kind: unknown, requested: Requested): ObjectAnswer {
  const mismatch = (found: string): Mismatch => ({ ok: false, detail: `expected ${describe(requested)}, got ${found}` })
  if (!isObject(object)) return mismatch('no JSON object')
  if (typeof kind !== 'string') return mismatch(describeKind(kind))
  const identity = identityOf(object)
  if (identity === undefined) return mismatch(`${describeKind(kind)} without metadata.name`)
  const path = identity.namespace === '' ? identity.name : `${identity.namespace}/${identity.name}`
  const isRequested = identity.namespace === requested.namespace && (requested.name === undefined || identity.name === requested.name)
  if (!isRequested || !kindsOf(requested).includes(kind)) return mismatch(`${describeKind(kind)} ${quote(path)}`)
  // An API server never leaves it out, even if it is empty.
  if (kind === 'Node' && !isObject(object.spec)) return mismatch(`Node ${quote(path)} without a spec`)
  return { ok: true, found: { object, identity } }
}

/** A server that cannot answer with metadata alone answers with whole objects. */
function kindsOf({ kind, form }: Requested): readonly string[] {
  return form === 'whole' ? [kind] : [PARTIAL, kind]
}

function describe({ kind, namespace, name, form }: Requested): string {
  const what = name === undefined ? `a ${kind} in ${namespace}` : `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
  return form === 'whole' ? what : `the metadata of ${what}`
}

function describeKind(kind: unknown): string {
  if (typeof kind !== 'string' || kind === '') return 'an object without a kind'
  return /^[A-Za-z]{1,63}$/.test(kind) ? kind : quote(kind)
}

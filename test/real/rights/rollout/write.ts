// SPDX-License-Identifier: Apache-2.0
/**
 * One change of a ConfigMap, sent in each way that the API server offers: what a policy refuses in
 * one way only, it does not refuse.
 */
import type { ControlPlane } from '../../lab/control-plane.ts'
import { type Answer, type Asked, ask, type Who } from '../ask.ts'

export type Data = Readonly<Record<string, string>>

interface Metadata {
  readonly name: string
  readonly namespace: string
  readonly labels?: Data
  readonly annotations?: Data
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly object[]
  readonly managedFields?: readonly object[]
}

export interface ConfigMap {
  readonly metadata: Metadata
  readonly data?: Data
  readonly binaryData?: Data
  readonly immutable?: boolean
}

export const WAYS = ['merge patch', 'strategic patch', 'JSON patch', 'PUT'] as const
export type Way = (typeof WAYS)[number]

export function pathOf({ namespace, name }: Pick<Metadata, 'namespace' | 'name'>): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`
}

/** The request that makes `after` of `before`. */
export function change(before: ConfigMap, after: ConfigMap, way: Way): Asked {
  const path = pathOf(before.metadata)
  switch (way) {
    case 'merge patch':
      return { method: 'PATCH', path, body: difference(before, after), patch: 'merge' }
    case 'strategic patch':
      return { method: 'PATCH', path, body: difference(before, after), patch: 'strategic' }
    case 'JSON patch':
      return { method: 'PATCH', path, body: operations(before, after), patch: 'json' }
    case 'PUT':
      return { method: 'PUT', path, body: { apiVersion: 'v1', kind: 'ConfigMap', ...after } }
  }
}

/**
 * In the managedFields of an object that was not empty when it was created: an empty one has none,
 * and gets none.
 */
const BY = '?fieldManager=administrator'

/** Makes the record what it is before a case, whatever it was. */
export async function put(plane: ControlPlane, administrator: Who, record: ConfigMap): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', ...record }
  const path = `${pathOf(record.metadata)}${BY}`
  const replaced = await ask(plane, administrator, { method: 'PUT', path, body, forReal: true })
  const answer = replaced.status === 404 ? await create(plane, administrator, record) : replaced
  if (answer.status >= 400) throw new Error(`${path} cannot be prepared: ${answer.status} ${answer.message}`)
}

function create(plane: ControlPlane, who: Who, record: ConfigMap): Promise<Answer> {
  const asks = creation(record)
  return ask(plane, who, { ...asks, path: `${asks.path}${BY}`, forReal: true })
}

export function creation(record: ConfigMap): Asked {
  const path = `/api/v1/namespaces/${record.metadata.namespace}/configmaps`
  return { method: 'POST', path, body: { apiVersion: 'v1', kind: 'ConfigMap', ...record } }
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** As a merge patch (RFC 7386); null takes a field away. */
function difference(before: object, after: object): Fields {
  const [old, now]: readonly Fields[] = [{ ...before }, { ...after }]
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])
  const changed: [string, unknown][] = []
  for (const name of names) {
    const [was, is] = [old?.[name], now?.[name]]
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    changed.push([name, isFields(was) && isFields(is) ? difference(was, is) : (is ?? null)])
  }
  return Object.fromEntries(changed)
}

/** As a JSON patch (RFC 6902), field by field of the object and of its metadata. */
function operations(before: ConfigMap, after: ConfigMap): object[] {
  const { metadata: wasMetadata, ...was } = before
  const { metadata: isMetadata, ...is } = after
  return [...operate('', was, is), ...operate('/metadata', { ...wasMetadata }, { ...isMetadata })]
}

function operate(at: string, before: Fields, after: Fields): object[] {
  return Object.entries(difference(before, after)).map(([name, value]) =>
    value === null ? { op: 'remove', path: `${at}/${name}` } : { op: 'add', path: `${at}/${name}`, value: after[name] },
  )
}

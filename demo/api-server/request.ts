// SPDX-License-Identifier: Apache-2.0
/**
 * Parses a request to the test API server, with the terms of Kubernetes' `RequestInfo`
 * (apiserver/pkg/endpoints/request). Pure.
 */
import { findResource, type Resource } from './objects.ts'

export interface Identity {
  readonly user: string
  readonly groups: readonly string[]
}

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'other'

export interface ApiRequest {
  readonly atMs: number
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly verb: Verb
  /** undefined: not a resource, such as /version. */
  readonly target: Target | undefined
  /** undefined: not authenticated. */
  readonly identity: Identity | undefined
  /** Serial number of the client certificate; empty if there is none. */
  readonly certificate: string
}

export interface Target {
  readonly resource: Resource
  readonly namespace: string
  /** Empty: the collection. */
  readonly name: string
  readonly subresource: string
}

export const ADMIN: Identity = { user: 'kubernetes-admin', groups: ['system:masters'] }

export function nodeIdentity(name: string): Identity {
  return { user: `system:node:${name}`, groups: ['system:nodes'] }
}

export function parseTarget(path: string): Target | undefined {
  const [root, ...parts] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent)
  const group = root === 'apis' ? parts.shift() : ''
  if ((root !== 'api' && root !== 'apis') || group === undefined || parts.shift() !== 'v1') return undefined
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? (parts.splice(0, 2)[1] ?? '') : ''
  const [plural = '', name = '', subresource = '', ...rest] = parts
  const resource = findResource(plural)
  if (resource === undefined || resource.group !== group || rest.length > 0) return undefined
  return { resource, namespace, name, subresource }
}

export function verbOf(method: string, target: Target | undefined, query: URLSearchParams): Verb {
  if (target === undefined) return 'other'
  switch (method) {
    case 'GET':
      if (['1', 'true'].includes(query.get('watch') ?? '')) return 'watch'
      return target.name === '' ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return 'delete'
    default:
      return 'other'
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Answers a parsed request: reads, writes and watches of the store, with the messages of an API
 * server.
 */
import { discover } from './discovery.ts'
import { ApiError, apiVersionOf, isJsonObject, type Json, type KubeObject, section, statusObject } from './objects.ts'
import { pageOf } from './pages.ts'
import { partialListOf, partialOf, wantsMetadata } from './partial.ts'
import { mergePatch, strategicMergePatch } from './patch.ts'
import { decodeConfigMap, PROTOBUF } from './protobuf.ts'
import type { Reply } from './reply.ts'
import type { ApiRequest, Target } from './request.ts'
import { parseSelectors } from './selectors.ts'
import type { ObjectKey, Store, WritePart } from './store.ts'
import { tableOf, wantsTable } from './table.ts'
import { streamWatch, type WatchTimes } from './watch-stream.ts'

interface Incoming {
  readonly request: ApiRequest
  readonly contentType: string
  readonly accept: string
  readonly body: Buffer
}

export interface World {
  readonly store: Store
  readonly times: WatchTimes
  readonly version: string
  readonly allows: (request: ApiRequest) => boolean
}

export function handle(world: World, incoming: Incoming, reply: Reply): void {
  try {
    answer(world, incoming, reply)
  } catch (error) {
    const refused = error instanceof ApiError ? error : new ApiError(500, 'InternalError', String(error))
    sendJson(reply, refused.status, statusObject(refused.status, refused.reason, refused.message))
  }
}

function answer(world: World, incoming: Incoming, reply: Reply): void {
  const { request } = incoming
  const { path, query, target, identity } = request
  if (identity === undefined) throw new ApiError(401, 'Unauthorized', 'Unauthorized')
  if (['/healthz', '/livez', '/readyz'].includes(path)) {
    reply.head(200, { 'content-type': 'text/plain' })
    reply.write('ok')
    reply.end()
    return
  }
  const discovered = discover(path, world.version)
  if (discovered !== undefined) {
    sendJson(reply, 200, discovered)
    return
  }
  if (target === undefined) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource')
  if (!world.allows(request)) throw forbidden(request, target)
  if (request.verb === 'watch') {
    streamWatch(reply, world.store, target, query, parseSelectors(query), world.times, viewOf(incoming.accept, target))
    return
  }
  const { status, object } = carryOut(world.store, incoming, target)
  sendJson(reply, status, object)
}

function carryOut(store: Store, { request, contentType, accept, body }: Incoming, target: Target): { status: number; object: unknown } {
  const { resource, namespace, name, subresource } = target
  const key: ObjectKey = { resource, namespace, name }
  if (subresource !== '' && !(subresource === 'status' && resource.hasStatus))
    throw new ApiError(404, 'NotFound', 'the server could not find the requested resource')
  const part: WritePart = subresource === 'status' ? 'status' : 'main'
  const dryRun = request.query.get('dryRun') === 'All'
  switch (request.verb) {
    case 'get': {
      const object = store.get(key)
      if (wantsTable(accept)) return { status: 200, object: tableOf(resource, [object], { resourceVersion: String(store.revision) }) }
      return { status: 200, object: wantsMetadata(accept) ? partialOf(object) : object }
    }
    case 'list': {
      const matching = store.list(resource, namespace).filter(parseSelectors(request.query))
      const { items, metadata } = pageOf(matching, request.query, store)
      if (wantsTable(accept)) return { status: 200, object: tableOf(resource, items, metadata) }
      if (wantsMetadata(accept, 'List')) return { status: 200, object: partialListOf(items, metadata) }
      return { status: 200, object: { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items } }
    }
    case 'create':
      return { status: 201, object: store.create(resource, namespace, parseBody(body, contentType)) }
    case 'update':
      return { status: 200, object: store.update(key, parseBody(body, contentType), part, dryRun) }
    case 'patch':
      return { status: 200, object: store.update(key, patched(store.get(key), contentType, parseBody(body, contentType)), part, dryRun) }
    case 'delete': {
      const { uid } = store.delete(key).metadata
      return {
        status: 200,
        object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name, kind: resource.plural, uid } },
      }
    }
    default:
      throw new ApiError(405, 'MethodNotAllowed', `the server does not allow ${request.method} on ${request.path}`)
  }
}

/** The form in which a watch sends each object. */
function viewOf(accept: string, { resource }: Target): (object: KubeObject) => unknown {
  if (wantsTable(accept)) return (object) => tableOf(resource, [object], {})
  return wantsMetadata(accept) ? partialOf : (object) => object
}

function patched(stored: KubeObject, contentType: string, patch: Json): Json {
  switch (contentType) {
    case 'application/merge-patch+json':
      return objectOrThrow(mergePatch(stored, withVersionOf(stored, patch)))
    case 'application/strategic-merge-patch+json':
      return objectOrThrow(strategicMergePatch(stored, withVersionOf(stored, patch)))
    default:
      throw new ApiError(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${contentType}`)
  }
}

/**
 * A patch with a resourceVersion is conditional on it; otherwise it applies to the stored object.
 */
function withVersionOf(stored: KubeObject, patch: Json): Json {
  const metadata = section(patch, 'metadata')
  return { ...patch, metadata: { ...metadata, resourceVersion: metadata.resourceVersion ?? stored.metadata.resourceVersion } }
}

function parseBody(body: Buffer, contentType: string): Json {
  if (contentType === PROTOBUF) return decodeConfigMap(body)
  try {
    return objectOrThrow(JSON.parse(body.toString()))
  } catch (error) {
    throw new ApiError(400, 'BadRequest', `the body of the request is not a JSON object: ${String(error)}`)
  }
}

function objectOrThrow(value: unknown): Json {
  if (!isJsonObject(value)) throw new ApiError(400, 'BadRequest', 'not a JSON object')
  return value
}

function forbidden({ identity, verb }: ApiRequest, { resource, namespace, name }: Target): ApiError {
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const named = name === '' ? '' : ` "${name}"`
  const message = `${resource.plural}${named} is forbidden: User "${identity?.user}" cannot ${verb} resource "${resource.plural}" in API group "${resource.group}" ${scope}`
  return new ApiError(403, 'Forbidden', message)
}

function sendJson(reply: Reply, status: number, object: unknown): void {
  reply.head(status)
  reply.write(`${JSON.stringify(object)}\n`)
  reply.end()
}

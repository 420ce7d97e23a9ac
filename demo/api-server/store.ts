// SPDX-License-Identifier: Apache-2.0
/**
 * The objects of the test API server, in memory: one counter of resource versions for all,
 * optimistic concurrency, and the history that watches resume from until it is compacted.
 * Independent of HTTP.
 */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { dropConfigSource, validateConfigSource } from './config-source.ts'
import { ApiError, apiVersionOf, isJsonObject, type Json, type KubeObject, type Resource, section } from './objects.ts'

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly plural: string
  readonly revision: number
  readonly object: KubeObject
}

export interface ObjectKey {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

/**
 * `whole`: any part, for tests and the demo. A request writes `main` (everything but the status) or
 * `status`.
 */
export type WritePart = 'main' | 'status' | 'whole'

export class Store {
  /** true: like an API server up to 1.21. false: like one from 1.26 on. */
  storesConfigSource: boolean
  readonly #objects = new Map<string, KubeObject>()
  readonly #listeners = new Set<(event: StoreEvent) => void>()
  #history: StoreEvent[] = []
  #revision = 100
  #compactedTo = 100
  readonly #historyLimit: number

  constructor(options: { readonly storesConfigSource: boolean; readonly historyLimit: number }) {
    this.storesConfigSource = options.storesConfigSource
    this.#historyLimit = options.historyLimit
  }

  get revision(): number {
    return this.#revision
  }

  find({ resource, namespace, name }: ObjectKey): KubeObject | undefined {
    return this.#objects.get(`${resource.plural}/${namespace}/${name}`)
  }

  get(key: ObjectKey): KubeObject {
    const found = this.find(key)
    if (found === undefined) throw notFound(key)
    return found
  }

  /** An empty namespace means all namespaces. */
  list(resource: Resource, namespace: string): KubeObject[] {
    const prefix = namespace === '' ? `${resource.plural}/` : `${resource.plural}/${namespace}/`
    return [...this.#objects].filter(([path]) => path.startsWith(prefix)).map(([, object]) => object)
  }

  create(resource: Resource, namespace: string, body: Json): KubeObject {
    const given = section(body, 'metadata')
    const name = typeof given.name === 'string' ? given.name : `${String(given.generateName ?? '')}${randomUUID().slice(0, 5)}`
    const key = { resource, namespace, name }
    if (this.find(key) !== undefined) throw new ApiError(409, 'AlreadyExists', `${resource.plural} "${name}" already exists`)
    const now = `${new Date().toISOString().slice(0, 19)}Z`
    const metadata = { ...given, name, ...(resource.namespaced ? { namespace } : {}), uid: randomUUID(), creationTimestamp: now }
    return this.#put(key, 'ADDED', this.#admit(resource, { ...body, metadata }, undefined))
  }

  /** @param dryRun do everything except store the object */
  update(key: ObjectKey, body: Json, part: WritePart = 'whole', dryRun = false): KubeObject {
    const stored = this.get(key)
    const given = section(body, 'metadata')
    const expected = given.resourceVersion
    if (typeof expected === 'string' && expected !== '' && expected !== stored.metadata.resourceVersion) throw conflict(key)
    if (typeof given.uid === 'string' && given.uid !== stored.metadata.uid) throw conflict(key)
    const { name, uid, creationTimestamp, resourceVersion } = stored.metadata
    const merged: Record<string, unknown> = { ...body, metadata: { ...given, name, uid, creationTimestamp, resourceVersion } }
    if (key.resource.namespaced) merged.metadata = { ...section(merged, 'metadata'), namespace: key.namespace }
    if (key.resource.hasStatus && part !== 'whole') {
      const other = part === 'main' ? 'status' : 'spec'
      if (stored[other] === undefined) delete merged[other]
      else merged[other] = stored[other]
    }
    const admitted = this.#admit(key.resource, merged, stored)
    const unchanged = isDeepStrictEqual(JSON.parse(JSON.stringify(admitted)), JSON.parse(JSON.stringify(stored)))
    if (dryRun && isKubeObject(admitted)) return admitted
    return unchanged ? stored : this.#put(key, 'MODIFIED', admitted)
  }

  delete(key: ObjectKey): KubeObject {
    const event = this.#record(key.resource, 'DELETED', this.get(key))
    this.#objects.delete(`${key.resource.plural}/${key.namespace}/${key.name}`)
    return this.#publish(event)
  }

  /** The events after this revision. undefined: compacted; etcd does so after five minutes. */
  since(revision: number): StoreEvent[] | undefined {
    return revision < this.#compactedTo ? undefined : this.#history.filter((event) => event.revision > revision)
  }

  /** Discards the history: a watch from an earlier version gets 410. */
  compact(): void {
    this.#revision += 1
    this.#compactedTo = this.#revision
    this.#history = []
  }

  onEvent(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #admit(resource: Resource, body: Json, stored: KubeObject | undefined): Json {
    const object: Json = { ...body, apiVersion: apiVersionOf(resource), kind: resource.kind }
    if (resource.kind !== 'Node') return object
    const node = this.storesConfigSource ? object : dropConfigSource(object, stored)
    validateConfigSource(node)
    return node
  }

  #put({ resource, namespace, name }: ObjectKey, type: 'ADDED' | 'MODIFIED', object: Json): KubeObject {
    const event = this.#record(resource, type, object)
    this.#objects.set(`${resource.plural}/${namespace}/${name}`, event.object)
    return this.#publish(event)
  }

  #record(resource: Resource, type: StoreEvent['type'], object: Json): StoreEvent {
    const metadata = { ...section(object, 'metadata'), resourceVersion: String(this.#revision + 1) }
    const recorded = { ...object, metadata }
    if (!isKubeObject(recorded)) throw new ApiError(400, 'BadRequest', 'the object has no kind or no metadata.name')
    this.#revision += 1
    return { type, plural: resource.plural, revision: this.#revision, object: recorded }
  }

  #publish(event: StoreEvent): KubeObject {
    this.#history.push(event)
    if (this.#history.length > this.#historyLimit) this.#compactedTo = this.#history.shift()?.revision ?? this.#compactedTo
    for (const listener of [...this.#listeners]) listener(event)
    return event.object
  }
}

function isKubeObject(object: Json): object is KubeObject {
  const { metadata } = object
  return typeof object.kind === 'string' && isJsonObject(metadata) && typeof metadata.name === 'string'
}

function notFound({ resource, name }: ObjectKey): ApiError {
  return new ApiError(404, 'NotFound', `${resource.plural} "${name}" not found`)
}

function conflict({ resource, name }: ObjectKey): ApiError {
  const message = `Operation cannot be fulfilled on ${resource.plural} "${name}": the object has been modified; please apply your changes to the latest version and try again`
  return new ApiError(409, 'Conflict', message)
}

// SPDX-License-Identifier: Apache-2.0
/** The store as tests and the demo use it: put, edit, get and remove by kind and name. */
import { ApiError, type Json, type KubeObject, RESOURCES, section } from './objects.ts'
import type { ObjectKey, Store } from './store.ts'

export class ObjectTable {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Creates or replaces the object; without a namespace, a ConfigMap, Event or Lease goes to
   * `default`.
   */
  put(object: Json & { readonly kind: string }): KubeObject {
    const { name, namespace } = section(object, 'metadata')
    const key = this.#key(object.kind, String(name), typeof namespace === 'string' ? namespace : undefined)
    if (this.#store.find(key) === undefined) return this.#store.create(key.resource, key.namespace, object)
    const { resourceVersion: _, uid: __, ...metadata } = section(object, 'metadata')
    return this.#store.update(key, { ...object, metadata })
  }

  get(kind: string, name: string, namespace?: string): KubeObject | undefined {
    return this.#store.find(this.#key(kind, name, namespace))
  }

  list(kind: string, namespace = ''): KubeObject[] {
    return this.#store.list(this.#key(kind, '', '').resource, namespace)
  }

  /** Replaces the object by the result of `change`. */
  edit(kind: string, name: string, namespace: string | undefined, change: (object: KubeObject) => Json): KubeObject {
    const key = this.#key(kind, name, namespace)
    return this.#store.update(key, change(this.#store.get(key)))
  }

  remove(kind: string, name: string, namespace?: string): KubeObject {
    return this.#store.delete(this.#key(kind, name, namespace))
  }

  #key(kind: string, name: string, namespace: string | undefined): ObjectKey {
    const resource = RESOURCES.find((candidate) => candidate.kind === kind)
    if (resource === undefined) throw new ApiError(404, 'NotFound', `there is no kind ${kind}`)
    return { resource, name, namespace: resource.namespaced ? (namespace ?? 'default') : '' }
  }
}

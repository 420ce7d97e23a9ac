// SPDX-License-Identifier: Apache-2.0
/**
 * An API server in memory that holds ConfigMaps: what the worker for the record of a rollout needs
 * of it, and faults.
 */
import type { KubeAnswer, KubeApi, KubeRefusal, KubeRequest, KubeWatchEnd, KubeWatchRequest } from '../../../src/ports/kube-api.ts'

interface StoredConfigMap {
  readonly uid: string
  readonly resourceVersion: string
  readonly annotations: Readonly<Record<string, string>>
  readonly data: Readonly<Record<string, string>>
}

interface Watcher {
  readonly name: string
  readonly request: KubeWatchRequest
  readonly end: (end: KubeWatchEnd) => void
}

type Fault = (request: Pick<KubeRequest, 'method' | 'path'> & { readonly from: string }) => 'down' | 'lost' | number | undefined

export class MemoryApi {
  readonly #objects = new Map<string, StoredConfigMap>()
  readonly #watchers = new Set<Watcher>()
  #versions = 100
  #uids = 0
  /**
   * `down`: it does not answer. `lost`: it does what is asked, and the answer is lost. A number: it
   * refuses with this status.
   */
  faultOf: Fault = () => undefined
  /** Of its clock. undefined: no answer says it. */
  serverMs: (() => number) | undefined
  /** With every refusal. */
  retryAfterMs: number | undefined
  readonly requests: string[] = []

  get(name: string): StoredConfigMap | undefined {
    return this.#objects.get(name)
  }

  put(name: string, data: StoredConfigMap['data'], annotations: StoredConfigMap['annotations'] = {}): StoredConfigMap {
    this.#versions += 1
    const before = this.#objects.get(name)
    if (before === undefined) this.#uids += 1
    const uid = before?.uid ?? `00000000-0000-4000-8000-${String(this.#uids).padStart(12, '0')}`
    const stored = { uid, resourceVersion: String(this.#versions), annotations, data }
    this.#objects.set(name, stored)
    this.#tell(name, before === undefined ? 'ADDED' : 'MODIFIED', stored)
    return stored
  }

  remove(name: string): void {
    const before = this.#objects.get(name)
    this.#objects.delete(name)
    this.#versions += 1
    if (before !== undefined) this.#tell(name, 'DELETED', { ...before, resourceVersion: String(this.#versions) })
  }

  /** From a backup, at its older version. The servers restart for it. */
  restore(name: string, stored: StoredConfigMap): void {
    this.#versions = Number(stored.resourceVersion)
    this.#objects.set(name, stored)
    this.endWatches()
  }

  /** How many watches of an object are open. */
  watchesOf(name: string): number {
    return [...this.#watchers].filter((watcher) => watcher.name === name).length
  }

  /** Ends the watches. By default, as a server that restarts does. */
  endWatches(end: KubeWatchEnd = { kind: 'unreachable', detail: 'it restarts' }): void {
    for (const watcher of this.#watchers) watcher.end(end)
  }

  /** As one node sees it. */
  clientOf(from: string): KubeApi {
    return {
      request: async (request) => {
        await Promise.resolve()
        this.requests.push(`${from} ${request.method} ${request.path}${request.query?.fieldSelector === undefined ? '' : '?'}`)
        const fault = this.faultOf({ ...request, from })
        if (fault === 'down') return { kind: 'unreachable', detail: 'connection refused' }
        if (typeof fault === 'number') return { ...refusal(fault, 'a fault of the test'), retryAfterMs: this.retryAfterMs }
        const answer = this.#tellTime(this.#answer(request))
        return fault === 'lost' ? { kind: 'unreachable', detail: 'the connection broke' } : answer
      },
      watch: (request) => this.#watch(request, from),
    }
  }

  #tellTime(answer: KubeAnswer): KubeAnswer {
    return answer.kind === 'ok' && this.serverMs !== undefined ? { ...answer, serverMs: this.serverMs() } : answer
  }

  #answer({ method, path, query, body }: KubeRequest): KubeAnswer {
    const name = path.split('/')[6]
    if (name === undefined) {
      const wanted = query?.fieldSelector?.replace('metadata.name=', '') ?? ''
      const found = this.#objects.get(wanted)
      const items = found === undefined ? [] : [asObject(wanted, found)]
      return { kind: 'ok', object: { kind: 'ConfigMapList', metadata: { resourceVersion: String(this.#versions) }, items } }
    }
    const found = this.#objects.get(name)
    if (found === undefined) return refusal(404, `configmaps "${name}" not found`)
    if (method === 'GET') return { kind: 'ok', object: asObject(name, found) }
    const patch = body as { metadata: { resourceVersion: string }; data: Record<string, string | null> }
    if (patch.metadata.resourceVersion !== found.resourceVersion) return refusal(409, 'the object has been modified')
    const data = Object.entries({ ...found.data, ...patch.data }).filter((entry): entry is [string, string] => entry[1] !== null)
    return { kind: 'ok', object: asObject(name, this.put(name, Object.fromEntries(data), found.annotations)) }
  }

  #watch(request: KubeWatchRequest, from: string): Promise<KubeWatchEnd> {
    return new Promise((resolve) => {
      if (this.faultOf({ method: 'GET', path: request.path, from }) !== undefined) {
        resolve({ kind: 'unreachable', detail: 'connection refused' })
        return
      }
      const watcher: Watcher = {
        name: request.query.fieldSelector?.replace('metadata.name=', '') ?? '',
        request,
        end: (end) => {
          this.#watchers.delete(watcher)
          resolve(end)
        },
      }
      this.#watchers.add(watcher)
      request.onOpen?.(this.serverMs?.())
      request.signal.addEventListener('abort', () => watcher.end({ kind: 'ended', detail: 'stopped' }), { once: true })
    })
  }

  #tell(name: string, type: string, stored: StoredConfigMap): void {
    for (const watcher of this.#watchers) if (watcher.name === name) watcher.request.onEvent({ type, object: asObject(name, stored) })
  }

  /** A bookmark, which an API server sends about once a minute. */
  bookmark(): void {
    const object = { kind: 'ConfigMap', metadata: { resourceVersion: String(this.#versions) } }
    for (const { request } of this.#watchers) request.onEvent({ type: 'BOOKMARK', object })
  }
}

function refusal(status: number, detail: string): KubeRefusal {
  const reason = { 403: 'Forbidden', 404: 'NotFound', 409: 'Conflict' }[status] ?? 'InternalError'
  return { kind: 'refused', status, reason, detail, retryAfterMs: undefined }
}

function asObject(name: string, { uid, resourceVersion, annotations, data }: StoredConfigMap): object {
  return { kind: 'ConfigMap', metadata: { name, namespace: 'kube-system', uid, resourceVersion, annotations }, data }
}

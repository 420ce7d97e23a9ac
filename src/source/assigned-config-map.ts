// SPDX-License-Identifier: Apache-2.0
/**
 * The ConfigMap that is assigned, those under it, and those laid over it: the watch of each, what
 * was read of it last, and its pause.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClusterPause, ConfigMapView, Stale } from '../decision/desired.ts'
import { sourcePath } from '../decision/status-texts.ts'
import type { ConfigMapRef } from '../subject/config-source.ts'
import { type AssignedRefs, followBases, withBases } from './base-chain.ts'
import { metadataOf, readPause } from './channels/metadata.ts'
import { viewConfigMap } from './kube-object.ts'
import { logConfigMap } from './log-assignment.ts'
import { type ObjectView, watchObject } from './object-watch.ts'
import { toReadFailure } from './reflect.ts'
import type { RequestGate, WatchDeps } from './watch-loop.ts'

export interface AssignedConfigMapDeps {
  /** The name of the ConfigMap's role, for the log. Default: it is the assigned one. */
  readonly what?: string
  readonly watch: WatchDeps
  readonly gateOf: (path: string) => RequestGate
  readonly run: (task: () => Promise<void>) => void
  /** Called when another ConfigMap is read from now on, or none. */
  readonly onSwitched: () => void
  readonly onChange: () => void
  readonly onFailed: (reason: Stale['reason']) => void
  readonly observer: (signal: AbortSignal) => { readonly onSynced: () => void; readonly onReconnect: () => void }
}

interface Followed {
  readonly path: string
  readonly stopper: AbortController
  view: ConfigMapView
  paused: ClusterPause | undefined
}

/** One of them. Another assignment ends the watch and begins with nothing read. */
export class AssignedConfigMap {
  readonly #deps: AssignedConfigMapDeps
  #followed: Followed | undefined

  constructor(deps: AssignedConfigMapDeps) {
    this.#deps = deps
  }

  get view(): ConfigMapView {
    return this.#followed?.view ?? { kind: 'pending' }
  }

  get paused(): ClusterPause | undefined {
    return this.#followed?.paused
  }

  follow(ref: ConfigMapRef | undefined): void {
    const path = ref === undefined ? undefined : sourcePath(ref)
    if (path === this.#followed?.path) return
    this.stop()
    this.#followed = undefined
    this.#deps.onSwitched()
    if (ref === undefined || path === undefined) return
    const followed: Followed = { path, stopper: new AbortController(), view: { kind: 'pending' }, paused: undefined }
    this.#followed = followed
    const { watch, gateOf, run, observer } = this.#deps
    watch.log.info(`attempting to download ${path}`)
    const { namespace, name } = ref
    const { signal } = followed.stopper
    const watched = { collection: `/api/v1/namespaces/${namespace}/configmaps`, kind: 'ConfigMap', namespace, name } as const
    const observing = { onView: (view: ObjectView) => this.#see(followed, ref, view), ...observer(signal) }
    run(() => watchObject(watch, watched, observing, gateOf(path), signal))
  }

  stop(): void {
    this.#followed?.stopper.abort()
  }

  #see(followed: Followed, { namespace, name }: ConfigMapRef, view: ObjectView): void {
    if (followed.stopper.signal.aborted) return
    const { view: before, paused } = followed
    const now = toConfigMapView(before, view)
    if (view.kind === 'failed') {
      this.#deps.onFailed(view.reason)
    } else {
      const metadata = view.kind === 'found' ? metadataOf(view.object) : undefined
      followed.paused = metadata && readPause(metadata, 'ConfigMap', `${namespace}/${name}`)
    }
    const isSame = isSameView(before, now)
    if (isSame && paused?.by === followed.paused?.by) return
    followed.view = now
    if (!isSame) logConfigMap(this.#deps.watch.log, followed.path, before, now, this.#deps.what)
    this.#deps.onChange()
  }
}

/** A ConfigMap that was found stays found while it cannot be read. */
function toConfigMapView(before: ConfigMapView, view: ObjectView): ConfigMapView {
  switch (view.kind) {
    case 'found':
      return viewConfigMap(view.object)
    case 'absent':
      return { kind: 'unavailable', reason: 'not-found', detail: 'it does not exist' }
    case 'failed':
      return before.kind === 'found' ? before : { kind: 'unavailable', reason: toReadFailure(view.reason), detail: view.detail }
  }
}

function isSameView(a: ConfigMapView, b: ConfigMapView): boolean {
  if (a === b) return true
  // A restored etcd can serve the same resourceVersion with other content.
  if (a.kind === 'found' && b.kind === 'found')
    return (
      a.uid === b.uid &&
      a.resourceVersion === b.resourceVersion &&
      isDeepStrictEqual([a.data, a.base, a.rollout], [b.data, b.base, b.rollout])
    )
  return a.kind === 'unavailable' && b.kind === 'unavailable' && a.reason === b.reason
}

const PENDING: ConfigMapView = { kind: 'pending' }

/**
 * The ConfigMaps under the part that is assigned, and those laid over it, each with a watch of its
 * own. A ConfigMap that is no longer one of them is watched no more.
 */
export class BaseConfigMaps {
  readonly #depsOf: (path: string) => AssignedConfigMapDeps
  /** By path. */
  readonly #watched = new Map<string, AssignedConfigMap>()

  constructor(depsOf: (path: string) => AssignedConfigMapDeps) {
    this.#depsOf = depsOf
  }

  /** The assigned ConfigMap with its bases and layers, as they are known now. */
  complete(refs: AssignedRefs, object: ConfigMapView): ConfigMapView {
    return withBases(refs, object, (base) => this.#view(base))
  }

  /** Watches what is under this ConfigMap and over it, and nothing else. */
  follow(assigned: (AssignedRefs & { readonly object: ConfigMapView }) | undefined): void {
    const bases = assigned && followBases(assigned.ref, assigned.object, (base) => this.#view(base))
    const refs = [...(bases?.views ?? []).map(({ ref }) => ref), ...(assigned?.layers ?? [])]
    const wanted = new Map(refs.map((ref) => [sourcePath(ref), ref]))
    for (const [path, watch] of this.#watched) {
      if (wanted.has(path)) continue
      watch.follow(undefined)
      this.#watched.delete(path)
    }
    for (const [path, ref] of wanted) {
      if (this.#watched.has(path)) continue
      const watch = new AssignedConfigMap(this.#depsOf(path))
      this.#watched.set(path, watch)
      watch.follow(ref)
    }
  }

  stop(): void {
    for (const watch of this.#watched.values()) watch.stop()
  }

  #view(ref: ConfigMapRef): ConfigMapView {
    return this.#watched.get(sourcePath(ref))?.view ?? PENDING
  }
}

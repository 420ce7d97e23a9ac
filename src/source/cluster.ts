/**
 * Assignments from the cluster: follows this node's Node object and the one ConfigMap it names. While the server is away, what it said
 * last stands; before it has said anything, the answer is unknown. Log lines are upstream's where upstream had one
 * (pkg/kubelet/kubeletconfig/watch.go and checkpoint/download.go of 1.20).
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConfigMapRef, ConfigMapView, Desired } from '../agent/model.ts'
import type { AssignmentSource, KubeApi, Log } from '../agent/ports.ts'
import { sourcePath } from '../report/texts.ts'
import { type Assignment, readAssignment } from './desired.ts'
import { viewConfigMap } from './kube-object.ts'
import {
  type ObjectView,
  type ObjectWatchDeps,
  openGate,
  type Pace,
  type RequestGate,
  WATCH_LIMITS,
  type WatchLimits,
  watchObject,
} from './object-watch.ts'

export interface SourceCounters {
  watchReconnected(kind: 'Node' | 'ConfigMap'): void
  /** The API server was heard: for the time of the last successful sync. */
  synced(): void
}

export interface ClusterSourceDeps {
  readonly nodeName: string
  readonly api: KubeApi
  readonly pace: Pace
  readonly log: Log
  readonly counters: SourceCounters
  /** Each Node as it is seen: for whoever keeps its status. */
  readonly onNode?: (uid: string, statusConfig: unknown) => void
  /** Resolves once requests make sense (there is a kubeconfig), or when the signal aborts. */
  readonly ready?: (signal: AbortSignal) => Promise<void>
  /** What keeps requests from making sense; undefined: nothing. */
  readonly obstacle?: () => string | undefined
  readonly limits?: WatchLimits
}

interface FollowedConfigMap {
  readonly path: string
  readonly stopper: AbortController
  view: ConfigMapView
}

export class ClusterSource implements AssignmentSource {
  readonly #deps: ClusterSourceDeps
  readonly #stopper = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #gates = new Map<string, RequestGate>()
  #onChange: () => void = () => {}
  #assignment: Assignment | undefined
  readonly #missing: string
  #unknown = 'the API server has not been asked yet'
  #nodeUid: string | undefined
  #configMap: FollowedConfigMap | undefined

  constructor(deps: ClusterSourceDeps) {
    this.#deps = deps
    this.#missing = `Node ${deps.nodeName} does not exist in the cluster`
  }

  desired(): Desired {
    const assignment = this.#assignment
    if (assignment === undefined) return { kind: 'unknown', detail: this.#deps.obstacle?.() ?? this.#unknown }
    if (assignment.kind !== 'config-map') return assignment
    return { kind: 'config-map', ref: assignment.ref, object: this.#configMap?.view ?? { kind: 'pending' } }
  }

  /** Of the Node as last seen; undefined: not seen yet. */
  nodeUid(): string | undefined {
    return this.#nodeUid
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#run(async () => {
      await this.#deps.ready?.(this.#stopper.signal)
      const { nodeName, counters } = this.#deps
      const watched = { collection: '/api/v1/nodes', name: nodeName }
      const observer = {
        onView: (view: ObjectView) => this.#seeNode(view),
        onSynced: () => counters.synced(),
        onReconnect: () => counters.watchReconnected('Node'),
      }
      await watchObject(this.#watchDeps(), watched, observer, openGate(), this.#stopper.signal)
    })
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    this.#configMap?.stopper.abort()
    await Promise.all(this.#running)
  }

  #seeNode(view: ObjectView): void {
    const { log, nodeName } = this.#deps
    switch (view.kind) {
      case 'failed':
        this.#unknown = `Node ${nodeName} cannot be read: ${view.detail}`
        return
      case 'absent':
        if (this.#assignment === undefined) {
          if (this.#unknown !== this.#missing) log.warn(`${this.#missing}: waiting for it, nothing is changed`)
          this.#unknown = this.#missing
          return
        }
        this.#unknown = this.#missing
        log.warn('Node was deleted', { node: nodeName })
        this.#assign(undefined)
        return
      case 'found': {
        const anew = this.#nodeUid !== undefined && this.#nodeUid !== view.identity.uid
        const assignment = readAssignment(view.object)
        if (this.#nodeUid === undefined) log.info('initial Node watch event', { node: nodeName })
        if (anew && assignment.kind === 'local')
          log.warn(`Node ${nodeName} was deleted and registered anew without a configSource: this node goes back to its local config`)
        else if (anew) log.warn(`Node ${nodeName} was deleted and registered anew`)
        this.#nodeUid = view.identity.uid
        this.#deps.onNode?.(view.identity.uid, findStatusConfig(view.object))
        if (JSON.stringify(assignment) === JSON.stringify(this.#assignment)) return
        if (this.#assignment !== undefined) log.info('Node.Spec.ConfigSource was updated', { assignment })
        this.#assign(assignment)
      }
    }
  }

  #assign(assignment: Assignment | undefined): void {
    this.#assignment = assignment
    this.#follow(assignment?.kind === 'config-map' ? assignment.ref : undefined)
    this.#onChange()
  }

  #follow(ref: ConfigMapRef | undefined): void {
    const path = ref === undefined ? undefined : sourcePath(ref)
    if (path === this.#configMap?.path) return
    this.#configMap?.stopper.abort()
    this.#configMap = undefined
    if (ref === undefined || path === undefined) return
    const { log, counters } = this.#deps
    const followed: FollowedConfigMap = { path, stopper: new AbortController(), view: { kind: 'pending' } }
    this.#configMap = followed
    log.info(`attempting to download ${path}`)
    const watched = { collection: `/api/v1/namespaces/${ref.namespace}/configmaps`, name: ref.name }
    const observer = {
      onView: (view: ObjectView) => this.#seeConfigMap(followed, view),
      onSynced: () => counters.synced(),
      onReconnect: () => counters.watchReconnected('ConfigMap'),
    }
    this.#run(() => watchObject(this.#watchDeps(), watched, observer, this.#gateOf(path), followed.stopper.signal))
  }

  #seeConfigMap(followed: FollowedConfigMap, view: ObjectView): void {
    if (followed.stopper.signal.aborted) return
    const { log } = this.#deps
    const before = followed.view
    const now = toConfigMapView(before, view)
    if (isSameView(before, now)) return
    followed.view = now
    if (before.kind === 'found' && now.kind === 'found') log.info('assigned ConfigMap was updated', { path: followed.path })
    if (before.kind === 'found' && view.kind === 'absent') log.warn('assigned ConfigMap was deleted', { path: followed.path })
    if (now.kind === 'found') log.info(`successfully downloaded ${followed.path}, UID: ${now.uid}, ResourceVersion: ${now.resourceVersion}`)
    if (now.kind === 'unavailable') log.error(`failed to download ${followed.path}: ${now.detail}`, { reason: now.reason })
    this.#onChange()
  }

  /** A Node whose assignment goes back and forth must not make requests about one ConfigMap more often than any other. */
  #gateOf(path: string): RequestGate {
    const nowMs = this.#deps.pace.nowMs()
    for (const [other, gate] of this.#gates) if (gate.lastMs < nowMs - 10_000) this.#gates.delete(other)
    const gate = this.#gates.get(path) ?? openGate()
    this.#gates.set(path, gate)
    return gate
  }

  #watchDeps(): ObjectWatchDeps {
    const { api, pace, log, limits = WATCH_LIMITS } = this.#deps
    return { api, pace, log, limits }
  }

  #run(task: () => Promise<void>): void {
    const running: Promise<void> = task()
      .catch((error: unknown) => this.#deps.log.error('following the cluster has ended by a fault in the agent', { error }))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }
}

function findStatusConfig(node: unknown): unknown {
  const status: unknown = typeof node === 'object' && node !== null && 'status' in node ? node.status : undefined
  return typeof status === 'object' && status !== null && 'config' in status ? status.config : undefined
}

/** What was found stays found while it cannot be read: the server said so, and has not said otherwise. */
function toConfigMapView(before: ConfigMapView, view: ObjectView): ConfigMapView {
  switch (view.kind) {
    case 'found':
      return viewConfigMap(view.object)
    case 'absent':
      return { kind: 'unavailable', reason: 'not-found', detail: 'it does not exist' }
    case 'failed':
      return before.kind === 'found' ? before : { kind: 'unavailable', reason: view.reason, detail: view.detail }
  }
}

function isSameView(a: ConfigMapView, b: ConfigMapView): boolean {
  if (a === b) return true
  // A restored etcd can hand out the same version with other content.
  if (a.kind === 'found' && b.kind === 'found')
    return a.uid === b.uid && a.resourceVersion === b.resourceVersion && isDeepStrictEqual(a.data, b.data)
  return a.kind === 'unavailable' && b.kind === 'unavailable' && a.reason === b.reason
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Assignments from the cluster: watches this node's Node object, the assigned ConfigMap and, where
 * the selector channel decides, the ConfigMaps of the fleet. While the API server is unreachable,
 * the last assignment stays in effect; before the first answer, the assignment is unknown.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClusterPause, Desired, Silence, Stale } from '../decision/desired.ts'
import { joinPauses } from '../decision/find-pause.ts'
import type { AssignmentSource, NodeView } from '../ports/assignment-source.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { type NodeShown, readNodeShown } from '../subject/node-shown.ts'
import { AssignedConfigMap, type AssignedConfigMapDeps, BaseConfigMaps } from './assigned-config-map.ts'
import { metadataOf, readPause } from './channels/metadata.ts'
import {
  type ChannelResolution,
  type ChannelSettings,
  CONFIG_SOURCE_ONLY,
  type Fleet,
  needsFleet,
  resolveChannels,
} from './channels/resolve.ts'
import { type NodeFacts, readNodeFacts, toDesired } from './channels/to-desired.ts'
import { watchFleet } from './fleet-watch.ts'
import type { Form } from './kube-object.ts'
import { logAssignment } from './log-assignment.ts'
import { NodeExtent } from './node-extent.ts'
import { keepRunning, type ObjectView, watchObject } from './object-watch.ts'
import { openGate, type RequestGate, WATCH_LIMITS, type WatchDeps, type WatchLimits, type WatchTiming } from './watch-loop.ts'

/** Before the Node is watched as a whole. */
const MOST_DELAY_MS = 10_000

export interface SourceCounters {
  watchReconnected(): void
  /** The API server answered: for the time of the last successful sync. */
  synced(): void
}

export interface ClusterSourceDeps {
  readonly nodeName: string
  readonly api: KubeApi
  readonly pace: WatchTiming
  readonly log: Log
  readonly counters: SourceCounters
  /** Default: spec.configSource alone. */
  readonly channels?: ChannelSettings
  /** Called with each Node that is seen, whole or metadata only. */
  readonly onNode?: (uid: string, node: unknown, form: Form) => void
  /**
   * Called once the API server has accepted the watch of the Node, and where the Node cannot be
   * read. Later ones say nothing new.
   */
  readonly onContact?: () => void
  /** Resolves once requests can be made (a kubeconfig exists), or when the signal aborts. */
  readonly ready?: (signal: AbortSignal) => Promise<void>
  /** Why requests cannot be made; undefined: they can. */
  readonly obstacle?: () => string | undefined
  readonly limits?: WatchLimits
}

export class ClusterSource implements AssignmentSource {
  readonly #deps: ClusterSourceDeps
  readonly #channels: ChannelSettings
  readonly #stopper = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #gates = new Map<string, RequestGate>()
  readonly #extent: NodeExtent
  readonly #missing: string
  #onChange: () => void = () => {}
  #unknown: { readonly detail: string; readonly silence?: Silence } = { detail: 'the API server has not answered yet' }
  readonly #staleness = new Staleness()
  /** The last Node seen. undefined: none yet, or it was deleted. */
  #node: { readonly object: unknown; readonly facts: NodeFacts; readonly paused: ClusterPause | undefined } | undefined
  /** Of the last whole Node. undefined: its metadata has changed since. */
  #shown: NodeShown | undefined
  #isShownWanted = false
  #watch: AbortController | undefined
  #nodeUid: string | undefined
  #resolution: ChannelResolution | undefined
  #fleet: Fleet = { kind: 'pending' }
  #fleetStopper: AbortController | undefined
  readonly #configMap: AssignedConfigMap
  /** The ConfigMaps under the assigned one, where it holds a part, and over it. */
  readonly #bases: BaseConfigMaps

  constructor(deps: ClusterSourceDeps) {
    const { nodeName, api, pace, log, limits = WATCH_LIMITS } = deps
    this.#deps = deps
    this.#channels = deps.channels ?? CONFIG_SOURCE_ONLY
    this.#extent = new NodeExtent({ api, nodeName, pace, log, requestTimeoutMs: limits.requestTimeoutMs })
    this.#missing = `Node ${nodeName} does not exist in the cluster`
    const watching = (what: 'ConfigMap' | 'base', under?: string): AssignedConfigMapDeps => ({
      ...(what === 'base' && { what: 'ConfigMap that is merged with the assigned one' }),
      watch: { api, pace, log, limits },
      gateOf: (path) => this.#gateOf(path),
      run: (task) => this.#run('an assigned ConfigMap', task),
      onSwitched: () => this.#staleness.clear(what, under),
      onChange: () => this.#followBases(),
      onFailed: (reason) => this.#fail(what, reason, undefined, under),
      observer: (signal) => this.#syncObserver(what, signal, under),
    })
    this.#configMap = new AssignedConfigMap(watching('ConfigMap'))
    this.#bases = new BaseConfigMaps((path) => watching('base', path))
  }

  desired(): Desired {
    const [resolution, node] = [this.#resolution, this.#node]
    if (resolution === undefined || node === undefined) {
      const obstacle = this.#deps.obstacle?.()
      return { kind: 'unknown', ...(obstacle === undefined ? this.#unknown : { detail: obstacle, silence: 'kubeconfig' }) }
    }
    const { view, paused } = this.#configMap
    const object = resolution.kind === 'config-map' ? this.#bases.complete(resolution, view) : view
    return toDesired(resolution, { object, paused: joinPauses(node.paused, paused), stale: this.#staleness.oldest(), node: node.facts })
  }

  node(isWanted: boolean): NodeView {
    this.#isShownWanted = isWanted
    if (this.#extent.want(isWanted)) this.#run('the whole Node', () => this.#watchAnew())
    return this.#shown === undefined
      ? { kind: 'pending', detail: 'the whole Node, from which values are computed, has not been read yet' }
      : { kind: 'found', node: this.#shown }
  }

  /** At a time of its own: one edit may be the first that computes on all nodes. */
  async #watchAnew(): Promise<void> {
    const { random, sleep } = this.#deps.pace
    await sleep(random() * MOST_DELAY_MS, this.#stopper.signal)
    if (this.#isShownWanted) this.#watch?.abort()
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    const gate = openGate()
    let isReady = false
    this.#run(`Node ${this.#deps.nodeName}`, async () => {
      if (!isReady) await this.#deps.ready?.(this.#stopper.signal)
      isReady = true
      const watched = { collection: '/api/v1/nodes', kind: 'Node', namespace: '', name: this.#deps.nodeName, extent: this.#extent } as const
      const observer = {
        onView: (view: ObjectView) => this.#seeNode(view),
        onOpen: () => this.#deps.onContact?.(),
        ...this.#syncObserver('Node'),
      }
      while (!this.#stopper.signal.aborted) {
        this.#watch = new AbortController()
        await watchObject(this.#watchDeps(), watched, observer, gate, AbortSignal.any([this.#stopper.signal, this.#watch.signal]))
      }
    })
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    this.#fleetStopper?.abort()
    this.#configMap.stop()
    this.#bases.stop()
    await Promise.all(this.#running)
  }

  #seeNode(view: ObjectView): void {
    const { log, nodeName } = this.#deps
    switch (view.kind) {
      case 'failed':
        this.#unknown = { detail: `Node ${nodeName} cannot be read: ${view.detail}`, silence: view.reason }
        this.#fail('Node', view.reason)
        this.#deps.onContact?.()
        return
      case 'absent':
        if (this.#node === undefined) {
          if (this.#unknown.silence !== 'missing') log.warn(`${this.#missing}: waiting for it; nothing is changed`)
          this.#unknown = { detail: this.#missing, silence: 'missing' }
          return
        }
        this.#unknown = { detail: this.#missing, silence: 'missing' }
        log.warn('Node was deleted', { node: nodeName })
        this.#node = undefined
        this.#shown = undefined
        this.#resolution = undefined
        this.#watchFleet(false)
        this.#configMap.follow(undefined)
        this.#followBases()
        return
      case 'found': {
        if (view.form === 'whole') this.#extent.observe(view.object)
        this.#logIdentity(view.identity.uid, view.object)
        this.#nodeUid = view.identity.uid
        this.#deps.onNode?.(view.identity.uid, view.object, view.form)
        const before = this.#node === undefined ? undefined : this.desired()
        const metadata = metadataOf(view.object)
        const paused = metadata && readPause(metadata, 'Node', nodeName)
        this.#node = { object: view.object, facts: readNodeFacts(view.object, this.#channels), paused }
        const shown = view.form === 'whole' ? readNodeShown(view.object) : undefined
        const isShownAnew = this.#isShownWanted && !isDeepStrictEqual(this.#shown, shown)
        this.#shown = shown
        this.#watchFleet(needsFleet(view.object, this.#channels))
        this.#resolve(isShownAnew || !isDeepStrictEqual(before, this.desired()))
      }
    }
  }

  #logIdentity(uid: string, node: unknown): void {
    const { log, nodeName } = this.#deps
    if (this.#nodeUid === undefined) log.info('initial Node watch event', { node: nodeName })
    if (this.#nodeUid === undefined || this.#nodeUid === uid) return
    if (resolveChannels(node, this.#channels, this.#fleet).kind === 'local')
      log.warn(`Node ${nodeName} was deleted and registered again without a configSource: this node goes back to its local config`)
    else log.warn(`Node ${nodeName} was deleted and registered again`)
  }

  /** @param changed something besides the resolution has changed */
  #resolve(changed = false): void {
    if (this.#node === undefined) return
    const before = this.#resolution
    const now = resolveChannels(this.#node.object, this.#channels, this.#fleet)
    if (!isDeepStrictEqual(now, before)) {
      logAssignment(this.#deps.log, before, now)
      this.#resolution = now
      this.#configMap.follow(now.kind === 'config-map' ? now.ref : undefined)
    } else if (!changed) return
    this.#followBases()
  }

  /**
   * To be called when the view of the assigned ConfigMap, or of one that is merged with it, has
   * changed.
   */
  #followBases(): void {
    const resolution = this.#resolution
    this.#bases.follow(resolution?.kind === 'config-map' ? { ...resolution, object: this.#configMap.view } : undefined)
    this.#onChange()
  }

  #watchFleet(needed: boolean): void {
    if (needed === (this.#fleetStopper !== undefined)) return
    this.#fleetStopper?.abort()
    this.#fleetStopper = undefined
    this.#staleness.clear('fleet')
    this.#fleet = { kind: 'pending' }
    if (!needed) return
    const { namespace } = this.#channels
    const stopper = new AbortController()
    this.#fleetStopper = stopper
    const observer = {
      onFleet: (fleet: Fleet) => {
        if (stopper.signal.aborted) return
        this.#fleet = fleet
        this.#resolve()
      },
      onFailed: (reason: Stale['reason']) => this.#fail('fleet', reason, stopper.signal),
      ...this.#syncObserver('fleet', stopper.signal),
    }
    this.#run(
      'the ConfigMaps with a selector',
      () => watchFleet(this.#watchDeps(), namespace, observer, this.#gateOf('fleet'), stopper.signal),
      stopper.signal,
    )
  }

  #fail(what: Stale['what'], reason: Stale['reason'], signal?: AbortSignal, path?: string): void {
    if (signal?.aborted !== true) this.#staleness.failed(what, reason, this.#deps.pace.nowMs(), path)
  }

  #syncObserver(what: Stale['what'], signal?: AbortSignal, path?: string) {
    const { counters } = this.#deps
    const onSynced = () => {
      counters.synced()
      // Where nothing was edited meanwhile, nothing else tells that it can be read again.
      if (signal?.aborted !== true && this.#staleness.clear(what, path)) this.#onChange()
    }
    return { onSynced, onReconnect: () => counters.watchReconnected() }
  }

  /** Keeps requests about one ConfigMap apart, even if the assignment goes back and forth. */
  #gateOf(path: string): RequestGate {
    const nowMs = this.#deps.pace.nowMs()
    for (const [other, gate] of this.#gates) if (gate.lastMs < nowMs - 10_000) this.#gates.delete(other)
    const gate = this.#gates.get(path) ?? openGate()
    this.#gates.set(path, gate)
    return gate
  }

  #watchDeps(): WatchDeps {
    const { api, pace, log, limits = WATCH_LIMITS } = this.#deps
    return { api, pace, log, limits }
  }

  #run(what: string, task: () => Promise<void>, signal: AbortSignal = this.#stopper.signal): void {
    const running: Promise<void> = keepRunning(what, task, this.#deps, signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }
}

/**
 * Since when the Node, the ConfigMap, those under it and the fleet cannot be read. The versions
 * that were read before stay in effect; only the condition of the Node depends on this. Each object
 * is stale from its first failure until the next successful answer.
 */
class Staleness {
  readonly #stale = new Map<string, Stale>()

  /** @param path of one of several objects of this kind */
  failed(what: Stale['what'], reason: Stale['reason'], nowMs: number, path = ''): void {
    const key = `${what} ${path}`
    this.#stale.set(key, { what, reason, sinceUs: this.#stale.get(key)?.sinceUs ?? nowMs * 1000 })
  }

  /**
   * The object was read, or is no longer watched.
   * @returns whether it was stale
   */
  clear(what: Stale['what'], path = ''): boolean {
    return this.#stale.delete(`${what} ${path}`)
  }

  /** The one that has been stale for longest. undefined: all of them can be read. */
  oldest(): Stale | undefined {
    return [...this.#stale.values()].sort((a, b) => a.sinceUs - b.sinceUs)[0]
  }
}

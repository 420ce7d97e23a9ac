// SPDX-License-Identifier: Apache-2.0
/**
 * The simulated API server, seen through an unreliable watch. The agent's source holds a copy,
 * which is refreshed some time after a change, or at the next resync if the event was lost.
 */

import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, type SwitchedChannel } from '../../src/decision/channels.ts'
import type { Base, ConfigMapView, Desired } from '../../src/decision/desired.ts'
import type { AssignmentSource } from '../../src/ports/assignment-source.ts'
import { CONFIG_SOURCE_ONLY, resolveChannels } from '../../src/source/channels/resolve.ts'
import { readNodeFacts, toDesired } from '../../src/source/channels/to-desired.ts'
import { meaningOf, withWording } from './behaviour.ts'
import type { NodeKind } from './node-kind.ts'
import type { Random } from './random.ts'

interface SimConfigMap {
  readonly uid: string
  readonly resourceVersion: string
  readonly data: Readonly<Record<string, string>>
  readonly paused?: boolean
}

const KEYS = ['kubelet', 'other'] as const
const RESYNC_US = 20 * 60e6

/** A client's copy: the Node, its pause annotation, and the ConfigMaps. */
interface View {
  readonly node: unknown
  /** For the selector channel: the ConfigMap that selects this node. */
  readonly selecting: string | undefined
  readonly nodePaused: boolean
  readonly configMaps: ReadonlyMap<string, SimConfigMap>
}

export class SimCluster implements AssignmentSource {
  readonly #random: Random
  /** The one by which this cluster assigns. */
  readonly #channel: SwitchedChannel
  /** Of all ConfigMaps. */
  readonly #base: Base | undefined
  #key: (typeof KEYS)[number] = 'kubelet'
  #assigned: string | undefined
  #node: unknown = nodeWith({})
  #nodePaused = false
  readonly #configMaps = new Map<string, SimConfigMap>()
  #versions = 100
  #uids = 0
  #downUntilUs = 0
  #lossyUntilUs = 0
  #deliverAtUs: number | undefined
  #resyncAtUs = RESYNC_US
  /** Changes of the cluster so far, and up to the agent's copy. */
  #changes = 0
  #viewed = 0
  #view: View | undefined
  /** The assignment that the view means. */
  #desired: Desired | undefined

  constructor(random: Random, { channel, parts }: Pick<NodeKind, 'channel' | 'parts'>) {
    this.#random = random
    this.#channel = channel
    this.#base = parts ? { kind: 'local', text: 'local' } : undefined
  }

  desired(): Desired {
    this.#desired ??= this.#view === undefined ? { kind: 'unknown', detail: 'not asked yet' } : this.#resolve(this.#view)
    return this.#desired
  }

  /** The assignment that a client without delay would see: where the agent has to arrive. */
  truth(): Desired {
    return this.#resolve({ node: this.#node, selecting: this.#assigned, nodePaused: this.#nodePaused, configMaps: this.#configMaps })
  }

  start(): void {}
  async stop(): Promise<void> {}

  isUp(nowUs: number): boolean {
    return nowUs >= this.#downUntilUs
  }

  /** A new agent has no copy yet, and gets none while the server is down. */
  forget(nowUs: number): void {
    this.#view = undefined
    this.#desired = undefined
    this.#deliverAtUs = Math.max(nowUs, this.#downUntilUs) + this.#random.between(0, 2e6)
  }

  goDown(nowUs: number, seconds: number): void {
    this.#downUntilUs = nowUs + seconds * 1e6
    this.#deliverAtUs = this.#downUntilUs + this.#random.between(0, 60e6)
  }

  /** The agent learns all that it has missed. */
  comeBack(nowUs: number): void {
    this.#downUntilUs = nowUs
    this.#lossyUntilUs = nowUs
    this.#deliverAtUs = nowUs + this.#random.between(0, 3e6)
  }

  loseEvents(nowUs: number, seconds: number): void {
    this.#lossyUntilUs = nowUs + seconds * 1e6
  }

  assign(name: string | undefined, nowUs: number): void {
    this.#assigned = name
    this.#node = name === undefined ? nodeWith({}) : this.#nodeAssigned(name)
    this.#changed(nowUs)
  }

  #nodeAssigned(name: string): unknown {
    switch (this.#channel) {
      case 'config-source':
        return nodeWith({ configSource: { configMap: { name, namespace: 'kube-system', kubeletConfigKey: this.#key } } })
      case 'label':
        return nodeWith({ labels: { [CONFIG_LABEL]: name } })
      case 'annotation':
        return nodeWith({ annotations: { [CONFIG_SOURCE_ANNOTATION]: `kube-system/${name}:${this.#key}` } })
      case 'selector':
        return nodeWith({})
    }
  }

  /** Assigns the other key of the same ConfigMap. A label and a selector name no key. */
  switchKey(nowUs: number): void {
    this.#key = this.#key === 'kubelet' ? 'other' : 'kubelet'
    // Another wording of the file beside it would make another config.
    for (const [name, { data }] of this.#configMaps) {
      const isPlain = Object.values(data).every((text) => text === meaningOf(text))
      if (!isPlain) this.#revise(name, nowUs, { data: dataOf(meaningOf(data.kubelet ?? '')) })
    }
    if (this.#assigned !== undefined) this.assign(this.#assigned, nowUs)
  }

  assignNothingKnown(nowUs: number): void {
    this.#assigned = undefined
    this.#node = nodeWith({ configSource: {} })
    this.#changed(nowUs)
  }

  recreateNode(nowUs: number): void {
    this.#assigned = undefined
    this.#node = nodeWith({})
    this.#nodePaused = false
    this.#changed(nowUs)
  }

  edit(name: string, text: string, nowUs: number): void {
    this.#versions += 1
    const found = this.#configMaps.get(name)
    const uid = found?.uid ?? this.#newUid()
    this.#configMaps.set(name, { ...found, uid, resourceVersion: String(this.#versions), data: dataOf(text) })
    this.#changed(nowUs)
  }

  /** Sets or removes the annotation. On a ConfigMap, that makes another version. */
  pause(on: 'Node' | 'ConfigMap', name: string, paused: boolean, nowUs: number): void {
    if (on === 'Node') this.#nodePaused = paused
    if (on === 'ConfigMap' && this.#configMaps.has(name)) this.#revise(name, nowUs, { paused })
    else this.#changed(nowUs)
  }

  touchMetadata(name: string, nowUs: number): void {
    this.#revise(name, nowUs)
  }

  /** The same config in other bytes. */
  reword(name: string, nowUs: number): void {
    const { data = {} } = this.#configMaps.get(name) ?? {}
    // Of other files the bytes count: a config may refer to them.
    const key = this.#channel === 'label' || this.#channel === 'selector' ? 'kubelet' : this.#key
    this.#revise(name, nowUs, { data: { ...data, [key]: withWording(data[key] ?? '', this.#versions + 1) } })
  }

  /** Another version of a ConfigMap that exists. */
  #revise(name: string, nowUs: number, change: Partial<SimConfigMap> = {}): void {
    const found = this.#configMaps.get(name)
    if (found === undefined) return
    this.#versions += 1
    this.#configMaps.set(name, { ...found, resourceVersion: String(this.#versions), ...change })
    this.#changed(nowUs)
  }

  /** The same UID and resourceVersion, with other content. */
  restoreEtcd(name: string, text: string, nowUs: number): void {
    const found = this.#configMaps.get(name)
    if (found === undefined) return
    this.#configMaps.set(name, { ...found, data: dataOf(text) })
    this.#changed(nowUs)
  }

  delete(name: string, nowUs: number): void {
    this.#configMaps.delete(name)
    this.#changed(nowUs)
  }

  /** When the agent's copy is refreshed next. */
  nextUs(): number {
    return Math.min(this.#deliverAtUs ?? Number.POSITIVE_INFINITY, Math.max(this.#resyncAtUs, this.#downUntilUs))
  }

  /** @returns whether the agent's copy has changed */
  advanceTo(nowUs: number): boolean {
    if (nowUs < this.nextUs() || !this.isUp(nowUs)) return false
    this.#deliverAtUs = undefined
    this.#resyncAtUs = nowUs + RESYNC_US
    if (this.#view !== undefined && this.#viewed === this.#changes) return false
    this.#viewed = this.#changes
    this.#desired = undefined
    this.#view = { node: this.#node, selecting: this.#assigned, nodePaused: this.#nodePaused, configMaps: new Map(this.#configMaps) }
    return true
  }

  /** After a reboot the clock starts anew. */
  rebase(nowUs: number): void {
    this.#downUntilUs = 0
    this.#lossyUntilUs = 0
    this.#resyncAtUs = nowUs + RESYNC_US
    this.forget(nowUs)
  }

  #changed(nowUs: number): void {
    this.#changes += 1
    if (nowUs < this.#lossyUntilUs) return
    const delayUs = this.#random.between(0, 3e6)
    this.#deliverAtUs = Math.max(nowUs, this.#downUntilUs) + delayUs
  }

  #resolve(view: View): Desired {
    const members = [...view.configMaps.keys()].map((name) => {
      return { name, selector: name === view.selecting ? '' : undefined, priority: undefined, problem: undefined }
    })
    const settings = { ...CONFIG_SOURCE_ONLY, channels: ['config-source', this.#channel] as const }
    const resolution = resolveChannels(view.node, settings, { kind: 'known', members })
    const found = resolution.kind === 'config-map' ? view.configMaps.get(resolution.ref.name) : undefined
    const object: ConfigMapView =
      found === undefined
        ? { kind: 'unavailable', reason: 'not-found', detail: 'not found' }
        : { kind: 'found', ...found, ...(this.#base && { base: this.#base }) }
    const pausing = view.nodePaused ? 'Node' : found?.paused === true ? 'ConfigMap' : undefined
    return toDesired(resolution, {
      object,
      paused: pausing && { on: pausing, by: `the ${pausing}` },
      node: readNodeFacts(view.node, settings),
    })
  }

  #newUid(): string {
    this.#uids += 1
    return `00000000-0000-4000-8000-${String(this.#uids).padStart(12, '0')}`
  }
}

function nodeWith({ configSource, labels = {}, annotations = {} }: NodeFields): unknown {
  return { metadata: { name: 'node-1', labels, annotations }, spec: configSource === undefined ? {} : { configSource } }
}

interface NodeFields {
  readonly configSource?: object
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Two keys with different texts that behave alike. */
function dataOf(text: string): Readonly<Record<string, string>> {
  return { kubelet: text, other: `${text}\n# another key\n` } satisfies Record<(typeof KEYS)[number], string>
}

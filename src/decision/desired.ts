// SPDX-License-Identifier: Apache-2.0
/**
 * The assignment that the cluster wants of this node, and the channel that it came by. Unknown is a
 * value of its own here, and is never taken for local. Pure.
 */

import type { ConfigMapData, ConfigMapRef, ConfigMapSource, ConfigSource } from '../subject/config-source.ts'
import { isFlag, isText, listOf, oneOf, optional, orUndefined, shape, type TypeOf } from '../values/json-shape.ts'

/**
 * The assigned ConfigMap, as far as it is known. `pending`: it has not been requested yet, which is
 * not an error.
 */
export type ConfigMapView =
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'found'
      readonly uid: string
      readonly resourceVersion: string
      readonly data: ConfigMapData
      /** undefined: `data` holds a whole config. */
      readonly base?: Base | undefined
      /** undefined: `base` names no ConfigMap. */
      readonly bases?: Bases | undefined
      /** ConfigMaps that are laid over it, in this order. undefined: none. */
      readonly layers?: readonly BaseView[] | undefined
      /** Names of what was merged into `rendered`, the lowest first; no files of the overlay. */
      readonly mergedFrom?: readonly string[] | undefined
      /**
       * Since when the facts that the Node shows have made this of the texts. CLOCK_MONOTONIC, of
       * this boot. undefined: no value of `rendered` is computed from them.
       */
      readonly factsSinceUs?: number | undefined
      /** Which fields of `rendered` do not come from the lowest. undefined: nothing is merged. */
      readonly fields?: readonly LayeredField[] | undefined
      /** Which of them were computed from what the Node shows. undefined: none. */
      readonly computed?: readonly ComputedField[] | undefined
      /** The data that kubelet gets in place of `data`: this node makes it by merging. */
      readonly rendered?: Rendered | undefined
      /** undefined: no annotation says anything about a rollout. */
      readonly rollout?: RolloutAnnotations | undefined
    }
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason; readonly detail: string }

/** A field that a layer above the lowest sets or removes. */
const isLayeredField = shape({
  path: listOf(isText),
  /** The name of the layer, for people. */
  layer: isText,
  removed: optional(isFlag),
})
export type LayeredField = TypeOf<typeof isLayeredField>

/** A field that was computed: its value as JSON, perhaps cut, and the text that computes it. */
const isComputedField = shape({ field: isText, value: isText, layer: isText })
export type ComputedField = TypeOf<typeof isComputedField>

export type FoundConfigMap = Extract<ConfigMapView, { kind: 'found' }>

/** The annotations of a ConfigMap about its way to the nodes, as they are written there. */
export interface RolloutAnnotations {
  /** The name of the record, or `off`. undefined: there is only a plan. */
  readonly record: string | undefined
  readonly plan: string | undefined
  /** The nodes that take no part. */
  readonly excluded?: string | undefined
}

/** The base that a part is merged over, by its annotation. `text`: as it is written there. */
export type Base =
  | { readonly kind: 'local'; readonly text: string }
  /** `kubeletConfigKey` undefined: the key of the part. */
  | { readonly kind: 'config-map'; readonly text: string; readonly ref: BaseRef }
  | { readonly kind: 'invalid'; readonly text: string; readonly detail: string }

type BaseRef = Omit<ConfigMapRef, 'kubeletConfigKey'> & { readonly kubeletConfigKey: string | undefined }

/** The ConfigMaps under a part, as far as they were read. */
export interface Bases {
  /** The nearest comes first. */
  readonly views: readonly BaseView[]
  /** Why they cannot be followed any further: a text that may be published. */
  readonly problem: string | undefined
}

/** One ConfigMap that is merged with the assigned one. */
export interface BaseView {
  readonly ref: ConfigMapRef
  readonly object: ConfigMapView
}

/** The facts about the Node that a rollout needs. */
export interface NodeTraits {
  readonly uid: string
  readonly canary: boolean
  readonly controlPlane: boolean
  /** All its labels: the plan of the rollout says which of them names its zone. */
  readonly labels?: Readonly<Record<string, string>>
  /** `metadata.creationTimestamp`, in ms. undefined: not known. */
  readonly createdMs?: number | undefined
}

export interface Rendered {
  /** See `ConfigMapSource.overlay`. */
  readonly overlay: string
  readonly data: ConfigMapData
}

/** `unauthenticated`: the API server does not take the agent for anybody (401). */
export type UnavailableReason = 'not-found' | 'forbidden' | 'unauthenticated' | 'unreachable' | 'malformed'

/** Why something that was asked for did not come. */
export type ReadFailure = Extract<UnavailableReason, 'forbidden' | 'unauthenticated' | 'unreachable'>

/**
 * The same of an object that is watched. `kubeconfig`: it cannot even be asked for. `too-long`: the
 * API server answers with more than the agent reads.
 */
export type WatchFailure = ReadFailure | 'kubeconfig' | 'too-long'

/**
 * How the cluster assigns a config. The first channel that says anything decides: see
 * `source/channels/`.
 */
const isChannel = oneOf('config-source', 'label', 'annotation', 'selector', 'default')
export type Channel = TypeOf<typeof isChannel>

/**
 * `by`: for messages. `configMap`: the same of a pause of the ConfigMap, where the Node is paused
 * as well.
 */
const isClusterPause = shape({ on: oneOf('Node', 'ConfigMap'), by: isText, configMap: optional(isText) })
export type ClusterPause = TypeOf<typeof isClusterPause>

/** Which channel assigns, and what else the cluster says about this node. */
export const isChannelState = shape({
  /** undefined: no channel assigns anything, so the node is local. */
  channel: orUndefined(isChannel),
  /** undefined: the cluster does not pause this node. */
  paused: orUndefined(isClusterPause),
  /** Why the channel's value is not an assignment. undefined: it is one, or the node is local. */
  problem: orUndefined(isText),
  /**
   * Of what the Node itself says: see `hashNode`. undefined: not known, or not
   * recorded by an earlier agent.
   */
  nodeHash: optional(isText),
  /**
   * The layers of the part that was assigned last. undefined: none was, or an earlier agent
   * recorded this.
   */
  layers: optional(listOf(isText)),
  /** The fields of the config that was assigned last, with its overlay: as `layers`. */
  fields: optional(listOf(isLayeredField)),
  /** The computed ones of it: as `layers`. */
  computed: optional(listOf(isComputedField)),
})
export type ChannelState = TypeOf<typeof isChannelState>

/**
 * An object that decides can no longer be read. The version that was read before stands.
 * CLOCK_MONOTONIC, of this boot.
 */
export interface Stale {
  readonly what: 'Node' | 'ConfigMap' | 'base' | 'fleet'
  readonly reason: WatchFailure
  readonly sinceUs: number
}

/**
 * Why nothing has been read. The `detail` beside it may name files and addresses of the node, so it
 * is not published.
 */
export type Silence = 'missing' | WatchFailure

/**
 * The assignment of the cluster, or of the directory of manifests, for this node. `unknown` never
 * means local.
 *
 * `channelState`: absent while the Node has not been seen. `stale`: absent while every object that
 * decides can be read; no decision rests on it.
 */
export type Desired =
  | { readonly kind: 'unknown'; readonly detail: string; readonly silence?: Silence; readonly channelState?: ChannelState }
  | { readonly kind: 'local'; readonly channelState?: ChannelState; readonly stale?: Stale }
  | InvalidDesired
  | {
      readonly kind: 'config-map'
      readonly ref: ConfigMapRef
      readonly object: ConfigMapView
      /** undefined: not known, or the ConfigMap has no rollout. */
      readonly node?: NodeTraits
      readonly channelState?: ChannelState
      readonly stale?: Stale
    }

/** `cause`: what is wrong, with file and line, where `detail` does not say it. */
interface InvalidDesired {
  readonly kind: 'invalid'
  readonly detail: string
  readonly cause?: string
  readonly channelState?: ChannelState
  /** The ConfigMap is known nevertheless, so `channelState` includes any pause on it. */
  readonly isSeen?: boolean
}

/** undefined: unknown, or there is no object whose version could be named. */
export function resolveDesired(desired: Desired): ConfigSource | undefined {
  if (desired.kind === 'local') return 'local'
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  return sourceOf(desired.ref, desired.object)
}

export function sourceOf(ref: ConfigMapRef, { uid, resourceVersion, rendered }: FoundConfigMap): ConfigMapSource {
  const { namespace, name, kubeletConfigKey } = ref
  return { namespace, name, kubeletConfigKey, uid, resourceVersion, ...(rendered && { overlay: rendered.overlay }) }
}

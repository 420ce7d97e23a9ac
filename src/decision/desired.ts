/**
 * The words for what a cluster wants of a node, and by which way it said so. Data only. What is not known is a value of its own here: it is never taken
 * for local.
 */
import type { ConfigMapData, ConfigMapRef, ConfigMapSource, ConfigSource } from './config-source.ts'

/** What is known of the assigned ConfigMap object. `pending`: not asked yet; it is no error. */
export type ConfigMapView =
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'found'
      readonly uid: string
      readonly resourceVersion: string
      readonly data: ConfigMapData
      /** What kubelet gets in place of `data` where this node has an overlay. */
      readonly rendered?: Rendered | undefined
    }
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason; readonly detail: string }

export type FoundConfigMap = Extract<ConfigMapView, { kind: 'found' }>

export interface Rendered {
  /** See `ConfigMapSource.overlay`. */
  readonly overlay: string
  readonly data: ConfigMapData
}

export type UnavailableReason = 'not-found' | 'forbidden' | 'unreachable' | 'malformed'

/** How the cluster says what it wants. The first of these that says anything decides: see `source/channels/`. */
export type Channel = 'config-source' | 'label' | 'annotation' | 'selector' | 'default'

/** `by`: for people. */
export interface ClusterPause {
  readonly on: 'Node' | 'ConfigMap'
  readonly by: string
}

/** How the cluster spoke, besides what it wants. */
export interface ChannelState {
  /** undefined: none, which is what makes a node local. */
  readonly channel: Channel | undefined
  /** undefined: nobody pauses this node from the cluster. */
  readonly paused: ClusterPause | undefined
  /** Why what was said is no assignment. undefined: it is one, or it is local. */
  readonly problem: string | undefined
}

/** Something that decides cannot be read any more; what was heard of it before stands. CLOCK_MONOTONIC, of this boot. */
export interface Stale {
  readonly what: 'Node' | 'ConfigMap' | 'fleet'
  readonly reason: 'forbidden' | 'unreachable'
  readonly sinceUs: number
}

/** Why nothing has been heard: `detail` may name files and addresses of the node, which are nobody else's business. */
export type Silence = 'missing' | 'forbidden' | 'unreachable' | 'kubeconfig'

/**
 * What the cluster (or the directory of manifests) wants of this node. `unknown` never means local. `channelState`: absent where the Node has not
 * been seen. `stale`: absent while all that decides can be read; no decision rests on it.
 */
export type Desired =
  | { readonly kind: 'unknown'; readonly detail: string; readonly silence?: Silence; readonly channelState?: ChannelState }
  | { readonly kind: 'local'; readonly channelState?: ChannelState; readonly stale?: Stale }
  /** `isSeen`: its ConfigMap is known all the same, so that `channelState` has all that is to be heard of a pause. */
  | { readonly kind: 'invalid'; readonly detail: string; readonly channelState?: ChannelState; readonly isSeen?: boolean }
  | {
      readonly kind: 'config-map'
      readonly ref: ConfigMapRef
      readonly object: ConfigMapView
      readonly channelState?: ChannelState
      readonly stale?: Stale
    }

/** undefined: the cluster has not said, or what it said has no version to name. */
export function resolveDesired(desired: Desired): ConfigSource | undefined {
  if (desired.kind === 'local') return 'local'
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  return sourceOf(desired.ref, desired.object)
}

export function sourceOf(ref: ConfigMapRef, { uid, resourceVersion, rendered }: FoundConfigMap): ConfigMapSource {
  return { ...ref, uid, resourceVersion, ...(rendered && { overlay: rendered.overlay }) }
}

/**
 * Combines the resolved channel, the ConfigMap and any pause into what is desired of the node.
 * Pure.
 */
import type { ClusterPause, ConfigMapView, Desired, NodeTraits, Stale } from '../../decision/desired.ts'
import { hashNode } from './node-hash.ts'
import type { ChannelResolution, ChannelSettings } from './resolve.ts'
import { readTraits } from './rollout-annotations.ts'

export interface DesiredFacts {
  /** The assigned ConfigMap. */
  readonly object: ConfigMapView
  /** From the Node, or else from that ConfigMap. */
  readonly paused: ClusterPause | undefined
  readonly stale?: Stale | undefined
  readonly node: NodeFacts
}

/** What an assignment needs of the Node, besides its channels. */
export interface NodeFacts {
  /** See `ChannelState`. */
  readonly hash: string
  readonly traits: NodeTraits
}

export function readNodeFacts(node: unknown, settings: Pick<ChannelSettings, 'channels'>): NodeFacts {
  return { hash: hashNode(node, settings), traits: readTraits(node) }
}

export function toDesired(resolution: ChannelResolution, { object, paused, stale, node }: DesiredFacts): Desired {
  const nodeHash = node.hash
  const staleness = stale === undefined ? {} : { stale }
  switch (resolution.kind) {
    case 'local':
      return { kind: 'local', channelState: { channel: undefined, paused, problem: undefined, nodeHash }, ...staleness }
    case 'pending': {
      const { detail = 'the ConfigMaps with node selectors have not been listed yet' } = resolution
      return { kind: 'unknown', detail, channelState: { channel: resolution.channel, paused, problem: undefined, nodeHash } }
    }
    case 'invalid': {
      const { channel, detail } = resolution
      return { kind: 'invalid', detail, channelState: { channel, paused, problem: detail, nodeHash } }
    }
    case 'config-map': {
      const { channel, ref } = resolution
      const hasRollout = object.kind === 'found' && object.rollout !== undefined
      return {
        kind: 'config-map',
        ref,
        object,
        ...(hasRollout && { node: node.traits }),
        channelState: { channel, paused, problem: undefined, nodeHash },
        ...staleness,
      }
    }
  }
}

/**
 * Combines the resolved channel, the ConfigMap and any pause into what is desired of the node.
 * Pure.
 */
import type { ClusterPause, ConfigMapView, Desired, Stale } from '../../decision/desired.ts'
import type { ChannelResolution } from './resolve.ts'

export interface DesiredFacts {
  /** The assigned ConfigMap. */
  readonly object: ConfigMapView
  /** From the Node, or else from that ConfigMap. */
  readonly paused: ClusterPause | undefined
  readonly stale?: Stale | undefined
  /** See `ChannelState`. */
  readonly nodeHash: string
}

export function toDesired(resolution: ChannelResolution, { object, paused, stale, nodeHash }: DesiredFacts): Desired {
  const staleness = stale === undefined ? {} : { stale }
  switch (resolution.kind) {
    case 'local':
      return { kind: 'local', channelState: { channel: undefined, paused, problem: undefined, nodeHash }, ...staleness }
    case 'pending': {
      const detail = 'the ConfigMaps with node selectors have not been listed yet'
      return { kind: 'unknown', detail, channelState: { channel: resolution.channel, paused, problem: undefined, nodeHash } }
    }
    case 'invalid': {
      const { channel, detail } = resolution
      return { kind: 'invalid', detail, channelState: { channel, paused, problem: detail, nodeHash } }
    }
    case 'config-map': {
      const { channel, ref } = resolution
      return { kind: 'config-map', ref, object, channelState: { channel, paused, problem: undefined, nodeHash }, ...staleness }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Combines the resolved channel, the ConfigMap and any pause into what is desired of the node.
 * Pure.
 */

import { createHash } from 'node:crypto'
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION } from '../../decision/channels.ts'
import type { ClusterPause, ConfigMapView, Desired, NodeTraits, Stale } from '../../decision/desired.ts'
import { readAssignment } from './config-source-field.ts'
import { metadataOf, readTraits } from './metadata.ts'
import type { ChannelResolution, ChannelSettings } from './resolve.ts'

interface DesiredFacts {
  /** The assigned ConfigMap. */
  readonly object: ConfigMapView
  /** From the Node, or else from that ConfigMap. */
  readonly paused: ClusterPause | undefined
  readonly stale?: Stale | undefined
  readonly node: NodeFacts
}

/** The facts about the Node that an assignment needs, besides its channels. */
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

/**
 * A hash of everything by which the Node itself takes part in its assignment. Where it stayed the
 * same and the assignment changed, the change comes from something that nodes share: a ConfigMap, a
 * selector, the default.
 */
export function hashNode(node: unknown, { channels }: Pick<ChannelSettings, 'channels'>): string {
  const { labels = {}, annotations = {} } = metadataOf(node) ?? {}
  const said = {
    configSource: channels.includes('config-source') ? readAssignment(node) : undefined,
    label: channels.includes('label') ? labels[CONFIG_LABEL] : undefined,
    annotation: channels.includes('annotation') ? annotations[CONFIG_SOURCE_ANNOTATION] : undefined,
    // All labels count: a change of the ConfigMaps may make a selector look at any of them.
    labels: channels.includes('selector') ? Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)) : undefined,
  }
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, LENGTH)
}

const LENGTH = 16

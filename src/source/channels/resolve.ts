// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the channel that assigns a config to a Node, and that config: channels are read in order,
 * and the first that is set wins. If it is malformed or not known yet, later channels are not read,
 * since a typing error must not give a node another config. A Node is local only if no channel is
 * set. Pure; used for the cluster and for manifests.
 */

import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, FLEET_LABEL, SWITCHED_CHANNELS, type SwitchedChannel } from '../../decision/channels.ts'
import type { Channel, ReadFailure } from '../../decision/desired.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'
import { isObject } from '../../values/is-object.ts'
import { isObjectName, quote } from '../../values/kubernetes-names.ts'
import { type Assignment, readAssignment, readSourceAnnotation } from './config-source-field.ts'
import { chooseFromFleet, type FleetMember } from './fleet.ts'
import { type Metadata, metadataOf } from './metadata.ts'

export interface ChannelSettings {
  /** The channels that are switched on. */
  readonly channels: readonly SwitchedChannel[]
  /** The namespace of ConfigMaps named by the label, and of the fleet. */
  readonly namespace: string
  /** The default key, for channels that name none. */
  readonly key: string
  /** undefined: not set. */
  readonly defaultConfigMap: ConfigMapRef | undefined
}

/** The only channel of upstream. */
export const CONFIG_SOURCE_ONLY: ChannelSettings = {
  channels: ['config-source'],
  namespace: 'kube-system',
  key: 'kubelet',
  defaultConfigMap: undefined,
}

/** The ConfigMaps that the selector channel chooses from. */
export type Fleet =
  /** Not requested, or not answered yet. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'known'; readonly members: readonly FleetMember[] }
  | { readonly kind: 'unreadable'; readonly reason?: ReadFailure; readonly detail: string }

export type ChannelResolution =
  | { readonly kind: 'local' }
  /** The fleet decides and is not known yet. `detail`: why, where it was asked for. */
  | { readonly kind: 'pending'; readonly channel: 'selector'; readonly detail?: string }
  /** `channel` undefined: the Node itself is malformed. */
  | { readonly kind: 'invalid'; readonly channel: Channel | undefined; readonly detail: string }
  /** `layers`: laid over it, in this order. Absent: none. */
  | { readonly kind: 'config-map'; readonly channel: Channel; readonly ref: ConfigMapRef; readonly layers?: readonly ConfigMapRef[] }

/** The detail appears in the status of the Node. */
const LONGEST_DETAIL = 200

/** undefined: the channel is not set. */
type ChannelReading =
  | (Exclude<Assignment, { kind: 'local' }> & { readonly layers?: readonly ConfigMapRef[] })
  | { readonly kind: 'pending'; readonly detail?: string }
  | undefined

export function resolveChannels(node: unknown, settings: ChannelSettings, fleet: Fleet): ChannelResolution {
  const metadata = metadataOf(node)
  if (metadata === undefined) {
    return { kind: 'invalid', channel: undefined, detail: 'labels or annotations of the Node are not maps of strings' }
  }
  for (const channel of SWITCHED_CHANNELS) {
    if (!settings.channels.includes(channel)) continue
    const reading = readChannel(channel, node, metadata, settings, fleet)
    if (reading === undefined) continue
    return reading.kind === 'pending' ? { ...reading, channel: 'selector' } : { ...reading, channel }
  }
  const { defaultConfigMap } = settings
  return defaultConfigMap === undefined ? { kind: 'local' } : { kind: 'config-map', channel: 'default', ref: defaultConfigMap }
}

/** Whether the fleet decides: it is listed and watched only then. */
export function needsFleet(node: unknown, settings: ChannelSettings): boolean {
  return resolveChannels(node, settings, { kind: 'pending' }).kind === 'pending'
}

function readChannel(channel: SwitchedChannel, node: unknown, metadata: Metadata, settings: ChannelSettings, fleet: Fleet): ChannelReading {
  switch (channel) {
    case 'config-source': {
      const assignment = readAssignment(isObject(node) ? node : {})
      return assignment.kind === 'local' ? undefined : assignment
    }
    case 'label': {
      const name = metadata.labels[CONFIG_LABEL]
      return name === undefined ? undefined : readLabel(name, settings)
    }
    case 'annotation': {
      const text = metadata.annotations[CONFIG_SOURCE_ANNOTATION]
      return text === undefined ? undefined : readSourceAnnotation(text, settings.key)
    }
    case 'selector':
      return readFleet(metadata, settings, fleet)
  }
}

function readLabel(name: string, { namespace, key }: ChannelSettings): ChannelReading {
  if (!isObjectName(name)) return { kind: 'invalid', detail: `label ${CONFIG_LABEL}: ${quote(name)} is not a valid name of a ConfigMap` }
  return { kind: 'config-map', ref: { namespace, name, kubeletConfigKey: key } }
}

function adviseOn(reason: ReadFailure | undefined): string {
  switch (reason) {
    case 'forbidden':
      return '; deploy/rbac/node-fleet-selector.yaml grants it'
    case 'unauthenticated':
      return '; the API server does not accept the identity of the kubeconfig'
    case 'unreachable':
    case undefined:
      return ''
  }
}

function readFleet({ labels }: Metadata, { namespace, key }: ChannelSettings, fleet: Fleet): ChannelReading {
  const what = `ConfigMaps labelled ${FLEET_LABEL}=true in ${namespace}`
  if (fleet.kind === 'pending') return fleet
  if (fleet.kind === 'unreadable') {
    const detail = `${what} cannot be listed: ${fleet.detail.slice(0, LONGEST_DETAIL)}${adviseOn(fleet.reason)}`
    // An API server that does not answer, or not to this agent at present, has said nothing about
    // the assignment.
    return { kind: fleet.reason === 'unreachable' || fleet.reason === 'unauthenticated' ? 'pending' : 'invalid', detail }
  }
  const choice = chooseFromFleet(fleet.members, labels)
  switch (choice.kind) {
    case 'none':
      return undefined
    case 'refused':
      return { kind: 'invalid', detail: `${what}: ${choice.detail}` }
    case 'chosen': {
      const refOf = (name: string): ConfigMapRef => ({ namespace, name, kubeletConfigKey: key })
      return { kind: 'config-map', ref: refOf(choice.name), ...(choice.layers && { layers: choice.layers.map(refOf) }) }
    }
  }
}

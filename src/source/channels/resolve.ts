/**
 * Which channel assigns a config to a Node, and which config that is: the first channel that says anything, in the order below. What it says may
 * be malformed, or not be known yet; then no later channel is asked, since a typing error must not hand a node to another config. Nothing but
 * silence on all channels means local. Pure; cluster and manifests are resolved by this one function.
 */

import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, FLEET_LABEL, SWITCHED_CHANNELS, type SwitchedChannel } from '../../decision/channels.ts'
import type { ConfigMapRef } from '../../decision/config-source.ts'
import type { Channel } from '../../decision/desired.ts'
import { isObject } from '../../values/is-object.ts'
import { isObjectName, quote } from '../../values/kubernetes-names.ts'
import { type Assignment, readAssignment } from '../config-source-field.ts'
import { readSourceAnnotation } from './annotation.ts'
import { chooseOfFleet, type FleetMember } from './fleet.ts'
import { type Metadata, metadataOf } from './metadata.ts'

export interface ChannelSettings {
  /** Those that are listened to. */
  readonly channels: readonly SwitchedChannel[]
  /** Of the ConfigMaps that the label names, and of the fleet. */
  readonly namespace: string
  /** Where a channel names no key. */
  readonly key: string
  /** undefined: there is none. */
  readonly defaultConfigMap: ConfigMapRef | undefined
}

/** Before there were others. */
export const CONFIG_SOURCE_ONLY: ChannelSettings = {
  channels: ['config-source'],
  namespace: 'kube-system',
  key: 'kubelet',
  defaultConfigMap: undefined,
}

/** The ConfigMaps that the selector channel chooses from. */
export type Fleet =
  /** Not asked for, or not answered yet. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'known'; readonly members: readonly FleetMember[] }
  | { readonly kind: 'unreadable'; readonly detail: string }

export type ChannelResolution =
  | { readonly kind: 'local' }
  /** The fleet decides, and is not known yet. */
  | { readonly kind: 'pending'; readonly channel: 'selector' }
  /** `channel` undefined: the Node itself is malformed. */
  | { readonly kind: 'invalid'; readonly channel: Channel | undefined; readonly detail: string }
  | { readonly kind: 'config-map'; readonly channel: Channel; readonly ref: ConfigMapRef }

/** It ends up in the status of the Node. */
const LONGEST_DETAIL = 200

type Said = Exclude<Assignment, { kind: 'local' }> | { readonly kind: 'pending' } | undefined

export function resolveChannels(node: unknown, settings: ChannelSettings, fleet: Fleet): ChannelResolution {
  const metadata = metadataOf(node)
  if (metadata === undefined) {
    return { kind: 'invalid', channel: undefined, detail: 'labels or annotations of the Node are not text by key' }
  }
  for (const channel of SWITCHED_CHANNELS) {
    if (!settings.channels.includes(channel)) continue
    const said = ask(channel, node, metadata, settings, fleet)
    if (said !== undefined) return said.kind === 'pending' ? { kind: 'pending', channel: 'selector' } : { ...said, channel }
  }
  const { defaultConfigMap } = settings
  return defaultConfigMap === undefined ? { kind: 'local' } : { kind: 'config-map', channel: 'default', ref: defaultConfigMap }
}

/** Whether the fleet would decide: only then is it worth a request. */
export function needsFleet(node: unknown, settings: ChannelSettings): boolean {
  return resolveChannels(node, settings, { kind: 'pending' }).kind === 'pending'
}

function ask(channel: SwitchedChannel, node: unknown, metadata: Metadata, settings: ChannelSettings, fleet: Fleet): Said {
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

function readLabel(name: string, { namespace, key }: ChannelSettings): Said {
  if (!isObjectName(name)) return { kind: 'invalid', detail: `label ${CONFIG_LABEL}: ${quote(name)} is no name of a ConfigMap` }
  return { kind: 'config-map', ref: { namespace, name, kubeletConfigKey: key } }
}

function readFleet({ labels }: Metadata, { namespace, key }: ChannelSettings, fleet: Fleet): Said {
  const what = `ConfigMaps labelled ${FLEET_LABEL}=true in ${namespace}`
  if (fleet.kind === 'pending') return fleet
  if (fleet.kind === 'unreadable') return { kind: 'invalid', detail: `${what} cannot be listed: ${fleet.detail.slice(0, LONGEST_DETAIL)}` }
  const choice = chooseOfFleet(fleet.members, labels)
  switch (choice.kind) {
    case 'none':
      return undefined
    case 'refused':
      return { kind: 'invalid', detail: `${what}: ${choice.detail}` }
    case 'chosen':
      return { kind: 'config-map', ref: { namespace, name: choice.name, kubeletConfigKey: key } }
  }
}

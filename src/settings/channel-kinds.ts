/**
 * The kinds of values of the settings that say how the cluster may speak: which channels are listened to, and how ConfigMaps are named. Pure; the
 * rules of names are those of requests (`source/names.ts`).
 */

import { SWITCHED_CHANNELS, type SwitchedChannel } from '../decision/channels.ts'
import { readConfigMapName } from '../source/channels/config-map-name.ts'
import { isConfigMapKey, isNamespace } from '../values/kubernetes-names.ts'
import { nearest } from '../values/nearest.ts'
import { accept, type Kind, refuse } from './setting-kinds.ts'

/** A ConfigMap whose key may be left out. */
export interface NamedConfigMap {
  readonly namespace: string
  readonly name: string
  readonly key: string | undefined
}

/** Separated by commas. Their order means nothing: which goes first is not for settings to say. */
export const channelsKind: Kind<readonly SwitchedChannel[]> = {
  placeholder: '<channels>',
  parse(text) {
    const names = text.split(',').map((name) => name.trim())
    const channels = SWITCHED_CHANNELS.filter((channel) => names.includes(channel))
    const unknown = names.find((name) => !SWITCHED_CHANNELS.some((channel) => channel === name))
    if (unknown === undefined) return accept(channels)
    const suggestion = nearest(unknown, SWITCHED_CHANNELS)
    const hint = suggestion === undefined ? `give some of ${SWITCHED_CHANNELS.join(', ')}` : `the nearest known one is ${suggestion}`
    return refuse(`"${unknown}" is no channel; ${hint}`)
  },
  show: (channels) => channels.join(','),
}

export const namespaceKind: Kind<string> = {
  placeholder: '<name>',
  parse: (text) => (isNamespace(text) ? accept(text) : refuse(`"${text}" is no namespace: lower case letters, digits and - only`)),
  show: (value) => value,
}

export const configMapKeyKind: Kind<string> = {
  placeholder: '<key>',
  parse: (text) => (isConfigMapKey(text) ? accept(text) : refuse(`"${text}" is no key of a ConfigMap: letters, digits, -, _ and . only`)),
  show: (value) => value,
}

export const configMapKind: Kind<NamedConfigMap> = {
  placeholder: '<name>',
  parse(text) {
    const reading = readConfigMapName(text)
    if (!reading.ok) return refuse(reading.detail)
    const { namespace, name, key } = reading
    return accept({ namespace, name, key })
  },
  show: ({ namespace, name, key }) => `${namespace}/${name}${key === undefined ? '' : `:${key}`}`,
}

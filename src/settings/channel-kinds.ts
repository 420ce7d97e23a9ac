/**
 * The kinds of values for settings about channels: which channels may assign a config, and names of
 * namespaces, keys and ConfigMaps. Pure.
 */

import { SWITCHED_CHANNELS, type SwitchedChannel } from '../decision/channels.ts'
import { readConfigMapName } from '../source/channels/metadata.ts'
import { isConfigMapKey, isNamespace } from '../values/kubernetes-names.ts'
import { nearest } from '../values/nearest.ts'
import { accept, type Kind, refuse } from './setting-kinds.ts'

/** A ConfigMap, with or without a key. */
export interface NamedConfigMap {
  readonly namespace: string
  readonly name: string
  readonly key: string | undefined
}

/** Separated by commas, in any order: the order in which channels decide is fixed. */
export const channelsKind: Kind<readonly SwitchedChannel[]> = {
  placeholder: '<channels>',
  list: true,
  parse(text) {
    const names = text.split(',').map((name) => name.trim())
    const channels = SWITCHED_CHANNELS.filter((channel) => names.includes(channel))
    const unknown = names.find((name) => !SWITCHED_CHANNELS.some((channel) => channel === name))
    if (unknown === undefined) return accept(channels)
    const suggestion = nearest(unknown, SWITCHED_CHANNELS)
    const hint = suggestion === undefined ? `use any of ${SWITCHED_CHANNELS.join(', ')}` : `the nearest known one is ${suggestion}`
    return refuse(`"${unknown}" is not a channel; ${hint}`)
  },
  show: (channels) => channels.join(','),
}

export const namespaceKind: Kind<string> = {
  placeholder: '<name>',
  parse: (text) =>
    isNamespace(text) ? accept(text) : refuse(`"${text}" is not a valid name of a namespace: use only lower case letters, digits and -`),
  show: (value) => value,
}

export const configMapKeyKind: Kind<string> = {
  placeholder: '<key>',
  parse: (text) =>
    isConfigMapKey(text) ? accept(text) : refuse(`"${text}" is not a valid key of a ConfigMap: use only letters, digits, -, _ and .`),
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

// SPDX-License-Identifier: Apache-2.0
/**
 * The rows of the table of settings, and the kinds of their values: how each is parsed from text,
 * why text is refused, and how a value is shown. Flags, environment and config file all give text.
 * Pure: only the form of a path is checked.
 *
 * Rules: systemd.unit(5) for unit names; systemd.exec(5) for characters that an EnvironmentFile, or
 * the splitting of `$KUBELET_CONFIG_ARGS`, would change.
 */
import { posix } from 'node:path'
import { SWITCHED_CHANNELS, type SwitchedChannel } from '../decision/channels.ts'
import { GUARDS, type GuardName, isGuardName } from '../preflight/guards.ts'
import { checkPattern } from '../preflight/policy/patterns.ts'
import { PUBLICATIONS, type Publication } from '../report/publications.ts'
import { readConfigMapName } from '../source/channels/metadata.ts'
import { formatDuration, parseDuration } from '../values/durations.ts'
import { formatListenAddress, type ListenAddress, parseListenAddress } from '../values/go-syntax.ts'
import { isConfigMapKey, isNamespace, isObjectName } from '../values/kubernetes-names.ts'
import { nearest } from '../values/nearest.ts'

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly detail: string }

export interface Kind<T> {
  /**
   * For the help text: `<duration>`. undefined: a switch, which takes no value on the command line.
   */
  readonly placeholder: string | undefined
  readonly choices?: readonly string[]
  /** Empty text means "none". The other kinds refuse empty text. */
  readonly optional?: true
  /** In the config file, a YAML list may replace text with commas. */
  readonly list?: true
  /** In the config file, a mapping may replace `key=value` text with commas. */
  readonly map?: true
  parse(text: string): Parsed<T>
  /** Text that `parse` turns into the same value again. */
  show(value: T): string
}

export function durationKind(minUs: number, maxUs: number): Kind<number> {
  return {
    placeholder: '<duration>',
    parse(text) {
      const parsed = parseDuration(text)
      if (!parsed.ok) return refuse(parsed.detail)
      if (parsed.us < minUs || parsed.us > maxUs) {
        return refuse(`${text} is out of range: from ${formatDuration(minUs)} to ${formatDuration(maxUs)}`)
      }
      return accept(parsed.us)
    },
    show: formatDuration,
  }
}

export function countKind(min: number, max: number): Kind<number> {
  return {
    placeholder: '<number>',
    parse(text) {
      if (!/^\d{1,9}$/.test(text)) return refuse(`"${text}" is not a whole number`)
      const value = Number(text)
      return value < min || value > max ? refuse(`${text} is out of range: from ${min} to ${max}`) : accept(value)
    },
    show: String,
  }
}

export function choiceKind<T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    placeholder: '<choice>',
    choices,
    parse(text) {
      const value = choices.find((choice) => choice === text)
      return value === undefined ? refuse(`"${text}" is not one of ${choices.join(', ')}`) : accept(value)
    },
    show: (value) => value,
  }
}

export const switchKind: Kind<boolean> = {
  placeholder: undefined,
  parse: (text) => (text === 'true' || text === 'false' ? accept(text === 'true') : refuse(`"${text}" is neither true nor false`)),
  show: String,
}

export const pathKind: Kind<string> = {
  placeholder: '<path>',
  parse(text) {
    if (!text.startsWith('/')) return refuse(`"${text}" is not an absolute path: it must begin with /`)
    if (/\p{Cc}/u.test(text)) return refuse(`"${text}" contains a control character`)
    const normal = posix.normalize(text)
    return accept(normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal)
  },
  show: (value) => value,
}

/** A file that the node exporter's textfile collector reads. */
export const textfileKind: Kind<string> = {
  ...pathKind,
  parse(text) {
    const parsed = pathKind.parse(text)
    if (!parsed.ok || /[^/]\.prom$/.test(parsed.value)) return parsed
    return refuse(`"${text}" does not end in .prom, and the node exporter reads no other files: use a name like kubelet-cfg-agent.prom`)
  },
}

const LONGEST_PLAIN_PATH = 1000

/**
 * A path that is written to kubelet.env: it must not contain anything that systemd splits, unquotes
 * or expands.
 */
export const plainPathKind: Kind<string> = {
  ...pathKind,
  parse(text) {
    const parsed = pathKind.parse(text)
    const bad = /[^-._a-zA-Z0-9/@:+,]/.exec(text)
    if (!parsed.ok || (bad === null && parsed.value !== '/' && text.length <= LONGEST_PLAIN_PATH)) return parsed
    if (bad === null) return refuse(`"${text}" cannot be used: give a path below /, of at most ${LONGEST_PLAIN_PATH} characters`)
    return refuse(`"${text}" contains "${bad[0]}", which systemd may not pass to kubelet unchanged: use only letters, digits and /-._@:+,`)
  },
}

export const serviceKind: Kind<string> = {
  placeholder: '<unit>',
  parse(text) {
    if (!text.endsWith('.service')) return refuse(`"${text}" is not a service unit: the name must end in .service, as in kubelet.service`)
    const fine = /^[A-Za-z0-9:_.\\][A-Za-z0-9:_.\\@-]{0,240}\.service$/.test(text)
    return fine ? accept(text) : refuse(`"${text}" is not a valid name of a service unit`)
  },
  show: (value) => value,
}

export const nodeNameKind: Kind<string> = {
  placeholder: '<name>',
  parse(text) {
    return isObjectName(text) ? accept(text) : refuse(`"${text}" is not a valid node name: use only lower case letters, digits, - and .`)
  },
  show: (value) => value,
}

export const listenAddressKind: Kind<ListenAddress> = {
  placeholder: '<host:port>',
  parse(text) {
    const parsed = parseListenAddress(text)
    return parsed.ok ? accept(parsed.address) : refuse(parsed.detail)
  },
  show: formatListenAddress,
}

/** Fields and risk classes of kubelet's config, separated by commas. */
export const changePatternsKind: Kind<readonly string[]> = {
  placeholder: '<list>',
  optional: true,
  list: true,
  parse(text) {
    const patterns = text === '' ? [] : text.split(',').map((pattern) => pattern.trim())
    for (const pattern of patterns) {
      const check = checkPattern(pattern)
      if (!check.ok) return refuse(pattern === '' ? 'contains an empty item: remove the extra comma' : check.detail)
    }
    return accept(patterns)
  },
  show: (patterns) => patterns.join(','),
}

/** Names of guards, separated by commas. */
export const guardsKind: Kind<readonly GuardName[]> = {
  placeholder: '<list>',
  optional: true,
  list: true,
  parse(text) {
    const names = text === '' ? [] : text.split(',').map((name) => name.trim())
    const unknown = names.find((name) => !isGuardName(name))
    return unknown === undefined
      ? accept(names.filter(isGuardName))
      : refuse(`"${unknown}" is not one of ${Object.keys(GUARDS).join(', ')}`)
  },
  show: (names) => names.join(','),
}

/** Separated by commas, in any order. */
export const publicationsKind: Kind<readonly Publication[]> = {
  placeholder: '<list>',
  optional: true,
  list: true,
  parse(text) {
    const names = text === '' ? [] : text.split(',').map((name) => name.trim())
    const unknown = names.find((name) => !PUBLICATIONS.some((publication) => publication === name))
    if (unknown !== undefined) return refuse(`"${unknown}" is not one of ${PUBLICATIONS.join(', ')}`)
    return accept(PUBLICATIONS.filter((publication) => names.includes(publication)))
  },
  show: (publications) => publications.join(','),
}

/** Empty text means none. */
export function orNone<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    ...kind,
    optional: true,
    parse: (text) => (text === '' ? accept(undefined) : kind.parse(text)),
    show: (value) => (value === undefined ? '' : kind.show(value)),
  }
}

export function accept<T>(value: T): Parsed<T> {
  return { ok: true, value }
}

/** The detail quotes the refused text, whose control characters must not reach a terminal. */
export function refuse(detail: string): Parsed<never> {
  return { ok: false, detail: detail.replace(CONTROL_CHARACTERS, '?') }
}

const CONTROL_CHARACTERS = /\p{Cc}/gu

/** A row in the table of settings. */
interface Setting<T> {
  /** As in `trial-duration`. */
  readonly name: string
  readonly group: SettingGroup
  readonly kind: Kind<T>
  readonly initial: NoInfer<T>
  /** The default that the help text shows, if the default is not a value. */
  readonly initialNote?: string
  readonly help: string
  /** Which commands take it as a flag. Environment and config file apply to all of them. */
  readonly commands: 'all' | 'run'
  /** Whether a running agent applies a changed value on SIGHUP. */
  readonly changes: 'live' | 'restart'
}

/** One row for each field of T. */
export type SettingTable<T> = { readonly [P in keyof T]: Setting<T[P]> }

/** The type of the values follows from the rows. */
export function settingTable<T>(table: SettingTable<T>): SettingTable<T> {
  return table
}

/** Every setting of a table with its value as the agent uses it. */
export type ValuesOf<Table> = Table extends SettingTable<infer T> ? Readonly<T> : never

/**
 * The properties that the rows of a group share: which commands take a flag, and when a change
 * applies.
 */
export function rowsOf(group: SettingGroup) {
  return {
    ALL_COMMANDS: { group, commands: 'all', changes: 'restart' },
    RUN_ONLY: { group, commands: 'run', changes: 'restart' },
    RUN_ONLY_LIVE: { group, commands: 'run', changes: 'live' },
  } as const
}

/** In the order of help and documents. */
export const SETTING_GROUPS = ['Where assignments come from', 'On disk', 'Kubelet', 'Preflight', 'Trial and rollback', 'Reports'] as const

export type SettingGroup = (typeof SETTING_GROUPS)[number]

/** A ConfigMap, with or without a key. */
interface NamedConfigMap {
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

/**
 * The kinds of values a setting can have: how each is read from text, what is refused and in which words, and how it is shown again.
 * Text is the one form in which flags, environment and config file meet. Pure: paths are checked for their form, never looked up.
 *
 * Rules: unit names systemd.unit(5); what an EnvironmentFile and the splitting of `$KUBELET_CONFIG_ARGS` cannot carry systemd.exec(5);
 * node names the DNS subdomain of RFC 1123, as Kubernetes requires of object names.
 */
import { posix } from 'node:path'
import { checkPattern } from '../preflight/policy/patterns.ts'
import { PUBLICATIONS, type Publication } from '../report/publications.ts'
import { formatDuration, parseDuration } from '../values/durations.ts'
import { isObjectName } from '../values/kubernetes-names.ts'
import { formatListenAddress, type ListenAddress, parseListenAddress } from '../values/listen-address.ts'

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly detail: string }

export interface Kind<T> {
  /** For the help text: `<duration>`. undefined: a switch, which takes no value on the command line. */
  readonly placeholder: string | undefined
  readonly choices?: readonly string[]
  /** Empty text means "none". Other kinds refuse it. */
  readonly optional?: true
  /** The config file may have a YAML list in place of text with commas. */
  readonly list?: true
  parse(text: string): Parsed<T>
  /** The text that `parse` reads back to the same value. */
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
      if (!/^\d{1,9}$/.test(text)) return refuse(`"${text}" is no whole number`)
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
      return value === undefined ? refuse(`"${text}" is none of ${choices.join(', ')}`) : accept(value)
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
    if (!text.startsWith('/')) return refuse(`"${text}" is no absolute path: it has to begin with /`)
    if (/\p{Cc}/u.test(text)) return refuse(`"${text}" holds a control character`)
    const normal = posix.normalize(text)
    return accept(normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal)
  },
  show: (value) => value,
}

/** A path that ends up in kubelet.env, or beside it: systemd must have nothing to split, unquote or expand in it. */
export const plainPathKind: Kind<string> = {
  ...pathKind,
  parse(text) {
    const parsed = pathKind.parse(text)
    const bad = /[^-._a-zA-Z0-9/@:+,]/.exec(text)
    if (!parsed.ok || (bad === null && parsed.value !== '/' && text.length <= 1000)) return parsed
    if (bad === null) return refuse(`"${text}" is no place for it`)
    return refuse(`"${text}" holds "${bad[0]}", which systemd may not pass to kubelet unchanged: use letters, digits and /-._@:+, only`)
  },
}

export const serviceKind: Kind<string> = {
  placeholder: '<unit>',
  parse(text) {
    if (!text.endsWith('.service')) return refuse(`"${text}" is no service unit: its name ends in .service, as in kubelet.service`)
    const fine = /^[A-Za-z0-9:_.\\][A-Za-z0-9:_.\\@-]{0,240}\.service$/.test(text)
    return fine ? accept(text) : refuse(`"${text}" is no name of a service unit`)
  },
  show: (value) => value,
}

export const nodeNameKind: Kind<string> = {
  placeholder: '<name>',
  parse(text) {
    return isObjectName(text) ? accept(text) : refuse(`"${text}" is no node name: lower case letters, digits, - and . only`)
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

/** Fields and risk classes of kubelet's config, with commas between. */
export const changePatternsKind: Kind<readonly string[]> = {
  placeholder: '<list>',
  optional: true,
  list: true,
  parse(text) {
    const patterns = text === '' ? [] : text.split(',').map((pattern) => pattern.trim())
    for (const pattern of patterns) {
      const check = checkPattern(pattern)
      if (!check.ok) return refuse(pattern === '' ? 'has nothing between two commas, or at an end' : check.detail)
    }
    return accept(patterns)
  },
  show: (patterns) => patterns.join(','),
}

/** With commas between; their order means nothing. */
export const publicationsKind: Kind<readonly Publication[]> = {
  placeholder: '<list>',
  optional: true,
  list: true,
  parse(text) {
    const names = text === '' ? [] : text.split(',').map((name) => name.trim())
    const unknown = names.find((name) => !PUBLICATIONS.some((publication) => publication === name))
    if (unknown !== undefined) return refuse(`"${unknown}" is none of ${PUBLICATIONS.join(', ')}`)
    return accept(PUBLICATIONS.filter((publication) => names.includes(publication)))
  },
  show: (publications) => publications.join(','),
}

/** Empty text means none. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
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

/** What is refused is quoted, and its control characters must not reach a terminal. */
export function refuse(detail: string): Parsed<never> {
  return { ok: false, detail: detail.replace(CONTROL_CHARACTERS, '?') }
}

const CONTROL_CHARACTERS = /\p{Cc}/gu

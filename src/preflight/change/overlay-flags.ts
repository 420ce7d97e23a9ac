/**
 * A config with kubelet's flags on top, as kubelet itself lays them: flags win, maps and lists are replaced whole, feature gates are merged one by one. Pure.
 * Rules: `kubeletConfigFlagPrecedence`, cmd/kubelet/app/server.go; the syntax of each kind is that of k8s.io/component-base/cli/flag. A flag whose syntax is
 * a language of its own (taints, reserved memory, headers, vmodule) or that cannot be read leaves its field unknown.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldType } from '../../kubelet/field.ts'
import { isObject } from '../../values/is-object.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { isKnownIn } from './effective.ts'
import { ROWS } from './field-rows.ts'
import type { KubeletFlags } from './kubelet-flags.ts'

export interface Overlaid {
  readonly config: KubeletConfig
  /** Names of rows that a flag sets to something nobody here can tell; they are left out of the config. */
  readonly unknown: ReadonlySet<string>
}

export function overlayFlags(config: KubeletConfig, flags: KubeletFlags, version: KubeletVersion | undefined): Overlaid {
  const unknown = new Set<string>()
  let overlaid = config
  for (const [name, row] of ROWS) {
    const given = row.flag === undefined || !isKnownIn(row, version) ? undefined : flags.get(row.flag)
    if (given === undefined || row.flag === undefined) continue
    const value = readFlag(row.flag, given, row.type)
    if (value === undefined) unknown.add(name)
    overlaid = place(overlaid, name.split('.'), name === 'featureGates' ? mergeGates(config[name], value) : value)
  }
  return { config: overlaid, unknown }
}

/** undefined: nobody here can tell. */
function readFlag(flag: string, given: readonly string[], type: FieldType): unknown {
  const last = given.at(-1) ?? ''
  switch (type) {
    case 'string':
    case 'duration':
    case 'nullable-duration':
    case 'nanoseconds':
    case 'quantity':
      return last
    case 'boolean':
      return readBoolean(last)
    case 'int32':
    case 'int64':
    case 'uint32':
      return /^[+-]?\d{1,15}$/.test(last) ? Number(last) : undefined
    case 'strings':
      return given.flatMap((one) => (one === '' ? [] : one.split(',')))
    case 'string-map':
      return readPairs(given, flag === 'eviction-hard' || flag === 'eviction-soft' ? '<' : '=')
    case 'boolean-map':
      return readGates(given)
    case 'number':
    case 'quantity-map':
    case 'time':
    case 'object':
    case 'objects':
    case 'int32s':
    case 'strings-map':
      return undefined
  }
}

/** `strconv.ParseBool`. */
function readBoolean(text: string): boolean | undefined {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text) ? false : undefined
}

function readPairs(given: readonly string[], between: string): Readonly<Record<string, string>> | undefined {
  const pairs = given
    .flatMap((one) => one.split(','))
    .filter((one) => one !== '')
    .map((one) => [one.slice(0, one.indexOf(between)).trim(), one.slice(one.indexOf(between) + 1).trim(), one.includes(between)] as const)
  return pairs.every(([, , whole]) => whole) ? Object.fromEntries(pairs.map(([key, value]) => [key, value])) : undefined
}

function readGates(given: readonly string[]): Readonly<Record<string, boolean>> | undefined {
  const gates = Object.entries(readPairs(given, '=') ?? { '': '' }).map(([name, text]) => [name, readBoolean(text)] as const)
  return gates.every(([, on]) => on !== undefined) ? Object.fromEntries(gates.map(([name, on]) => [name, on === true])) : undefined
}

function mergeGates(configured: unknown, flagged: unknown): unknown {
  return isObject(flagged) ? { ...(isObject(configured) ? configured : {}), ...flagged } : undefined
}

function place(config: KubeletConfig, [step, ...rest]: readonly string[], value: unknown): KubeletConfig {
  if (step === undefined) return config
  const inner = config[step]
  return { ...config, [step]: rest.length === 0 ? value : place(isObject(inner) ? inner : {}, rest, value) }
}

/**
 * Applies kubelet's flags to a config as kubelet does: flags override fields, replace maps and
 * lists as a whole, and merge feature gates one by one. Pure. Rules: `kubeletConfigFlagPrecedence`,
 * cmd/kubelet/app/server.go; syntax of the values as in k8s.io/component-base/cli/flag. A flag with
 * its own language (taints, reserved memory, headers, vmodule), or with a wrong value, makes its
 * field unknown.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldType } from '../../kubelet/field.ts'
import { parseGoBool } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { isKnownIn } from './effective.ts'
import { ROWS } from './field-rows.ts'
import type { KubeletFlags } from './kubelet-flags.ts'

export interface Overlaid {
  readonly config: KubeletConfig
  /**
   * Names of rows whose flag has a value that cannot be parsed here. The config lacks these fields.
   */
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

/** undefined: cannot be parsed here. */
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
      return parseGoBool(last)
    case 'int32':
    case 'int64':
    case 'uint32':
      return /^[+-]?\d{1,15}$/.test(last) ? Number(last) : undefined
    case 'strings':
      return given.flatMap((list) => (list === '' ? [] : list.split(',')))
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

function readPairs(given: readonly string[], between: string): Readonly<Record<string, string>> | undefined {
  const pairs = given.flatMap((list) => list.split(',')).filter((pair) => pair !== '')
  if (!pairs.every((pair) => pair.includes(between))) return undefined
  const split = (pair: string, at: number) => [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  return Object.fromEntries(pairs.map((pair) => split(pair, pair.indexOf(between))))
}

function readGates(given: readonly string[]): Readonly<Record<string, boolean>> | undefined {
  const gates = Object.entries(readPairs(given, '=') ?? { '': '' }).map(([name, text]) => [name, parseGoBool(text)] as const)
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

// SPDX-License-Identifier: Apache-2.0
/**
 * The effective changes between two configs for a given kubelet version. Pure. Compares with
 * defaults filled in, durations and quantities by meaning, maps key by key, lists as a whole.
 * Fields that the version does not know are compared too, and marked as without effect; those that
 * only a newer kubelet than the tables' may know, as of unknown risk. Values that could be secrets
 * are replaced: headers of staticPodURL, credentials in it, and values of unknown fields.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { listParents } from '../../kubelet/fields.ts'
import { parseQuantity } from '../../kubelet/quantity.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import { isNewer, type KubeletVersion } from '../kubelet-version.ts'
import { type Change, HIDDEN, type Side } from './change.ts'
import { type Effective, effectiveConfig, isKnownIn } from './effective.ts'
import { type FieldRow, ROWS } from './field-rows.ts'

/** In the order of the table of fields; changes without effect come last. */
export function compareConfigs(before: KubeletConfig, after: KubeletConfig, version: KubeletVersion | undefined): Change[] {
  const [left, right] = [effectiveConfig(before, version), effectiveConfig(after, version)]
  const known = [...ROWS].flatMap(([name, row]) => compareField(name.split('.'), row, left.get(name), right.get(name)))
  return [...known, ...compareUnknown(before, after, version)]
}

export function compareField(path: FieldPath, row: FieldRow, before: Effective | undefined, after: Effective | undefined): Change[] {
  if (!isMap(before) || !isMap(after) || (before === undefined && after === undefined)) {
    return isSameValue(before?.value, after?.value, row.measure)
      ? []
      : [{ path, before: toSide(path, before), after: toSide(path, after), risk: row.risk }]
  }
  const keys = new Set([...keysOf(before), ...keysOf(after)])
  return [...keys].flatMap((key) => {
    const [left, right] = [entryOf(before, key, row), entryOf(after, key, row)]
    if (isSameValue(left?.value, right?.value, row.measure)) return []
    const place = [...path, key]
    return [{ path: place, before: toSide(place, left), after: toSide(place, right), risk: row.risk }]
  })
}

/**
 * The config without what is a mere default of this kubelet: it means the same.
 *
 * @param complete adds what comes from elsewhere where the config leaves it out
 */
export function withoutDefaults(
  config: KubeletConfig,
  version: KubeletVersion,
  complete = (own: KubeletConfig): KubeletConfig => own,
): KubeletConfig {
  return [...ROWS.keys()].reduce((kept, name) => {
    const less = without(kept, name.split('.'))
    return less === undefined || compareConfigs(complete(kept), complete(less), version).length > 0 ? kept : less
  }, config)
}

/** An object that this leaves empty goes too. undefined: the field is not there. */
function without(config: KubeletConfig, [step = '', ...rest]: readonly string[]): KubeletConfig | undefined {
  if (!Object.hasOwn(config, step)) return undefined
  const { [step]: inner, ...others } = config
  if (rest.length === 0) return others
  const less = isObject(inner) ? without(inner, rest) : undefined
  if (less === undefined) return undefined
  return Object.keys(less).length === 0 ? others : { ...config, [step]: less }
}

/** A side that is not set counts as an empty map, so that its keys are compared one by one. */
function isMap(side: Effective | undefined): boolean {
  return side === undefined || isObject(side.value)
}

function keysOf(side: Effective | undefined): string[] {
  return isObject(side?.value) ? Object.keys(side.value) : []
}

function entryOf(side: Effective | undefined, key: string, { type }: FieldRow): Effective | undefined {
  if (side === undefined || !isObject(side.value) || !Object.hasOwn(side.value, key)) return undefined
  // In a Go map null means an empty string, or false.
  return { value: side.value[key] ?? (type === 'boolean-map' ? false : ''), isDefault: side.isDefault }
}

function toSide([field]: FieldPath, side: Effective | undefined): Side | undefined {
  if (side === undefined) return undefined
  if (field === 'staticPodURLHeader') return { ...side, value: HIDDEN }
  return field === 'staticPodURL' ? { ...side, value: withoutCredentials(side.value) } : side
}

function withoutCredentials(url: unknown): string {
  const [, scheme, place] = /^(\w+:\/\/)(?:[^?#]*@)?([^?#]*)/.exec(String(url)) ?? []
  return scheme === undefined ? HIDDEN : `${scheme}${place}`
}

function compareUnknown(before: KubeletConfig, after: KubeletConfig, version: KubeletVersion | undefined): Change[] {
  const [left, right] = [findUnknown(before, version), findUnknown(after, version)]
  const names = new Set([...left.keys(), ...right.keys()])
  const mayKnowMore = version !== undefined && isNewer(version)
  return [...names].flatMap((name): Change[] => {
    const [was, is] = [left.get(name), right.get(name)]
    if (isSameValue(was?.value, is?.value, undefined)) return []
    const hidden = (side: Unknown | undefined) => (side === undefined ? undefined : { value: HIDDEN, isDefault: false })
    const path = (was ?? is)?.path ?? []
    return [{ path, before: hidden(was), after: hidden(is), risk: rowOf(path) === undefined && mayKnowMore ? 'unknown' : 'none' }]
  })
}

interface Unknown {
  readonly path: FieldPath
  readonly value: unknown
}

/** Parents of rows: `authentication`, `authentication.x509`. */
const BRANCHES: ReadonlySet<string> = new Set([...ROWS.keys()].flatMap(listParents))

/** A key that contains a dot is not a path. */
function rowOf(path: FieldPath): FieldRow | undefined {
  return String(path.at(-1)).includes('.') ? undefined : ROWS.get(path.join('.'))
}

function findUnknown(config: KubeletConfig, version: KubeletVersion | undefined): Map<string, Unknown> {
  const found = new Map<string, Unknown>()
  const visit = (value: unknown, path: FieldPath): void => {
    const name = path.join('.')
    const row = rowOf(path)
    if (row !== undefined) visitItems(value, path, row)
    if (row !== undefined && isKnownIn(row, version)) return
    if (isObject(value) && (name === '' || BRANCHES.has(name))) {
      for (const key of Object.keys(value)) if (name !== '' || (key !== 'apiVersion' && key !== 'kind')) visit(value[key], [...path, key])
    } else if (value !== null && value !== undefined && !BRANCHES.has(name)) found.set(JSON.stringify(path), { path, value })
  }
  const visitItems = (value: unknown, path: FieldPath, { fields }: FieldRow): void => {
    if (fields === undefined || !Array.isArray(value)) return
    for (const [index, item] of value.entries())
      if (isObject(item)) for (const key of Object.keys(item)) if (!Object.hasOwn(fields, key)) visit(item[key], [...path, index, key])
  }
  visit(config, [])
  return found
}

/**
 * Whether two values mean the same to kubelet: `60s` and `1m`, `1Gi` and `1024Mi`, maps in any
 * order. Brings each value to a canonical text and compares the texts. A text that is not a valid
 * duration or quantity is compared as it is.
 */
function isSameValue(a: unknown, b: unknown, measure: FieldRow['measure']): boolean {
  return a === b || spell(a, measure) === spell(b, measure)
}

function spell(value: unknown, measure: FieldRow['measure']): string {
  if (Array.isArray(value)) return `[${value.map((item) => spell(item, measure)).join()}]`
  if (isObject(value)) {
    const names = Object.keys(value).sort()
    return `{${names.map((name) => `${JSON.stringify(name)}:${spell(value[name], measure)}`).join()}}`
  }
  const measured = measure === undefined ? undefined : spellMeasure(value, measure)
  return measured ?? JSON.stringify(value) ?? 'undefined'
}

function spellMeasure(value: unknown, measure: 'duration' | 'quantity'): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  // logging.flushFrequency may be a number of nanoseconds, its original type.
  if (measure === 'duration') return typeof value === 'number' ? `${value} ns` : withUnit(parseGoDuration(value), 'ns')
  const percentage = typeof value === 'string' ? /^([+-]?[\d.]+)%$/.exec(value)?.[1] : undefined
  if (percentage !== undefined) return `${Number(percentage)} %`
  return withUnit(parseQuantity(String(value)), '')
}

function withUnit(count: bigint | undefined, unit: string): string | undefined {
  return count === undefined ? undefined : `${count} ${unit}`
}

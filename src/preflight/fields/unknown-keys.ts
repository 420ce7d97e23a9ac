/**
 * Finds keys that kubelet silently ignores: mistyped, too new or too old for it. A kubelet that is
 * newer than the tables may know what they lack. Pure. Rule:
 * `DecodeKubeletConfiguration`, pkg/kubelet/kubeletconfig/util/codec, decodes strictly first, and
 * leniently when that fails.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { Field, Fields } from '../../kubelet/field.ts'
import { type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import { listObjects } from '../../kubelet/field-types.ts'
import { FIELDS, isKnown, LAST_IN_TABLES } from '../../kubelet/fields.ts'
import { formatVersion, IN_TABLES, type KubeletVersion } from '../kubelet-version.ts'
import { type FieldProblem, shorten } from './complaint.ts'

/** Most keys to report one by one. */
export const MOST_KEYS = 20
const UNLISTED = 'not in the tables of this agent'

export function checkKeys(config: KubeletConfig, version: KubeletVersion | undefined, severity: 'warn' | 'refuse'): FieldProblem[] {
  const { first, more } = findUnknown(config, version?.minor)
  const complaints = first.map(([path, fields]): FieldProblem => ({ ...describeKey(path, fields, version), severity }))
  if (more === 0) return complaints
  return [...complaints, { rule: 'unknown-key', path: [], problem: `${more} more keys that kubelet does not know`, severity }]
}

/**
 * The keys that the tables lack, of a kubelet that is newer than they are, and what is gone by
 * their end.
 */
export function remarkOnKeys(config: KubeletConfig, newer: KubeletVersion, unknownKeys: 'warn' | 'refuse'): FieldProblem[] {
  const { first, more } = findUnknown(config, LAST_IN_TABLES.minor)
  const severity = 'warn'
  const remarks = first.map(([path, fields]): FieldProblem => {
    const gone = fieldOf(path, fields)?.gone
    if (gone !== undefined) return { ...describeGone(path, gone, newer), severity: unknownKeys }
    const problem = `${shorten(formatPath(path))} is ${UNLISTED}, which cover ${IN_TABLES}: kubelet ${formatVersion(newer)} may know it`
    return { rule: 'unlisted-key', path, problem, mistyped: nameKey(path, fields), severity }
  })
  return more === 0
    ? remarks
    : [...remarks, { rule: 'unlisted-key', path: [], problem: `${more} more keys that are ${UNLISTED}`, severity }]
}

type Place = readonly [path: FieldPath, fields: Fields]

function findUnknown(config: KubeletConfig, minor: number | undefined): { readonly first: readonly Place[]; readonly more: number } {
  const first: Place[] = []
  let more = 0
  for (const place of listUnknown(config, FIELDS, minor, [])) {
    if (first.length < MOST_KEYS) first.push(place)
    else more += 1
  }
  return { first, more }
}

function* listUnknown(value: KubeletConfig, fields: Fields, minor: number | undefined, path: FieldPath): Generator<Place> {
  for (const [name, inner] of Object.entries(value)) {
    if (path.length === 0 && (name === 'apiVersion' || name === 'kind')) continue
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const here = [...path, name]
    if (field === undefined || (minor !== undefined && !isKnown(field, minor))) yield [here, fields]
    else if (field.fields !== undefined) {
      for (const [object, at] of listObjects(field, inner, here)) yield* listUnknown(object, field.fields, minor, at)
    }
  }
}

function describeKey(path: FieldPath, fields: Fields, version: KubeletVersion | undefined): FieldProblem {
  const field = fieldOf(path, fields)
  const label = shorten(formatPath(path))
  if (field === undefined || version === undefined) {
    return { rule: 'unknown-key', path, problem: `unknown field ${label}: kubelet ignores it`, mistyped: nameKey(path, fields) }
  }
  if (field.gone !== undefined && field.gone <= version.minor) return describeGone(path, field.gone, version)
  const problem = `${label} is new in kubelet 1.${field.since ?? ''}: kubelet ${formatVersion(version)} ignores it`
  return { rule: 'too-new', path, problem, advice: 'remove it, or upgrade kubelet first' }
}

function describeGone(path: FieldPath, gone: number, version: KubeletVersion): FieldProblem {
  const problem = `kubelet 1.${gone} removed ${shorten(formatPath(path))}: kubelet ${formatVersion(version)} ignores it`
  return { rule: 'gone', path, problem, advice: 'remove it' }
}

function fieldOf(path: FieldPath, fields: Fields): Field | undefined {
  const name = String(path.at(-1))
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function nameKey(path: FieldPath, fields: Fields): NonNullable<FieldProblem['mistyped']> {
  const known = [...Object.keys(fields), ...(path.length === 1 ? ['kind', 'apiVersion'] : [])]
  return { name: String(path.at(-1)), known }
}

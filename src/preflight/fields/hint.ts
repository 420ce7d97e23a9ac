// SPDX-License-Identifier: Apache-2.0
/**
 * Tells what somebody meant who wrote a name that kubelet does not know: of a field, in this order,
 * one of the same place, one of another place, an eviction signal, a flag of kubelet, what another
 * tool calls a field, and last a slip in the spelling. Pure. Only what this kubelet knows is named,
 * and nothing where a person may have meant something else.
 */
import type { FieldTable } from '../../kubelet/field.ts'
import { FIELDS, isKnown } from '../../kubelet/fields.ts'
import { equal, likely, misspelled, type Names } from '../../values/likely.ts'
import { ROWS } from '../change/field-rows.ts'
import { describeFlag, FLAGS_ALONE, FLAGS_GONE, isFlagOf } from '../change/kubelet-flags.ts'
import { SIGNALS } from './at-start.ts'
import type { Mistyped } from './complaint.ts'
import { FOREIGN_NAMES } from './foreign-names.ts'

type Hints = Names<string>

export function hint({ name, known, key }: Mistyped): string | undefined {
  const here: Hints = new Map(known.map((each) => [each, didYouMean([each])]))
  return key === undefined ? likely(name, here) : hintAt(name, here, key)
}

function hintAt(name: string, here: Hints, { path, minor }: NonNullable<Mistyped['key']>): string | undefined {
  const isTop = path.length === 1
  const flagged = (flags: readonly string[]): Hints => new Map(isTop ? flags.map((flag) => [flag, describeFlag(flag, minor)]) : [])
  const places = listPlaces(FIELDS, minor)
  const nested = listNested(places, path.slice(0, -1).join('.'))
  const groups = [
    ...[here, nested, isTop ? SIGNAL_HINTS : listTop(places), listFieldFlags(minor)],
    ...[flagged(FLAGS_ALONE), flagged(FLAGS_GONE), listForeign(minor)],
  ]
  // `kubelet_max_pods` of a playbook; a name that means something in this place alone.
  const spelledOtherwise = isTop ? name.replace(/^kubelet/i, '') : path.join('.')
  const found = equal(name, groups) ?? equal(spelledOtherwise, groups)
  return found ?? (COMMON.includes(name) ? undefined : misspelled(name, [here, nested]))
}

/** Names of which nobody can tell which field they are meant for. */
const COMMON = ['address', 'cacheTTL', 'enabled', 'endpoint', 'json', 'options', 'port', 'readOnly', 'text']

/** The fields within others than this one, by their names and by all ends of their paths. */
function listNested(places: readonly Place[], here: string): Hints {
  const ends = new Map<string, string[]>()
  for (const place of places.filter((place) => place.length > 1 && place.slice(0, -1).join('.') !== here))
    for (const from of place.keys()) {
      const name = place.slice(from).join('.')
      if (!COMMON.includes(name)) ends.set(name, [...(ends.get(name) ?? []), place.join('.')])
    }
  return new Map([...ends].map(([name, found]) => [name, didYouMean(found)]))
}

type Place = readonly string[]

/** Without the fields of objects in lists. */
function listPlaces(fields: FieldTable, minor: number | undefined): Place[] {
  return listKnown(fields, minor).flatMap((name) => {
    const { type, fields: inner = {} } = fields[name] ?? {}
    return [[name], ...(type === 'object' ? listPlaces(inner, minor).map((place) => [name, ...place]) : [])]
  })
}

/** The names of the fields that this kubelet knows; without a minor, that any does. */
export function listKnown(fields: FieldTable, minor: number | undefined): string[] {
  return Object.entries(fields).flatMap(([name, field]) => (minor === undefined || isKnown(field, minor) ? [name] : []))
}

function listTop(places: readonly Place[]): Hints {
  const names = places.flatMap(([name = '', ...inner]) => (inner.length > 0 || COMMON.includes(name) ? [] : [name]))
  return new Map(names.map((name) => [name, `did you mean ${name} at the top of the config?`]))
}

const SIGNAL_HINTS: Hints = new Map(
  SIGNALS.map((signal) => [signal, `${signal} is an eviction signal: write it under evictionHard or evictionSoft`]),
)

/** Of a field that is too new for this kubelet, the flag that it has instead. */
function listFieldFlags(minor: number | undefined): Hints {
  return new Map(
    [...ROWS].flatMap(([field, row]) => {
      if (row.flag === undefined || COMMON.includes(row.flag)) return []
      if (minor === undefined || isKnown(row, minor)) return [[row.flag, didYouMean([field])]]
      return isFlagOf(row.flag, minor) ? [[row.flag, describeFlag(row.flag, minor)]] : []
    }),
  )
}

function listForeign(minor: number | undefined): Hints {
  return new Map(
    Object.entries(FOREIGN_NAMES).map(([name, meant]) => [
      name,
      meant.startsWith('--') ? describeFlag(meant.slice(2), minor) : didYouMean(meant.split(' ')),
    ]),
  )
}

function didYouMean(names: readonly string[]): string {
  return `did you mean ${names.join(' or ')}?`
}

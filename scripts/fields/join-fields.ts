// SPDX-License-Identifier: Apache-2.0
/**
 * Joins the fields of all releases to one table: each field once, with the versions that know it,
 * its defaults by version, and whether zero is a value of its own. Pure. It throws where the table
 * has no words for what upstream did.
 */
import type { Release, ReleaseField } from './release.ts'

type ByVersion = readonly (readonly [since: number, value: unknown])[]

export interface JoinedField {
  readonly path: string
  readonly type: string
  /** Not set: as old as the oldest release. */
  readonly since?: number
  readonly gone?: number
  readonly initial?: ByVersion
  readonly zeroSince?: number
}

/** In the order of the newest file; a field that went stands where it was. */
export function joinFields(releases: readonly Release[]): JoinedField[] {
  return orderPaths(releases).map((path) => joinField(path, releases))
}

function orderPaths(releases: readonly Release[]): string[] {
  const ordered: string[] = []
  for (const { fields } of releases.toReversed()) {
    for (const [index, { path }] of fields.entries()) {
      if (ordered.includes(path)) continue
      const before = fields[index - 1]?.path
      ordered.splice(before === undefined ? 0 : ordered.indexOf(before) + 1, 0, path)
    }
  }
  return ordered
}

interface Sighting {
  readonly release: Release
  readonly field: ReleaseField
}

function joinField(path: string, releases: readonly Release[]): JoinedField {
  const seen = releases.flatMap((release): Sighting[] => {
    const field = release.fields.find((each) => each.path === path)
    return field === undefined ? [] : [{ release, field }]
  })
  const [first] = seen
  const last = seen.at(-1)
  if (first === undefined || last === undefined) throw new Error(`no release has ${path}`)
  const [since, until] = [first.release.minor, last.release.minor]
  if (seen.length !== until - since + 1) throw new Error(`${path} went and came back`)
  const other = seen.find(({ field }) => field.type !== first.field.type)
  if (other !== undefined)
    throw new Error(`${path} was of type ${first.field.type} and is ${other.field.type} since 1.${other.release.minor}`)
  return {
    path,
    type: first.field.type,
    ...(since === releases[0]?.minor ? {} : { since }),
    ...(until === releases.at(-1)?.minor ? {} : { gone: until + 1 }),
    ...(path.includes('[]') ? {} : joinDefaults(path, seen)),
  }
}

function joinDefaults(path: string, seen: readonly Sighting[]): Pick<JoinedField, 'initial' | 'zeroSince'> {
  const initial = listChanges(seen.map(({ release, field }) => [release.minor, initialOf(release, field)]))
  const zero = listChanges(seen.map(({ release, field }) => [release.minor, zeroCounts(release, field) || undefined]))
  if (zero.some(([, counts], index) => index > 0 && counts === undefined)) throw new Error(`zero no longer counts as a value of ${path}`)
  const zeroSince = zero[0]?.[0]
  return { ...(initial.length === 0 ? {} : { initial }), ...(zeroSince === undefined ? {} : { zeroSince }) }
}

/** Only where the value changes; without a leading undefined. */
function listChanges(values: ByVersion): ByVersion {
  const changes = values.filter(([, value], index) => index === 0 || JSON.stringify(value) !== JSON.stringify(values[index - 1]?.[1]))
  return changes.filter(([, value], index) => index > 0 || value !== undefined)
}

const ZEROS: Readonly<Record<string, unknown>> = {
  boolean: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  number: 0,
  duration: '0s',
  nanoseconds: '0s',
}
const CONTAINERS = ['object', 'objects', 'strings', 'int32s', 'string-map', 'boolean-map', 'strings-map', 'quantity-map']

/** undefined: none, or one that depends on other fields. */
function initialOf({ defaults, dependent }: Release, { path, type, pointer, zeroInside }: ReleaseField): unknown {
  if (Object.hasOwn(dependent, path)) return undefined
  if (Object.hasOwn(defaults, path)) return defaults[path]
  return pointer === true && zeroInside !== true ? undefined : ZEROS[type]
}

/**
 * A pointer tells zero from what is not set. Where nothing replaces zero, zero is a value too. An
 * empty list or map differs from none only where there is a default.
 */
function zeroCounts({ defaults, dependent }: Release, { path, type, pointer }: ReleaseField): boolean {
  const hasDefault = Object.hasOwn(defaults, path) || Object.hasOwn(dependent, path)
  if (CONTAINERS.includes(type)) return pointer === true && hasDefault
  return pointer === true || (!hasDefault && Object.hasOwn(ZEROS, type))
}

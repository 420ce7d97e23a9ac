/**
 * Every field of KubeletConfiguration with its JSON type and the minor versions of kubelet that
 * added and removed it. Pure. The table is read from upstream's sources, and stands in the order of
 * upstream's types.go. No top-level field has ever been removed. A kubelet older than a field
 * ignores it, whatever its value.
 */
import type { Field, Fields } from './field.ts'
import { FIELD_TABLE } from './generated/fields.ts'

/** The oldest minor of 1.x that the tables and rules cover. */
export const OLDEST_MINOR = 20
/** The newest minor that is released. */
export const NEWEST_MINOR = 37
/**
 * What the tables and rules end with: a pre-release of the minor after it, from which the release
 * may differ, or the newest release itself.
 */
export const LAST_IN_TABLES = { minor: 38, version: '1.38.0-beta.0' }

export const FIELDS = FIELD_TABLE

export type FieldName = keyof typeof FIELDS

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name)
}

/** Whether kubelet 1.`minor` knows a field; without a minor, whether all versions do. */
export function isKnown({ since, gone }: Pick<Field, 'since' | 'gone'>, minor: number | undefined): boolean {
  if (minor === undefined) return since === undefined && gone === undefined
  return (since ?? 0) <= minor && minor < (gone ?? Number.POSITIVE_INFINITY)
}

type LeafOf<Table extends Fields> = {
  [Name in keyof Table & string]: Table[Name] extends { readonly type: 'object'; readonly fields: infer Inner extends Fields }
    ? `${Name}.${LeafOf<Inner>}`
    : Name
}[keyof Table & string]

/**
 * The path with dots of a field that is set as a whole. An object with fields of its own is not a
 * leaf; a list of such objects is.
 */
export type LeafName = LeafOf<typeof FIELDS>

/** The paths that enclose a dotted path: of `a.b.c`, these are `a` and `a.b`. */
export function listParents(name: string): string[] {
  return [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))
}

/** Each with its LeafName, in the order of the table. */
export function listLeaves(fields: Fields = FIELDS): (readonly [name: string, field: Field])[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.type === 'object' && field.fields !== undefined
      ? listLeaves(field.fields).map(([inner, leaf]) => [`${name}.${inner}`, leaf] as const)
      : [[name, field] as const],
  )
}

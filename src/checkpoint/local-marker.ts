/**
 * `meta/local`: which of the records of sources say local on purpose. Such a record is an empty
 * file, as upstream's is, and a disk can leave an empty file too: after a power loss, where it lies
 * about what it has flushed, or after a restore. So the marker is written first. Pure.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { RECORD_NAMES, type RecordName } from '../decision/records.ts'
import { isText, listOf, parseJson, shape } from '../values/json-shape.ts'

/** Names that another agent knows may be among them. */
export type Marked = ReadonlySet<string>
type SourceIn = (name: RecordName) => ConfigSource | undefined

const isMarker = shape({ local: listOf(isText) })

/** @param before what another agent has marked besides stays marked */
export function renderMarker(names: readonly RecordName[], before: Marked | undefined): string {
  const others = [...(before ?? [])].filter((marked) => !RECORD_NAMES.some((name) => name === marked))
  return JSON.stringify({ local: [...names, ...others] })
}

/** undefined: damaged. */
export function parseMarker(bytes: Uint8Array): Marked | undefined {
  const marker = parseJson(bytes, isMarker)
  return marker && new Set(marker.local)
}

/**
 * Whether an empty record says local.
 *
 * An agent that wrote no marker left empty records, too. A fallback counts as local then: what else
 * it may have named is not known. What is assigned counts as local only where nothing shows that it
 * was something else, and that is for the reader to find out.
 *
 * @param marked undefined: there is no marker
 * @param sourceIn what the record says. undefined: there is none, or it is damaged
 */
export function isConfirmed(name: RecordName, marked: Marked | undefined, sourceIn: SourceIn): boolean {
  if (marked?.has(name) === true) return true
  return name !== 'assigned' && (marked === undefined || isOutdated(marked, sourceIn))
}

/** Whether an agent that writes no marker has been here since, or this one died in between. */
function isOutdated(marked: Marked, sourceIn: SourceIn): boolean {
  return RECORD_NAMES.some((name) => marked.has(name) && (sourceIn(name) ?? 'local') !== 'local')
}

/** Parses a YAML text for another process. Pure. */
import { parseDocuments, parseLocated } from './yaml.ts'
import type { ChildAnswer } from './yaml-answer.ts'
import { listPlaces } from './yaml-places.ts'

/** Duplicate keys that are listed. */
const MOST_REPEATED = 100

export function answerFirst(text: string): ChildAnswer {
  const read = parseLocated(text)
  if (!read.ok) return { kind: 'failed', detail: read.detail, position: read.position }
  const { value, remarks, repeated } = read
  return {
    kind: 'first',
    value,
    remarks: remarks.slice(0, MOST_REPEATED),
    repeated: repeated.slice(0, MOST_REPEATED),
    places: listPlaces(read),
  }
}

export function answerAll(text: string): ChildAnswer {
  const read = parseDocuments(text)
  return read.ok ? { kind: 'all', documents: read.documents } : { kind: 'failed', detail: read.detail, position: read.position }
}

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

/** Whether JSON holds the answer as it is: it has neither infinity nor "not a number". */
export function fitsJson(answer: ChildAnswer): boolean {
  let level: unknown[] = [answer]
  while (level.length > 0) {
    if (level.some((item) => typeof item === 'bigint' || (typeof item === 'number' && !Number.isFinite(item)))) return false
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return true
}

/**
 * What is remembered of a config file that the `file` activation replaces: where the original is kept, and what each content that may stand in
 * its place means. Pure. A fallback is recorded when it is staged, so that falling back writes nothing here and works on a full disk.
 */
import type { ConfigSource, ContentHash } from '../decision/config-source.ts'
import { sameSource } from '../decision/config-source.ts'

export interface OriginalRecord {
  readonly configPath: string
  readonly original: Original
  /** The last that was to be put in place. */
  readonly target: Placed | undefined
  /** What is staged. */
  readonly fallback: Placed | undefined
  /** What stood there when `target` was recorded: should the replacement not have happened, it still does. */
  readonly before: Placed | undefined
}
export interface Original {
  /** SHA-256 of its bytes, and its name in the directory where it is kept. */
  readonly hash: ContentHash
  readonly mode: number
  readonly uid: number
  readonly gid: number
}
/** A source, and the SHA-256 of the one file that kubelet reads of it. */
export interface Placed {
  readonly source: ConfigSource
  readonly hash: ContentHash
}

/** Which source this content stands for. undefined: it is neither ours nor the original, so somebody else put it there. */
export function findMeaning(record: OriginalRecord, hash: ContentHash): Placed | undefined {
  const placed = [record.target, record.fallback, record.before].find((one) => one?.hash === hash)
  return placed ?? (hash === record.original.hash ? { source: 'local', hash } : undefined)
}

export function recordStaged(record: OriginalRecord, fallback: Placed, inPlace: ContentHash | undefined): OriginalRecord {
  const current = inPlace === undefined ? undefined : findMeaning(record, inPlace)
  return { ...record, target: current, fallback, before: undefined }
}

export function recordTarget(record: OriginalRecord, target: Placed, inPlace: ContentHash | undefined): OriginalRecord {
  const current = inPlace === undefined ? undefined : findMeaning(record, inPlace)
  return { ...record, target, before: current }
}

/** Whether this content would be read back as this source. */
export function means(record: OriginalRecord, { source, hash }: Placed): boolean {
  const meaning = findMeaning(record, hash)
  return meaning !== undefined && sameSource(meaning.source, source)
}

export function renderRecord(record: OriginalRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`
}

/** undefined: damaged. It is written by us alone, and whole or not at all, so only its outline is checked. */
export function parseRecord(text: string): OriginalRecord | undefined {
  try {
    const { configPath, original, target, fallback, before } = JSON.parse(text) as Partial<OriginalRecord>
    if (typeof configPath !== 'string' || !/^[0-9a-f]{64}$/.test(original?.hash ?? '') || original === undefined) return undefined
    if (![original.mode, original.uid, original.gid].every(Number.isInteger)) return undefined
    return { configPath, original, target, fallback, before }
  } catch {
    return undefined
  }
}

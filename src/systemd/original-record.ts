/**
 * The record of a config file that the `file` activation replaces: which original is stored, and
 * which source each content belongs to that may be in place. Pure. A fallback is recorded when it
 * is staged, so falling back writes nothing here and works on a full disk.
 */
import type { ConfigSource, ContentHash } from '../decision/config-source.ts'
import { sameSource } from '../decision/config-source.ts'
import { isStamp, type Stamp } from './replacement-stamp.ts'

export interface OriginalRecord {
  readonly configPath: string
  readonly original: Original
  /** The last target of an activation. */
  readonly target: Placed | undefined
  /** The staged fallback. */
  readonly fallback: Placed | undefined
  /**
   * What was in place when `target` was recorded; it still is if the replacement did not happen.
   */
  readonly before: Placed | undefined
  /** undefined: recorded by an agent that kept it in /run alone. */
  readonly stamp?: Stamp | undefined
  /** As in `twin-record.ts`. */
  readonly revision: number
}
export interface Original {
  /** SHA-256 of its bytes, and the name under which it is stored. */
  readonly hash: ContentHash
  readonly mode: number
  readonly uid: number
  readonly gid: number
}
/** A source, and the SHA-256 of its file that kubelet reads. */
export interface Placed {
  readonly source: ConfigSource
  readonly hash: ContentHash
  /**
   * Of its whole checkpoint. undefined: not known, or recorded by an agent that did not record it.
   */
  readonly content?: ContentHash | undefined
}

/**
 * The source that this content belongs to. undefined: neither the agent's nor the original, so
 * something else wrote it.
 */
export function findMeaning(record: OriginalRecord, hash: ContentHash): Placed | undefined {
  const placed = listClaims(record).find((known) => known.hash === hash)
  return placed ?? (hash === record.original.hash ? { source: 'local', hash } : undefined)
}

/** The contents that count as put in place by the agent. */
export function listClaims({ target, fallback, before }: OriginalRecord): readonly Placed[] {
  return [target, fallback, before].filter((known) => known !== undefined)
}

/**
 * Of the two records of a file, the newer first: the one that knows this content. Content that the
 * agent has put in place is never taken for the original, whatever the other record says.
 */
export function chooseRecord(records: readonly OriginalRecord[], hash: ContentHash): OriginalRecord | undefined {
  const known = records.filter((record) => findMeaning(record, hash) !== undefined)
  return known.find((record) => findMeaning(record, hash)?.source !== 'local') ?? known[0]
}

export function recordStaged(record: OriginalRecord, fallback: Placed, inPlace: ContentHash | undefined): OriginalRecord {
  const current = inPlace === undefined ? undefined : findMeaning(record, inPlace)
  return { ...record, target: current, fallback, before: undefined }
}

/** Adds what an earlier agent did not record. */
export function recordContent(record: OriginalRecord, { source, hash, content }: Placed): OriginalRecord {
  const add = (known: Placed | undefined) => (known?.hash === hash && sameSource(known.source, source) ? { ...known, content } : known)
  return { ...record, target: add(record.target), fallback: add(record.fallback), before: add(record.before) }
}

/** Whether the record maps this content to this source. */
export function means(record: OriginalRecord, { source, hash }: Placed): boolean {
  const meaning = findMeaning(record, hash)
  return meaning !== undefined && sameSource(meaning.source, source)
}

export function renderRecord({ configPath, original, target, fallback, before, stamp, revision }: OriginalRecord): string {
  return `${JSON.stringify({ configPath, original, target, fallback, before, stamp, revision }, undefined, 2)}\n`
}

/**
 * undefined: damaged. Only the agent writes it, completely or not at all, so only its outline is
 * checked.
 */
export function parseRecord(text: string): OriginalRecord | undefined {
  try {
    const { configPath, original, target, fallback, before, stamp, revision = 0 } = JSON.parse(text) as Partial<OriginalRecord>
    if (typeof configPath !== 'string' || !/^[0-9a-f]{64}$/.test(original?.hash ?? '') || original === undefined) return undefined
    if (![original.mode, original.uid, original.gid, revision].every(Number.isInteger)) return undefined
    return { configPath, original, target, fallback, before, ...(isStamp(stamp) && { stamp }), revision }
  } catch {
    return undefined
  }
}

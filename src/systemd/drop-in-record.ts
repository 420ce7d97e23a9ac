// SPDX-License-Identifier: Apache-2.0
/**
 * The record of the drop-in that the agent adds: which source each content belongs to that may be
 * in place. Pure. A fallback is recorded when it is staged, so falling back writes nothing here and
 * works on a full disk.
 */
import { type ConfigMapSource, type ContentHash, sameSource } from '../subject/config-source.ts'
import { isStamp, type Stamp } from './replacement-stamps.ts'

export interface DropInRecord {
  /** The file in kubelet's directory. */
  readonly path: string
  /** The last target of an activation. */
  readonly target: PlacedDropIn | undefined
  /** The staged fallback. */
  readonly fallback: PlacedDropIn | undefined
  /**
   * The drop-in that was in place when `target` was recorded; it still is if the rename did not
   * happen.
   */
  readonly before: PlacedDropIn | undefined
  /** undefined: recorded by an agent that kept it in /run alone. */
  readonly stamp?: Stamp | undefined
  /** As in `twin-record.ts`. */
  readonly revision: number
}

/** A source, and the SHA-256 of its file that kubelet reads. */
export interface PlacedDropIn {
  readonly source: ConfigMapSource
  readonly hash: ContentHash
  /**
   * The content of the drop-in's whole checkpoint. undefined: not known, or recorded by an agent
   * that did not record it.
   */
  readonly content?: ContentHash | undefined
}

/** undefined: something else wrote this content. */
export function findPlaced({ target, fallback, before }: DropInRecord, hash: ContentHash): PlacedDropIn | undefined {
  return [target, fallback, before].find((known) => known?.hash === hash)
}

/** Adds what an earlier agent did not record. */
export function addContent(record: DropInRecord, { source, hash, content }: PlacedDropIn): DropInRecord {
  const add = (known: PlacedDropIn | undefined) =>
    known?.hash === hash && sameSource(known.source, source) ? { ...known, content } : known
  return { ...record, target: add(record.target), fallback: add(record.fallback), before: add(record.before) }
}

/** Whether the record maps this content to this source. */
export function isRecorded(record: DropInRecord, { source, hash }: PlacedDropIn): boolean {
  const placed = findPlaced(record, hash)
  return placed !== undefined && sameSource(placed.source, source)
}

export function renderDropInRecord({ path, target, fallback, before, stamp, revision }: DropInRecord): string {
  return `${JSON.stringify({ path, target, fallback, before, stamp, revision }, undefined, 2)}\n`
}

/**
 * undefined: damaged. Only the agent writes it, completely or not at all, so only its outline is
 * checked.
 */
export function parseDropInRecord(text: string): DropInRecord | undefined {
  try {
    const { path, target, fallback, before, stamp, revision = 0 } = JSON.parse(text) as Partial<DropInRecord>
    if (typeof path !== 'string' || !Number.isInteger(revision)) return undefined
    return { path, target, fallback, before, ...(isStamp(stamp) && { stamp }), revision }
  } catch {
    return undefined
  }
}

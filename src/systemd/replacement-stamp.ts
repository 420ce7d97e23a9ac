/**
 * Since when a config file has its present content, as one stamp that is kept twice: in /run, and
 * in the record of what is in place, which outlives /run. Pure.
 */
import type { ContentHash } from '../decision/config-source.ts'
import type { Instant } from '../values/durations.ts'
import { isFlag, isNumber, isText, optional, shape, type TypeOf } from '../values/json-shape.ts'

/** Times are CLOCK_MONOTONIC of this boot. */
export const isStamp = shape({
  bootId: isText,
  hash: isText,
  /**
   * The content is the local config, and no replacement has begun since. undefined, as in the
   * records of earlier versions: not known.
   */
  isLocal: optional(isFlag),
  /** undefined: since before the agent's first observation in this boot, or not known. */
  sinceUs: optional(isNumber),
  /** Nobody recorded when it was put in place. The agent found it there at this time. */
  foundUs: optional(isNumber),
  /** The same config in other bytes, which may have replaced it. */
  rewording: optional(isText),
  /** Another config, which may have replaced it. */
  next: optional(isText),
})
export type Stamp = TypeOf<typeof isStamp>

export interface InPlaceContent {
  readonly hash: ContentHash
  readonly isLocal: boolean
}

export interface KnownStamps {
  /** Of /run. */
  readonly run: Stamp | undefined
  /**
   * Of the records of what is in place, the one that counts first. Empty: an agent that kept none
   * wrote them. undefined: nothing was ever put in place.
   */
  readonly kept: readonly Stamp[] | undefined
}

/**
 * The stamp of what is in place. While /run lasts, it says what was seen since the boot: unknown
 * content was written by something else, or by a replacement that crashed, and counts from now. But
 * local is one config, whatever its file holds: where an administrator writes it anew, it is in
 * place since it was. So is a rewording. Where /run was lost, the record tells. If neither does,
 * the time is not known.
 */
export function resolveStamp(content: InPlaceContent, { run, kept }: KnownStamps, { bootId, monotonicUs }: Instant): Stamp {
  const stamp = { bootId, hash: content.hash, isLocal: content.isLocal }
  const isOfBoot = (each: Stamp | undefined) => each?.bootId === bootId
  const last = [run, ...(kept ?? [])].filter((each) => each !== undefined && isOfBoot(each)).reduce(later, undefined)
  if (last !== undefined && isOf(last, content)) return { ...stamp, sinceUs: last.sinceUs, foundUs: last.foundUs }
  if (isOfBoot(run)) return { ...stamp, sinceUs: monotonicUs }
  const isFromBefore = last === undefined && (kept ?? []).some((each) => isOf(each, content) || each.next === content.hash)
  return isFromBefore || kept === undefined ? stamp : { ...stamp, foundUs: monotonicUs }
}

/** Of two of this boot. One that could not be written is older than the other. */
function later(a: Stamp | undefined, b: Stamp | undefined): Stamp | undefined {
  return a === undefined || (b !== undefined && atUs(b) > atUs(a)) ? b : a
}

function atUs({ sinceUs, foundUs }: Stamp): number {
  return sinceUs ?? foundUs ?? -1
}

function isOf(stamp: Stamp, { hash, isLocal }: InPlaceContent): boolean {
  return stamp.hash === hash || stamp.rewording === hash || (isLocal && stamp.isLocal === true)
}

/** Whether both say the same of what is in place. */
export function isSameStamp(a: Stamp | undefined, b: Stamp | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const fields = ['bootId', 'hash', 'isLocal', 'sinceUs', 'foundUs', 'rewording', 'next'] as const
  return fields.every((field) => a[field] === b[field])
}

/** Whether this record tells as much as the stamp, once /run is lost. */
export function isKept(stamp: Stamp, kept: Stamp | undefined): boolean {
  if (kept === undefined || kept.rewording !== undefined || kept.next !== undefined) return false
  const isSame = kept.hash === stamp.hash || (stamp.isLocal === true && kept.isLocal === true)
  if (kept.bootId !== stamp.bootId) return isSame && stamp.sinceUs === undefined && stamp.foundUs === undefined
  return isSame && kept.sinceUs === stamp.sinceUs && kept.foundUs === stamp.foundUs
}

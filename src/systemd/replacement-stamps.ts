// SPDX-License-Identifier: Apache-2.0
/**
 * Records since when a config file has its present content, on CLOCK_MONOTONIC: a kubelet that was
 * started earlier does not run it. Stored under /run, because a reboot starts kubelet anyway, and
 * in the record of what is in place, because /run can be lost while a restart is due. A stamp that
 * cannot be written is kept in memory: it must not keep a node from falling back.
 */
import { dirname } from 'node:path'
import type { ActivationStamp } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { ContentHash } from '../subject/config-source.ts'
import type { Instant } from '../values/durations.ts'
import { isFlag, isNumber, isText, optional, parseJson, shape, type TypeOf } from '../values/json-shape.ts'
import { tolerateFaults } from './placed-content.ts'

/** The record of what is in place, as far as it holds stamps. */
export interface StampRecord {
  /** As in `KnownStamps`. */
  readonly stamps: KnownStamps['kept']
  /** Throws if it cannot be written. */
  readonly keep: (stamp: Stamp) => void
}

/** The config that is put in place. */
interface Replacement {
  readonly hash: ContentHash
  readonly isLocal: boolean
  /** The config that it replaces, in other bytes. */
  readonly isRewording: boolean
  /** See `Activation`. */
  readonly runsIn?: string | undefined
}

/** `foundAt`: nobody recorded it, and the agent found what is in place at that time. */
interface Since {
  readonly since: ActivationStamp | undefined
  readonly foundAt?: ActivationStamp
}

export class ReplacementStamps {
  readonly #files: Files
  readonly #path: string
  readonly #clock: Clock
  #last: Stamp | undefined
  #isWritten = true

  constructor(files: Files, path: string, clock: Clock) {
    this.#files = files
    this.#path = path
    this.#clock = clock
  }

  since(hash: ContentHash, isLocal: boolean, record: StampRecord): Since {
    this.#write()
    const stamp = resolveStamp({ hash, isLocal }, { run: this.#run(), kept: record.stamps }, this.#clock.now())
    this.#save(stamp)
    if (record.stamps !== undefined && !isKept(stamp, record.stamps[0])) tolerateFaults(() => record.keep(stamp))
    const { bootId, sinceUs, foundUs, runsIn } = stamp
    return {
      since: sinceUs === undefined ? undefined : { bootId, monotonicUs: sinceUs, ...(runsIn !== undefined && { runsIn }) },
      ...(foundUs !== undefined && { foundAt: { bootId, monotonicUs: foundUs } }),
    }
  }

  /**
   * The stamp to record for a replacement that is about to begin. After a crash in it, another
   * config that is found in place counts from then, and another wording since the first one was in
   * place.
   *
   * @param inPlace undefined: there is no file
   * @param kept in the record of what is in place
   */
  begin(inPlace: ContentHash | undefined, { hash, isRewording }: Replacement, kept: Stamp | undefined): Stamp | undefined {
    if (inPlace === undefined) return undefined
    const known = { run: this.#run(), kept: kept && [kept] }
    const { isLocal: _, ...stamp } = resolveStamp({ hash: inPlace, isLocal: false }, known, this.#clock.now())
    return isRewording ? { ...stamp, rewording: hash } : { ...stamp, next: hash }
  }

  /**
   * Carries out a replacement.
   *
   * @param begun as `begin` has returned it. The record has it, unless the disk is full
   */
  replace(begun: Stamp | undefined, { hash, isLocal, runsIn }: Replacement, rename: () => void, keep: StampRecord['keep']): void {
    if (begun !== undefined) this.#save(begun)
    rename()
    if (begun?.rewording !== undefined) return
    const { bootId, monotonicUs } = this.#clock.now()
    const stamp = { bootId, hash, isLocal, sinceUs: monotonicUs, ...(runsIn !== undefined && { runsIn }) }
    this.#save(stamp)
    tolerateFaults(() => keep(stamp))
  }

  #run(): Stamp | undefined {
    this.#last ??= this.#load()
    return this.#last
  }

  #save(stamp: Stamp): void {
    if (isSameStamp(stamp, this.#last)) return
    this.#last = stamp
    this.#isWritten = false
    this.#write()
  }

  /**
   * Where the agent ends before it can be written, the disk has an older one. Kubelet is then
   * restarted once more than necessary, unless the record of what is in place has it.
   */
  #write(): void {
    if (this.#isWritten) return
    tolerateFaults(() => {
      this.#files.makeDirectory(dirname(this.#path))
      this.#files.replace(this.#path, JSON.stringify(this.#last))
      this.#isWritten = true
    })
  }

  #load(): Stamp | undefined {
    try {
      const bytes = this.#files.read(this.#path)
      return bytes && parseJson(bytes, isStamp)
    } catch {
      return undefined
    }
  }
}

/**
 * Since when a config file has its present content, as one stamp that is kept twice: in /run, and
 * in the record of what is in place, which outlives /run. Times are CLOCK_MONOTONIC of this boot.
 */
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
  /** The invocation of the kubelet that was started before, and runs it all the same. */
  runsIn: optional(isText),
  /** The same config in other bytes, which may have replaced it. */
  rewording: optional(isText),
  /** Another config, which may have replaced it. */
  next: optional(isText),
})
export type Stamp = TypeOf<typeof isStamp>

interface InPlaceContent {
  readonly hash: ContentHash
  readonly isLocal: boolean
}

interface KnownStamps {
  /** The stamp in /run. */
  readonly run: Stamp | undefined
  /**
   * The stamps in the records of what is in place, the one that counts first. Empty: an agent that
   * kept none wrote them. undefined: nothing was ever put in place.
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
function resolveStamp(content: InPlaceContent, { run, kept }: KnownStamps, { bootId, monotonicUs }: Instant): Stamp {
  const { hash, isLocal } = content
  const isOfBoot = (each: Stamp | undefined) => each?.bootId === bootId
  const last = [run, ...(kept ?? [])].filter((each) => each !== undefined && isOfBoot(each)).reduce(later, undefined)
  if (last !== undefined && isOf(last, content)) {
    const { sinceUs, foundUs, runsIn } = last
    return { bootId, hash, isLocal, sinceUs, foundUs, runsIn }
  }
  if (isOfBoot(run)) return { bootId, hash, isLocal, sinceUs: monotonicUs }
  const isFromBefore = last === undefined && (kept ?? []).some((each) => isOf(each, content) || each.next === content.hash)
  return { bootId, hash, isLocal, ...(!isFromBefore && kept !== undefined && { foundUs: monotonicUs }) }
}

/** The later of two stamps of this boot. One that could not be written is older than the other. */
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
function isSameStamp(a: Stamp | undefined, b: Stamp | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const fields = ['bootId', 'hash', 'isLocal', 'sinceUs', 'foundUs', 'runsIn', 'rewording', 'next'] as const
  return fields.every((field) => a[field] === b[field])
}

/** Whether this record tells as much as the stamp, once /run is lost. */
function isKept(stamp: Stamp, kept: Stamp | undefined): boolean {
  if (kept === undefined || kept.rewording !== undefined || kept.next !== undefined) return false
  const isSame = kept.hash === stamp.hash || (stamp.isLocal === true && kept.isLocal === true)
  if (kept.bootId !== stamp.bootId) return isSame && stamp.sinceUs === undefined && stamp.foundUs === undefined
  return isSame && kept.sinceUs === stamp.sinceUs && kept.foundUs === stamp.foundUs && kept.runsIn === stamp.runsIn
}

/**
 * Records since when a config file has its present content, on CLOCK_MONOTONIC: a kubelet that was
 * started earlier does not run it. Stored under /run, because a reboot starts kubelet anyway, and
 * in the record of what is in place, because /run can be lost while a restart is due. A stamp that
 * cannot be written is kept in memory: it must not keep a node from falling back.
 */
import { dirname } from 'node:path'
import type { ContentHash } from '../decision/config-source.ts'
import type { ActivationStamp } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import { parseJson } from '../values/json-shape.ts'
import { isKept, isSameStamp, isStamp, type KnownStamps, resolveStamp, type Stamp } from './replacement-stamp.ts'
import { tolerateFaults } from './tolerate-faults.ts'

/** The record of what is in place, as far as it holds stamps. */
export interface StampRecord {
  /** As in `KnownStamps`. */
  readonly stamps: KnownStamps['kept']
  /** Throws if it cannot be written. */
  readonly keep: (stamp: Stamp) => void
}

/** What is put in place. */
export interface Replacement {
  readonly hash: ContentHash
  readonly isLocal: boolean
  /** The config that it replaces, in other bytes. */
  readonly isRewording: boolean
}

/** `foundAt`: nobody recorded it, and the agent found what is in place at that time. */
export interface Since {
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
    const { bootId, sinceUs, foundUs } = stamp
    return {
      since: sinceUs === undefined ? undefined : { bootId, monotonicUs: sinceUs },
      ...(foundUs !== undefined && { foundAt: { bootId, monotonicUs: foundUs } }),
    }
  }

  /**
   * What to record of a replacement that is about to begin. After a crash in it, another config
   * that is found in place counts from then, and another wording since the first one was in place.
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
  replace(begun: Stamp | undefined, { hash, isLocal }: Replacement, rename: () => void, keep: StampRecord['keep']): void {
    if (begun !== undefined) this.#save(begun)
    rename()
    if (begun?.rewording !== undefined) return
    const { bootId, monotonicUs } = this.#clock.now()
    const stamp = { bootId, hash, isLocal, sinceUs: monotonicUs }
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

/**
 * Records since when a config file has its present content, on CLOCK_MONOTONIC: a kubelet that was
 * started earlier does not run it. Stored under /run, because a reboot starts kubelet anyway. A
 * record that cannot be written is kept in memory: it must not keep a node from falling back.
 */
import type { ContentHash } from '../decision/config-source.ts'
import type { ActivationStamp } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'

interface Stamped {
  readonly bootId: string
  readonly hash: ContentHash
  /**
   * It is the local config, and no replacement has begun since. undefined, as in the records of
   * earlier versions: not known.
   */
  readonly isLocal?: boolean | undefined
  /** undefined: since before the agent's first observation in this boot. */
  readonly sinceUs: number | undefined
  /** The same config in other bytes, which may have replaced it. */
  readonly rewording?: ContentHash | undefined
}

/** What is put in place. */
interface Replacement {
  readonly hash: ContentHash
  readonly isLocal: boolean
  /** The config that it replaces, in other bytes. */
  readonly isRewording: boolean
}

export class ReplacementStamps {
  readonly #files: Files
  readonly #path: string
  readonly #clock: Clock
  #last: Stamped | undefined
  #isWritten = true

  constructor(files: Files, path: string, clock: Clock) {
    this.#files = files
    this.#path = path
    this.#clock = clock
  }

  /**
   * Unknown content was written by something else, or by a replacement that crashed before `stamp`.
   * The time is not known, so it counts from now. But local is one config, whatever its file holds:
   * where an administrator writes it anew, it is in place since it was. So is a rewording.
   */
  since(hash: ContentHash, isLocal: boolean): ActivationStamp | undefined {
    const { bootId, monotonicUs } = this.#clock.now()
    this.#write()
    const last = this.#last ?? this.#load()
    const isSame = last?.hash === hash || last?.rewording === hash || (isLocal && last?.isLocal === true)
    if (last === undefined || last.bootId !== bootId) this.#save({ bootId, hash, isLocal, sinceUs: undefined })
    else if (!isSame) this.#save({ bootId, hash, isLocal, sinceUs: monotonicUs })
    else if (last.hash !== hash || last.isLocal !== isLocal) this.#save({ bootId, hash, isLocal, sinceUs: last.sinceUs })
    const sinceUs = this.#last?.sinceUs
    return sinceUs === undefined ? undefined : { bootId, monotonicUs: sinceUs }
  }

  /**
   * Carries out a replacement.
   *
   * @param inPlace undefined: there is no file
   */
  replace(inPlace: ContentHash | undefined, { hash, isLocal, isRewording }: Replacement, rename: () => void): void {
    const keepsTime = isRewording && inPlace !== undefined
    if (keepsTime) this.expectRewording(inPlace, hash)
    else if (inPlace !== undefined) this.expectReplacement(inPlace)
    rename()
    if (!keepsTime) this.stamp(hash, isLocal)
  }

  /** A replacement begins. After a crash in it, whatever is found in place counts from then. */
  expectReplacement(inPlace: ContentHash): void {
    this.since(inPlace, false)
  }

  /** The same, by the config in other bytes. Either counts since the first one was in place. */
  expectRewording(inPlace: ContentHash, rewording: ContentHash): void {
    this.expectReplacement(inPlace)
    if (this.#last !== undefined) this.#save({ ...this.#last, rewording })
  }

  /** Records that the content is in place as of now. */
  stamp(hash: ContentHash, isLocal: boolean): void {
    const { bootId, monotonicUs } = this.#clock.now()
    this.#save({ bootId, hash, isLocal, sinceUs: monotonicUs })
  }

  #save(stamped: Stamped): void {
    this.#last = stamped
    this.#isWritten = false
    this.#write()
  }

  #write(): void {
    if (this.#isWritten) return
    try {
      this.#files.replace(this.#path, JSON.stringify(this.#last))
      this.#isWritten = true
    } catch {
      // It stays in memory. If the agent ends before it can be written, the disk has an older
      // record. Kubelet is then restarted once more than necessary. Or, if what that record names
      // is in place again, kubelet is taken for one that runs it.
    }
  }

  #load(): Stamped | undefined {
    try {
      const { bootId, hash, isLocal, sinceUs, rewording } = JSON.parse(this.#files.read(this.#path)?.toString() ?? '') as Partial<Stamped>
      this.#last = typeof bootId === 'string' && typeof hash === 'string' ? { bootId, hash, isLocal, sinceUs, rewording } : undefined
    } catch {
      this.#last = undefined
    }
    return this.#last
  }
}

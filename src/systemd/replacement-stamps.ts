/**
 * Since when a config file has the content it has, on CLOCK_MONOTONIC: a kubelet started before that does not run it. Kept under /run, since a
 * reboot starts kubelet anyway. A record that cannot be written is kept in memory: it must not keep a node from falling back.
 */
import type { ContentHash } from '../decision/config-source.ts'
import type { ActivationStamp } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'

interface Stamped {
  readonly bootId: string
  readonly hash: ContentHash
  /** undefined: so it was when this boot's first look was taken. */
  readonly sinceUs: number | undefined
}

export class ReplacementStamps {
  readonly #files: Files
  readonly #path: string
  readonly #clock: Clock
  #last: Stamped | undefined

  constructor(files: Files, path: string, clock: Clock) {
    this.#files = files
    this.#path = path
    this.#clock = clock
  }

  /**
   * To be asked before a replacement, too, with the content that is still there. Content that is new here came either from outside or through a
   * replacement that a crash cut off before `stamp`: nobody knows when, so it counts from now.
   */
  since(hash: ContentHash): ActivationStamp | undefined {
    const { bootId } = this.#clock.now()
    const last = this.#last ?? this.#load()
    if (last === undefined || last.bootId !== bootId) this.#save({ bootId, hash, sinceUs: undefined })
    else if (last.hash !== hash) this.stamp(hash)
    const sinceUs = this.#last?.sinceUs
    return sinceUs === undefined ? undefined : { bootId, monotonicUs: sinceUs }
  }

  /** The content is in place as of now. */
  stamp(hash: ContentHash): void {
    const { bootId, monotonicUs } = this.#clock.now()
    this.#save({ bootId, hash, sinceUs: monotonicUs })
  }

  #save(stamped: Stamped): void {
    this.#last = stamped
    try {
      this.#files.replace(this.#path, JSON.stringify(stamped))
    } catch {
      // In memory it is. Should the agent end before it can be written, kubelet is restarted once too often.
    }
  }

  #load(): Stamped | undefined {
    try {
      const { bootId, hash, sinceUs } = JSON.parse(this.#files.read(this.#path)?.toString() ?? '') as Partial<Stamped>
      this.#last = typeof bootId === 'string' && typeof hash === 'string' ? { bootId, hash, sinceUs } : undefined
    } catch {
      this.#last = undefined
    }
    return this.#last
  }
}

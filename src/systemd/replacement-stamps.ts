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
  /** undefined: since before the agent's first observation in this boot. */
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
   * Also called just before a replacement, with the content that is still in place. Unknown content
   * was written by something else, or by a replacement that crashed before `stamp`. The time is not
   * known, so it counts from now.
   */
  since(hash: ContentHash): ActivationStamp | undefined {
    const { bootId } = this.#clock.now()
    const last = this.#last ?? this.#load()
    if (last === undefined || last.bootId !== bootId) this.#save({ bootId, hash, sinceUs: undefined })
    else if (last.hash !== hash) this.stamp(hash)
    const sinceUs = this.#last?.sinceUs
    return sinceUs === undefined ? undefined : { bootId, monotonicUs: sinceUs }
  }

  /** Records that the content is in place as of now. */
  stamp(hash: ContentHash): void {
    const { bootId, monotonicUs } = this.#clock.now()
    this.#save({ bootId, hash, sinceUs: monotonicUs })
  }

  #save(stamped: Stamped): void {
    this.#last = stamped
    try {
      this.#files.replace(this.#path, JSON.stringify(stamped))
    } catch {
      // It stays in memory. If the agent ends before it can be written, kubelet is restarted once
      // more than necessary.
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

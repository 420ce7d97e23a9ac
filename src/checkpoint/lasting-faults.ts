/**
 * Which files the disk has failed to give up (EIO) for so long that there is nothing left to wait for. One failure means nothing is known: whoever reads lets
 * it pass as an error, and nothing is changed. A sector that stays unreadable must not keep the agent from everything else: then what is there counts as
 * missing, though nobody knows that it is lost. Pure, but for the clock and the log it is given.
 */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { FileError } from './file-error.ts'

/** Long enough for a path to a disk to come back, and well within the time a node has for falling back. */
const LASTING_US = 30e6

export class LastingFaults {
  readonly #clock: Clock
  readonly #log: Log
  readonly #sinceUs = new Map<string, number>()
  readonly #lasting = new Set<string>()

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** Reading there failed: whether it has for so long. Any other error than one of the disk (rights, too many open files) is not about this file. */
  hasLasted(path: string, cause: unknown): boolean {
    if (!(cause instanceof FileError) || cause.code !== 'EIO') return false
    const nowUs = this.#clock.now().monotonicUs
    const sinceUs = this.#sinceUs.get(path) ?? nowUs
    this.#sinceUs.set(path, sinceUs)
    if (nowUs - sinceUs < LASTING_US) return false
    if (!this.#lasting.has(path)) this.#log.error(`${path} stays unreadable, going on without it`, { error: cause })
    this.#lasting.add(path)
    return true
  }

  /** As of the last time it was read. */
  isLasting(path: string): boolean {
    return this.#lasting.has(path)
  }

  worked(path: string): void {
    this.#sinceUs.delete(path)
    if (this.#lasting.delete(path)) this.#log.info(`${path} can be read again`)
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The files whose reads the disk has failed for so long that waiting longer is useless. After a
 * single failure nothing is known: the read throws, and nothing changes. But a sector that stays
 * unreadable must not stop the agent from working: its file then counts as missing, although it may
 * not be lost. Pure, except for the clock and the log that are passed in.
 */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { FileError, isOfDisk } from './file-error.ts'

/**
 * Long enough for the path to a disk to recover, and well within the time limit for falling back.
 */
const LASTING_US = 30e6

/** For what only lists, and takes nothing for lost. */
export const anyError = (_cause: FileError): boolean => true

export class LastingFaults {
  readonly #clock: Clock
  readonly #log: Log
  readonly #sinceUs = new Map<string, number>()
  readonly #lasting = new Set<string>()

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /**
   * Counts the same paths by itself: for a reader of another part of them, whose success says
   * nothing here.
   */
  apart(): LastingFaults {
    return new LastingFaults(this.#clock, this.#log)
  }

  /**
   * Records a failed read. Returns whether reads of this path have failed for long enough.
   *
   * @param counts whether the error counts. Those that are not about the disk (permissions, too
   * many open files) say nothing about the content of a file
   */
  hasLasted(path: string, cause: unknown, counts: (cause: FileError) => boolean = isOfDisk): boolean {
    if (!(cause instanceof FileError) || !counts(cause)) return false
    const nowUs = this.#clock.now().monotonicUs
    const sinceUs = this.#sinceUs.get(path) ?? nowUs
    this.#sinceUs.set(path, sinceUs)
    if (nowUs - sinceUs < LASTING_US) return false
    if (!this.#lasting.has(path)) this.#log.error(`${path} stays unreadable; continuing without it`, { error: cause })
    this.#lasting.add(path)
    return true
  }

  /** As of the last read. */
  isLasting(path: string): boolean {
    return this.#lasting.has(path)
  }

  /** Records a successful read. */
  worked(path: string): void {
    this.#sinceUs.delete(path)
    if (this.#lasting.delete(path)) this.#log.info(`${path} can be read again`)
  }
}

/**
 * What is said of following one object: one line for each fact that changes, however often the same is met again. Reading and watching are two facts: a list
 * that works says nothing of a watch that fails after it. Pure, but for the log it is given.
 */
import type { Log } from '../ports/log.ts'
import { isForbidden, isWorking, type Next, type ReadEnd, type WatchEnd } from './reflect.ts'

/** One broken connection is everyday. */
const WORTH_SAYING = 2

export class WatchTrouble {
  readonly #log: Log
  readonly #what: string
  /** Causes that were said since it last worked. */
  readonly #unreadable = new Set<string>()
  readonly #unwatchable = new Set<string>()
  /** That it is polled instead was said. */
  #polled = false

  constructor(log: Log, what: string) {
    this.#log = log
    this.#what = what
  }

  readEnded(end: ReadEnd, { state }: Next): void {
    if (end.kind !== 'read') {
      this.#say(this.#unreadable, end.detail, state.failures)
      return
    }
    if (this.#unreadable.size > 0) this.#log.info(`${this.#what} can be read again`)
    this.#unreadable.clear()
  }

  /** Something arrived on a watch that has lived so long. */
  received(livedMs: number): void {
    if (!isWorking(livedMs)) return
    if (this.#unwatchable.size > 0 || this.#polled) this.#log.info(`${this.#what} is watched again`)
    this.#unwatchable.clear()
    this.#polled = false
  }

  watchEnded({ end, livedMs }: WatchEnd, { state }: Next): void {
    this.#log.debug(`watch of ${this.#what} is over`, { end, livedMs })
    this.received(livedMs)
    if (end.kind === 'ended') return
    // Too little to say until it is forbidden for good.
    if (!isForbidden(end)) this.#say(this.#unwatchable, end.detail, state.failures)
    if (!state.polling || this.#polled) return
    this.#log.warn(`watching ${this.#what} is forbidden: reading it every minute instead`)
    this.#polled = true
  }

  #say(said: Set<string>, detail: string, failures: number): void {
    if (failures < WORTH_SAYING || said.has(detail)) {
      this.#log.debug(`${this.#what}: ${detail}`, { failures })
      return
    }
    said.add(detail)
    this.#log.warn(`${this.#what} cannot be followed: ${detail}; trying again, at least once a minute`)
  }
}

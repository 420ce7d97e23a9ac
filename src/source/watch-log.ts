/**
 * Logs the state of one watched object: one line per change, and none for a repeated failure. Read
 * and watch count separately: a list may work while the watch after it fails. Pure, apart from the
 * log that is passed in.
 */
import type { Log } from '../ports/log.ts'
import { isForbidden, isWorking, type Next, type ReadEnd, type RequestFailure, type WatchEnd } from './reflect.ts'

/** A single broken connection is common; a malformed answer is not. */
const FAILURES_TO_WARN = 2

export class WatchLog {
  readonly #log: Log
  readonly #what: string
  /** Causes logged since the last success. */
  readonly #readFailures = new Set<string>()
  readonly #watchFailures = new Set<string>()
  /** Polling was logged. */
  #loggedPolling = false

  constructor(log: Log, what: string) {
    this.#log = log
    this.#what = what
  }

  readEnded(end: ReadEnd, { state }: Next): void {
    if (end.kind !== 'read') {
      this.#logFailure(this.#readFailures, end, state.failures)
      return
    }
    if (this.#readFailures.size > 0) this.#log.info(`${this.#what} can be read again`)
    this.#readFailures.clear()
  }

  /** To be called when something arrives on a watch that has lasted this long. */
  received(livedMs: number): void {
    if (!isWorking(livedMs)) return
    if (this.#watchFailures.size > 0 || this.#loggedPolling) this.#log.info(`${this.#what} is watched again`)
    this.#watchFailures.clear()
    this.#loggedPolling = false
  }

  watchEnded({ end, livedMs }: WatchEnd, { state }: Next): void {
    this.#log.debug(`watch of ${this.#what} ended`, { end, livedMs })
    this.received(livedMs)
    if (end.kind === 'ended') return
    // A 403 is logged only once polling starts.
    if (!isForbidden(end)) this.#logFailure(this.#watchFailures, end, state.failures)
    if (!state.polling || this.#loggedPolling) return
    this.#log.warn(`watching ${this.#what} is forbidden: reading it every minute instead`)
    this.#loggedPolling = true
  }

  #logFailure(logged: Set<string>, { kind, detail }: RequestFailure, failures: number): void {
    const isCommon = kind !== 'malformed' && failures < FAILURES_TO_WARN
    if (isCommon || logged.has(detail)) {
      this.#log.debug(`${this.#what}: ${detail}`, { failures })
      return
    }
    logged.add(detail)
    this.#log.warn(`${this.#what} cannot be followed: ${detail}; retrying at least once a minute`)
  }
}

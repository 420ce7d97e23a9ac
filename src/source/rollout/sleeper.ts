/** A sleep that can be ended from outside. What wakes it while nothing sleeps ends the next one. */
import type { WatchTiming } from '../watch-loop.ts'

/** A timer of Node.js takes no more than 2^31 ms. */
const LONGEST_MS = 3_600_000

export class Sleeper {
  readonly #pace: Pick<WatchTiming, 'sleep'>
  #current: AbortController | undefined
  #isWoken = false

  constructor(pace: Pick<WatchTiming, 'sleep'>) {
    this.#pace = pace
  }

  wake(): void {
    this.#isWoken = true
    this.#current?.abort()
  }

  /** What wakes it from now on ends the next sleep. */
  begin(): void {
    this.#isWoken = false
  }

  async sleep(ms: number): Promise<void> {
    if (this.#isWoken) return
    this.#current = new AbortController()
    await this.#pace.sleep(Math.min(ms, LONGEST_MS), this.#current.signal)
  }
}

/** Wakes the sleeping loop. Wakes that come while nothing sleeps are remembered as one. */
import type { Clock } from '../ports/clock.ts'

/** The longest delay that setTimeout accepts: 2^31 - 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class Waker {
  #woken = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#woken = true
    this.#wake?.()
  }

  /** Resolves at the time, at the next wake, or when the signal aborts. */
  async sleepUntil(untilUs: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (!this.#woken && !signal.aborted) {
      const delayMs = Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil((untilUs - clock.now().monotonicUs) / 1000)))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, delayMs)
        function done() {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
        this.#wake = done
        signal.addEventListener('abort', done)
      })
    }
    this.#wake = undefined
    this.#woken = false
  }
}

/** Happens once, and others wait for it. */
export class Occasion {
  readonly happened: Promise<void>
  /** Repeated calls change nothing. */
  readonly happen: () => void

  constructor() {
    let happen = () => {}
    this.happened = new Promise<void>((resolve) => {
      happen = resolve
    })
    this.happen = happen
  }
}

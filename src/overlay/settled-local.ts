/**
 * The local config once it has stayed the same for a while. Until then the one before counts. A
 * look that cannot tell does not count. Pure: the clock and the timer are passed in.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LocalConfigView } from '../ports/assignment-source.ts'

export interface SettlePace {
  /** Monotonic. */
  nowMs(): number
  /** Ends early, without throwing, when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const SETTLE_MS = 1000
/** A timer may fire a little early. */
const SLACK_MS = 20

export class SettledLocal {
  readonly #pace: SettlePace
  readonly #onSettled: () => void
  readonly #stopper = new AbortController()
  #settled: LocalConfigView | undefined
  #unsettled: { readonly view: LocalConfigView; readonly sinceMs: number } | undefined
  #nextLook: Promise<void> | undefined

  /** @param onSettled what was seen last may have settled */
  constructor(pace: SettlePace, onSettled: () => void) {
    this.#pace = pace
    this.#onSettled = onSettled
  }

  /** undefined: nothing has settled yet. */
  settle(view: LocalConfigView): LocalConfigView | undefined {
    if (view.kind === 'unknown') return this.#settled ?? view
    if (isDeepStrictEqual(view, this.#settled)) {
      this.#unsettled = undefined
      return this.#settled
    }
    const nowMs = this.#pace.nowMs()
    if (!isDeepStrictEqual(view, this.#unsettled?.view)) this.#unsettled = { view, sinceMs: nowMs }
    const sinceMs = this.#unsettled?.sinceMs ?? nowMs
    if (nowMs - sinceMs < SETTLE_MS) this.#lookAgain()
    else this.#settled = view
    return this.#settled
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    await this.#nextLook
  }

  #lookAgain(): void {
    this.#nextLook ??= this.#pace.sleep(SETTLE_MS + SLACK_MS, this.#stopper.signal).then(() => {
      this.#nextLook = undefined
      if (!this.#stopper.signal.aborted) this.#onSettled()
    })
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * A watched directory whose content must settle before it counts: the first half of a YAML file is
 * often valid YAML, and a file that is being replaced may be missing for a moment. The owner looks
 * at the directory whenever something may have changed; while anything is unsettled, it looks
 * again. Pure: the watch, the clock and the timer are passed in.
 */

export interface SettlingDirectoryDeps {
  readonly path: string
  /** Calls back when something may have changed, and at regular intervals. */
  readonly watch: (path: string, onChange: () => void) => { close(): Promise<void> }
  /** `nowMs` is monotonic. `sleep` ends early, without throwing, when the signal aborts. */
  readonly pace: { nowMs(): number; sleep(ms: number, signal: AbortSignal): Promise<void> }
  /** How long content must stay the same. */
  readonly settleMs?: number | undefined
}

/** Content that was seen, and since when it has been the same. */
export interface Unsettled<T> {
  readonly content: T
  readonly sinceMs: number
}

const SETTLE_MS = 300
/** A timer may fire a little early. */
const SETTLE_SLACK_MS = 20

export class SettlingDirectory {
  readonly #deps: SettlingDirectoryDeps
  readonly #settleMs: number
  readonly #onLook: () => void
  readonly #stopper = new AbortController()
  #watch: { close(): Promise<void> } | undefined
  #nextLook: Promise<void> | undefined

  /** @param onLook reads the directory; never called after `stop` */
  constructor(deps: SettlingDirectoryDeps, onLook: () => void) {
    this.#deps = deps
    this.#settleMs = deps.settleMs ?? SETTLE_MS
    this.#onLook = onLook
  }

  /** Looks for the first time before it returns. */
  start(): void {
    this.#watch = this.#deps.watch(this.#deps.path, () => this.look())
    this.look()
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    await this.#watch?.close()
    await this.#nextLook
  }

  look(): void {
    if (!this.#stopper.signal.aborted) this.#onLook()
  }

  /** Looks once more when what is unsettled now can have settled. */
  lookAgain(): void {
    this.#nextLook ??= this.#deps.pace.sleep(this.#settleMs + SETTLE_SLACK_MS, this.#stopper.signal).then(() => {
      this.#nextLook = undefined
      this.look()
    })
  }

  /**
   * Returns undefined once `content` has stayed the same for the settle time.
   * @param before what the last look returned for the same place
   */
  settle<T>(before: Unsettled<T> | undefined, content: T, isSame: (a: T, b: T) => boolean): Unsettled<T> | undefined {
    const nowMs = this.#deps.pace.nowMs()
    const unsettled = before !== undefined && isSame(before.content, content) ? before : { content, sinceMs: nowMs }
    return nowMs - unsettled.sinceMs < this.#settleMs ? unsettled : undefined
  }
}

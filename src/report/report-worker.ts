// SPDX-License-Identifier: Apache-2.0
/**
 * A background task that publishes one kind of report, one request at a time, and never blocks the
 * loop. Before each request it checks again what is due; `wake` only ends the wait and carries no
 * state, so several calls cause one check.
 */
import type { Log } from '../ports/log.ts'

export interface Work {
  /**
   * Milliseconds until the next attempt; called again after each wake. 0: now. undefined: nothing
   * to do.
   */
  dueInMs(): number | undefined
  attempt(): Promise<void>
}

/** Resolves after `ms`, or sooner when the signal aborts; never rejects. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** After a bug in `attempt`: the agent keeps running, and retries slowly. */
const AFTER_BUG_MS = 60_000

export class ReportWorker {
  readonly #work: Work
  readonly #sleep: Sleep
  readonly #log: Log
  #isWoken = false
  #endWait: (() => void) | undefined
  #stopping = false
  #task: Promise<void> | undefined

  constructor(work: Work, sleep: Sleep, log: Log) {
    this.#work = work
    this.#sleep = sleep
    this.#log = log
  }

  start(): void {
    this.#task ??= this.#run()
  }

  wake(): void {
    this.#isWoken = true
    this.#endWait?.()
  }

  /** Sends what is due now, without waiting for retries; resolves when that is done. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.wake()
    await this.#task
  }

  async #run(): Promise<void> {
    for (;;) {
      // Read before the turn: what arrives during a turn gets a turn of its own.
      const isLast = this.#stopping
      const waitMs = await this.#turn()
      if (waitMs === 0) continue
      if (isLast) return
      await this.#wait(waitMs)
    }
  }

  async #turn(): Promise<number | undefined> {
    try {
      const dueInMs = this.#work.dueInMs()
      if (dueInMs !== 0) return dueInMs
      await this.#work.attempt()
      return 0
    } catch (error) {
      this.#log.error('reporting failed because of a bug in the agent; retrying', { error })
      return AFTER_BUG_MS
    }
  }

  async #wait(ms: number | undefined): Promise<void> {
    const nap = new AbortController()
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#endWait = resolve
        if (ms !== undefined) void this.#sleep(ms, nap.signal).then(resolve)
      })
    }
    nap.abort()
    this.#endWait = undefined
    this.#isWoken = false
  }
}

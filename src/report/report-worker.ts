/**
 * One queue of reports and the task that works it off, one request at a time, beside the loop and never in its way. What is due, and
 * when, is always asked anew; ringing only wakes the task and carries no state, so many rings are one look.
 */
import type { Log } from '../ports/log.ts'

export interface Work {
  /** undefined: nothing to do. 0: now. Otherwise nothing before so many milliseconds, unless the bell rings and this answers anew. */
  dueInMs(): number | undefined
  attempt(): Promise<void>
}

/** Resolves after `ms`, or sooner when the signal aborts; never rejects. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** After a bug in `attempt`: keep the agent, do not spin. */
const AFTER_BUG_MS = 60_000

export class Lane {
  readonly #work: Work
  readonly #sleep: Sleep
  readonly #log: Log
  #rung = false
  #wake: (() => void) | undefined
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

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  /** Sends what is due now, but waits for no retry; resolves when that is done. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.ring()
    await this.#task
  }

  async #run(): Promise<void> {
    for (;;) {
      // Asked before the look: what came in during it gets a look of its own.
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
      this.#log.error('reporting failed in an unforeseen way; it is tried again', { error })
      return AFTER_BUG_MS
    }
  }

  async #wait(ms: number | undefined): Promise<void> {
    const nap = new AbortController()
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (ms !== undefined) void this.#sleep(ms, nap.signal).then(resolve)
      })
    }
    nap.abort()
    this.#wake = undefined
    this.#rung = false
  }
}

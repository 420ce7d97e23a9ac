/**
 * When systemd is told what. A message follows a whole turn of the loop and nothing else, so that a loop that hangs falls silent and
 * systemd's watchdog restarts the agent. Each one says everything: that the agent is up, that the loop turned, and what it waits for. So a
 * message that is lost (older systemd drops one whose sender has gone) is made good by the next. Pure but for the clock and the sender
 * that it is handed.
 */

import type { Snapshot } from '../decision/snapshot.ts'
import type { Step } from '../decision/step.ts'
import type { Clock } from '../ports/clock.ts'
import type { PassObserver } from '../ports/pass-observer.ts'
import { describeTurn } from './status-line.ts'

/**
 * The loop's own pace, where the unit has its WatchdogSec=3min. systemd before 246 drops a message whose sender is gone before it is looked at, and
 * without capabilities a sender cannot lend the message the agent's name: there a good part of them are lost.
 */
const BEATS_PER_WATCHDOG = 12
const DEFAULT_BEAT_US = 60e6
/** A message costs a child process, 4 ms of CPU: what changes is said at once, but only so often. */
const BURST = 3
const BURST_US = 15e6

export interface HeartbeatOptions {
  readonly clock: Clock
  /** Of the unit; undefined: it has none. */
  readonly watchdogUs: number | undefined
  readonly send: (notification: Readonly<Record<string, string>>) => void
}

export class Heartbeat implements Pick<PassObserver, 'turned'> {
  readonly #options: HeartbeatOptions
  /** The loop must not sleep longer than this. */
  readonly beatUs: number
  /** undefined: it has not come to rest yet. */
  #status: string | undefined
  #told: string | undefined
  /** When it was told, the latest last. */
  #toldAtUs: readonly number[] = []
  #stopping = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.beatUs = options.watchdogUs === undefined ? DEFAULT_BEAT_US : options.watchdogUs / BEATS_PER_WATCHDOG
  }

  turned(step: Step, snapshot: Snapshot | undefined): void {
    if (this.#stopping) return
    // Steps follow each other within moments; what the agent comes to rest in is worth a line.
    if (step.kind === 'wait') this.#status = describeTurn(step, snapshot)
    const nowUs = this.#options.clock.now().monotonicUs
    if (!this.#isDue(nowUs)) return
    this.#told = this.#status
    this.#toldAtUs = [...this.#toldAtUs, nowUs].slice(-BURST)
    this.#options.send({ READY: '1', WATCHDOG: '1', STATUS: this.#status ?? 'starting' })
  }

  /** The last that is said. */
  stopping(): void {
    this.#stopping = true
    this.#options.send({ STOPPING: '1', STATUS: 'stopping; kubelet runs on as it is' })
  }

  #isDue(nowUs: number): boolean {
    const lastUs = this.#toldAtUs.at(-1)
    if (lastUs === undefined || nowUs - lastUs >= this.beatUs) return true
    return this.#status !== this.#told && this.#toldAtUs.filter((atUs) => nowUs - atUs < BURST_US).length < BURST
  }
}

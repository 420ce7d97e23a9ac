// SPDX-License-Identifier: Apache-2.0
/**
 * Decides when to notify systemd, and of what. Only a complete pass of the loop sends a message: if
 * the loop hangs, no message follows, and systemd's watchdog restarts the agent. Each message
 * contains the whole state: the agent is ready, the loop is alive, and what it waits for. A lost
 * message (older systemd drops one whose sender has exited) is therefore made up for by the next.
 * Pure, except for the clock and the sender that are passed in.
 */

import type { Desired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Step, Wait } from '../decision/step.ts'
import type { Clock } from '../ports/clock.ts'
import { onOneLine } from '../values/cut.ts'

/**
 * With the unit's WatchdogSec=3min, a message every 20 s, which is the pace of the loop on a
 * settled node. systemd before 246 drops a message if its sender has exited before systemd reads
 * it, and without capabilities the sender cannot send it in the agent's name: many messages are
 * lost there.
 */
const BEATS_PER_WATCHDOG = 9
const DEFAULT_BEAT_US = 60e6
/**
 * A message costs a child process, 4 ms of CPU: a new status is sent immediately, but only this
 * often.
 */
const BURST = 3
const BURST_US = 15e6

interface HeartbeatOptions {
  readonly clock: Clock
  /** The unit's watchdog. undefined: it has none. */
  readonly watchdogUs: number | undefined
  readonly send: (notification: Readonly<Record<string, string>>) => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  /** The longest time that the loop may sleep. */
  readonly beatUs: number
  /** undefined: the loop has not waited yet. */
  #status: string | undefined
  #sent: string | undefined
  /** The times of the latest messages, oldest first. */
  #sentAtUs: readonly number[] = []
  #stopping = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.beatUs = options.watchdogUs === undefined ? DEFAULT_BEAT_US : options.watchdogUs / BEATS_PER_WATCHDOG
  }

  turned(step: Step, snapshot: Snapshot | undefined): void {
    if (this.#stopping) return
    // Steps follow each other within moments; only what the agent then waits for is worth a status
    // line.
    if (step.kind === 'wait') this.#status = describeTurn(step, snapshot)
    const nowUs = this.#options.clock.now().monotonicUs
    const nextPassUs = step.kind === 'wait' ? step.untilUs : nowUs
    if (!this.#isDue(nowUs, nextPassUs)) return
    this.#sent = this.#status
    this.#sentAtUs = [...this.#sentAtUs, nowUs].slice(-BURST)
    this.#options.send({ READY: '1', WATCHDOG: '1', STATUS: this.#status ?? 'starting' })
  }

  /** Sends the last message. */
  stopping(): void {
    this.#stopping = true
    this.#options.send({ STOPPING: '1', STATUS: 'stopping; kubelet keeps running unchanged' })
  }

  #isDue(nowUs: number, nextPassUs: number): boolean {
    const lastUs = this.#sentAtUs.at(-1)
    if (lastUs === undefined || nowUs - lastUs >= this.beatUs) return true
    // The next pass would be too late. Passes that follow each other closely send one message.
    if (nowUs - lastUs >= this.beatUs / 2 && nextPassUs - lastUs > this.beatUs) return true
    return this.#status !== this.#sent && this.#sentAtUs.filter((atUs) => nowUs - atUs < BURST_US).length < BURST
  }
}

const LONGEST = 300

/**
 * The status line of the agent in `systemctl status`: what it does or waits for, as in
 * `kubelet-cfg-agent status`. If the assignment is not known, the line begins with the reason,
 * because that needs an operator's attention.
 * @param snapshot undefined: the node could not be observed; the wait contains the reason
 */
export function describeTurn({ phase, detail }: Wait, snapshot: Snapshot | undefined): string {
  const state = `${phase}: ${detail}`
  const missing = snapshot && findMissing(snapshot)
  return plain(missing === undefined ? state : `${missing} (${state})`)
}

/** Why the assignment of this node is not known. undefined: it is known. */
function findMissing({ desired, requests }: Snapshot): string | undefined {
  // Until `resume`, the assignment does not matter.
  if (requests.hold === 'local') return 'held on the local config until resume'
  return describeDesired(desired)
}

function describeDesired(desired: Desired): string | undefined {
  switch (desired.kind) {
    case 'unknown':
      return `waiting for the assignment: ${desired.detail}`
    case 'invalid':
      return `the assignment is not valid: ${desired.detail}`
    case 'local':
      return undefined
    case 'config-map': {
      const { ref, object } = desired
      if (object.kind === 'found') return undefined
      const what = `waiting for ConfigMap ${ref.namespace}/${ref.name}`
      return object.kind === 'pending' ? what : `${what}: ${object.detail}`
    }
  }
}

/** Keeps it on one line: a line break would start another assignment of sd_notify(3). */
function plain(text: string): string {
  const line = onOneLine(text)
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}...` : line
}

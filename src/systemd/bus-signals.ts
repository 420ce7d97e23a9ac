// SPDX-License-Identifier: Apache-2.0
/**
 * Listens on the system bus to what systemd says of kubelet's unit. It keeps one connection, opens
 * it again after a while where it ends or hangs, and never throws: without a bus, systemd is asked
 * as if there were none.
 */
import { connect, type Socket } from 'node:net'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { UnitSignals } from '../ports/unit.ts'
import { errorMessage } from '../values/errors.ts'
import { BusConversation, HintPace } from './bus-conversation.ts'

interface BusSignalsOptions {
  /** The path of the bus's socket. */
  readonly socket: string
  readonly unit: string
  readonly clock: Clock
  readonly log: Log
  /** Only wakes the loop. */
  readonly onHint: () => void
  readonly pace?: BusPace
}

interface BusPace {
  /** From the connection until the bus and systemd have answered all calls. */
  readonly answerMs: number
  readonly firstRetryMs: number
  readonly lastRetryMs: number
}

const PACE: BusPace = { answerMs: 10_000, firstRetryMs: 1_000, lastRetryMs: 300_000 }

export class BusSignals implements UnitSignals {
  readonly #options: Required<BusSignalsOptions>
  #socket: Socket | undefined
  #conversation: BusConversation | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #hints = new HintPace()
  #hintTimer: NodeJS.Timeout | undefined
  #openedAtUs = 0
  #retryMs: number
  /** Why the bus is not heard, as last reported. Empty: it is heard. */
  #problem: string | undefined
  #stopped = false

  constructor(options: BusSignalsOptions) {
    this.#options = { pace: PACE, ...options }
    this.#retryMs = this.#options.pace.firstRetryMs
  }

  quietSinceUs(): number | undefined {
    return this.#conversation?.quietSinceUs
  }

  start(): void {
    const { socket: path, unit, pace } = this.#options
    const socket = connect(path)
    const conversation = new BusConversation(unit)
    let problem = 'the bus has closed the connection'
    this.#openedAtUs = this.#options.clock.now().monotonicUs
    this.#socket = socket
    this.#conversation = conversation
    this.#timer = setTimeout(() => socket.destroy(new Error('the bus does not answer')), pace.answerMs)
    socket.on('connect', () => socket.write(conversation.greet(process.getuid?.() ?? 0)))
    socket.on('data', (chunk) => {
      try {
        this.#hear(socket, conversation, chunk)
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined)
      }
    })
    socket.on('error', (error) => {
      problem = errorMessage(error)
    })
    socket.on('close', () => this.#closed(problem))
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    clearTimeout(this.#hintTimer)
    this.#socket?.destroy()
  }

  #hear(socket: Socket, conversation: BusConversation, chunk: Buffer): void {
    const nowUs = this.#options.clock.now().monotonicUs
    const { write, hint } = conversation.hear(chunk, nowUs)
    for (const bytes of write) socket.write(bytes)
    if (conversation.quietSinceUs !== undefined) {
      clearTimeout(this.#timer)
      this.#report('')
    }
    if (hint && this.#hintTimer === undefined) this.#hint(this.#hints.dueUs(nowUs) - nowUs)
  }

  #hint(delayUs: number): void {
    if (delayUs > 0) {
      this.#hintTimer = setTimeout(() => this.#hint(0), Math.ceil(delayUs / 1000))
      return
    }
    this.#hintTimer = undefined
    this.#hints.woken(this.#options.clock.now().monotonicUs)
    this.#options.onHint()
  }

  #closed(problem: string): void {
    this.#conversation = undefined
    clearTimeout(this.#timer)
    if (this.#stopped) return
    this.#report(problem)
    const { clock, pace } = this.#options
    const livedMs = (clock.now().monotonicUs - this.#openedAtUs) / 1000
    const retryMs = livedMs >= pace.lastRetryMs ? pace.firstRetryMs : this.#retryMs
    this.#retryMs = Math.min(pace.lastRetryMs, retryMs * 2)
    this.#timer = setTimeout(() => this.start(), retryMs)
  }

  #report(problem: string): void {
    if (problem === this.#problem) return
    this.#problem = problem
    const { log, socket } = this.#options
    if (problem === '') log.info("subscribed to systemd's signals about kubelet", { bus: socket })
    else log.info(`cannot receive systemd's signals about kubelet, so it is asked more often: ${problem}`, { bus: socket })
  }
}

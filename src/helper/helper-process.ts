// SPDX-License-Identifier: Apache-2.0
/**
 * The helper: a second process of this program that does what takes much code and works on what
 * others wrote, such as the rules of preflight. It is started when it is needed, and ended
 * when it has had nothing to do for a while, so a node that is quiet does not pay for it. Its
 * memory is limited by a flag of Node.js, each answer in time and size. A helper that fails takes
 * all that it was asked with it: each asker gets an error, and the next question starts another
 * one.
 */
import { type RunningProgram, startProgram } from '../process/run-command.ts'
import { LimitError } from '../values/errors.ts'
import { type Check, parseJson } from '../values/json-shape.ts'
import { type HelperRequest, isReply } from './protocol.ts'

export interface HelperOptions {
  /** The program, and the arguments of Node.js before it. */
  readonly command: readonly string[]
  /** Added to the environment of the agent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The context that every request carries. */
  readonly context: () => unknown
  /** How long the helper stays with nothing to do. */
  readonly idleMs?: number
}

interface AskOptions<T> {
  readonly check: Check<T>
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
}

export interface Helper {
  /**
   * Rejects when the helper cannot do it. That says nothing about what it was asked, except with a
   * LimitError: the helper had nothing else to do, and took too much time or memory.
   */
  ask<T>(method: string, args: readonly unknown[], options: AskOptions<T>): Promise<T>
}

/** A change of the config brings several questions. */
const IDLE_MS = 10_000
const MOST_LINE = 16 << 20
/** How V8's last words begin. */
const OUT_OF_MEMORY = /<--- Last few GCs --->|heap out of memory/
/** How `startProgram` ends a program whose answer has no end. */
const LONG_LINE = 'a line of more than'

interface Pending {
  settle(answer: { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: Error }): void
}

interface Running {
  readonly program: RunningProgram
  readonly pending: Map<number, Pending>
  /** Requests that are not wanted any more. The helper may still work on them. */
  readonly cancelled: Set<number>
}

export class HelperProcess implements Helper {
  readonly #options: Required<HelperOptions>
  #running: Running | undefined
  #idle: NodeJS.Timeout | undefined
  #lastId = 0
  #memory: unknown = null

  constructor(options: HelperOptions) {
    this.#options = { idleMs: IDLE_MS, env: {}, ...options }
  }

  ask<T>(method: string, args: readonly unknown[], { check, limitMs, signal }: AskOptions<T>): Promise<T> {
    if (signal?.aborted) return Promise.reject(new Error('aborted'))
    clearTimeout(this.#idle)
    this.#running ??= this.#start()
    const running = this.#running
    const id = ++this.#lastId
    return new Promise<T>((resolve, reject) => {
      const late = setTimeout(() => {
        const isUnderWay = running.pending.has(id) || running.cancelled.has(id)
        if (isUnderWay) this.#give(running, `no answer to ${method} within ${limitMs / 1000} s`, true)
      }, limitMs)
      late.unref()
      const onAbort = (): void => {
        running.program.send(JSON.stringify({ cancel: id }))
        running.cancelled.add(id)
        settle({ ok: false, error: new Error('aborted') })
      }
      const settle: Pending['settle'] = (answer) => {
        // One that is cancelled may hold up the others still.
        if (!running.cancelled.has(id)) clearTimeout(late)
        signal?.removeEventListener('abort', onAbort)
        running.pending.delete(id)
        if (running.pending.size === 0) this.#rest(running)
        if (!answer.ok) reject(answer.error)
        else if (check(answer.result)) resolve(answer.result)
        else reject(new Error(`the helper gave no valid answer to ${method}`))
      }
      running.pending.set(id, { settle })
      signal?.addEventListener('abort', onAbort, { once: true })
      const request: HelperRequest = { id, method, args, context: this.#options.context(), memory: this.#memory }
      running.program.send(JSON.stringify(request))
    })
  }

  /** Ends the helper. Requests that it has not answered fail. */
  end(): void {
    this.#running?.program.close()
    if (this.#running !== undefined) this.#forsake(this.#running, new Error('the agent ends'))
  }

  #start(): Running {
    const { command, env } = this.#options
    const [file = '', ...args] = command
    const pending = new Map<number, Pending>()
    const program = startProgram(file, args, {
      // The API server is asked as by the agent: by the same plugins, over the same protocol.
      env: { ...process.env, ...env },
      maxLineChars: MOST_LINE,
      onLine: (line) => this.#hear(running, line),
      onEnd: (why) => this.#give(running, describeEnd(why), isOverLimit(why)),
    })
    const running: Running = { program, pending, cancelled: new Set() }
    return running
  }

  #hear(running: Running, line: string): void {
    const reply = parseJson(Buffer.from(line), isReply)
    if (reply === undefined) {
      this.#give(running, 'the helper printed an invalid answer', false)
      return
    }
    running.cancelled.delete(reply.id)
    if (reply.ok) this.#memory = reply.memory
    running.pending.get(reply.id)?.settle(reply.ok ? reply : { ok: false, error: new Error(reply.detail) })
  }

  /** Ends the helper after a while with nothing to do. */
  #rest(running: Running): void {
    if (this.#running !== running) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      this.#running = undefined
      running.program.close()
      // One that does not end by itself.
      setTimeout(() => running.program.kill(), this.#options.idleMs).unref()
    }, this.#options.idleMs)
    this.#idle.unref()
  }

  /**
   * @param isOverLimit it took too much time or memory. For which question, is known only where it
   * was asked one alone.
   */
  #give(running: Running, why: string, isOverLimit: boolean): void {
    const isAlone = running.pending.size === 1 && running.cancelled.size === 0
    running.program.kill()
    this.#forsake(running, isOverLimit && isAlone ? new LimitError(why) : new Error(why))
  }

  #forsake(running: Running, error: Error): void {
    if (this.#running === running) {
      this.#running = undefined
      clearTimeout(this.#idle)
    }
    for (const { settle } of [...running.pending.values()]) settle({ ok: false, error })
  }
}

function isOverLimit(why: string): boolean {
  return OUT_OF_MEMORY.test(why) || why.startsWith(LONG_LINE)
}

function describeEnd(why: string): string {
  return `the helper ended: ${OUT_OF_MEMORY.test(why) ? 'it took too much memory' : why}`
}

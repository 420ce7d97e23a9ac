/**
 * The helper: a second process of this program that does what takes much code and works on what
 * others wrote, such as the rules of preflight. It is started when it is needed, and ended
 * when it has had nothing to do for a while, so a node that is quiet does not pay for it. Its
 * memory is limited by a flag of Node.js, each answer in time and size. A helper that fails takes
 * all that it was asked with it: each asker gets an error, and the next question starts another
 * one.
 */
import { type RunningProgram, startProgram } from '../process/run-command.ts'
import { type Check, parseJson } from '../values/json-shape.ts'
import { type HelperRequest, isReply } from './protocol.ts'

export interface HelperOptions {
  /** The program, and the arguments of Node.js before it. */
  readonly command: readonly string[]
  /** Added to the environment of the agent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What every request carries. */
  readonly context: () => unknown
  /** How long it stays with nothing to do. */
  readonly idleMs?: number
}

export interface AskOptions<T> {
  readonly check: Check<T>
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
}

export interface Helper {
  /** Rejects when the helper cannot do it; that says nothing about what it was asked. */
  ask<T>(method: string, args: readonly unknown[], options: AskOptions<T>): Promise<T>
}

/** A change of the config brings several questions. */
const IDLE_MS = 10_000
const MOST_LINE = 16 << 20
/** How V8's last words begin. */
const OUT_OF_MEMORY = /<--- Last few GCs --->|heap out of memory/

interface Pending {
  settle(result: { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly detail: string }): void
}

interface Running {
  readonly program: RunningProgram
  readonly pending: Map<number, Pending>
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
      const late = setTimeout(() => this.#give(running, `no answer to ${method} within ${limitMs / 1000} s`), limitMs)
      late.unref()
      const onAbort = (): void => {
        running.program.send(JSON.stringify({ cancel: id }))
        settle({ ok: false, detail: 'aborted' })
      }
      const settle: Pending['settle'] = (answer) => {
        clearTimeout(late)
        signal?.removeEventListener('abort', onAbort)
        running.pending.delete(id)
        if (running.pending.size === 0) this.#rest(running)
        if (!answer.ok) reject(new Error(answer.detail))
        else if (check(answer.result)) resolve(answer.result)
        else reject(new Error(`the helper gave no valid answer to ${method}`))
      }
      running.pending.set(id, { settle })
      signal?.addEventListener('abort', onAbort, { once: true })
      const request: HelperRequest = { id, method, args, context: this.#options.context(), memory: this.#memory }
      running.program.send(JSON.stringify(request))
    })
  }

  /** What it is still asked is not answered. */
  end(): void {
    this.#running?.program.close()
    if (this.#running !== undefined) this.#forsake(this.#running, 'the agent ends')
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
      onEnd: (why) => this.#give(running, `the helper ended: ${OUT_OF_MEMORY.test(why) ? 'it took too much memory' : why}`),
    })
    const running: Running = { program, pending }
    return running
  }

  #hear(running: Running, line: string): void {
    const reply = parseJson(Buffer.from(line), isReply)
    if (reply === undefined) {
      this.#give(running, 'the helper printed what is no answer')
      return
    }
    if (reply.ok) this.#memory = reply.memory
    running.pending.get(reply.id)?.settle(reply)
  }

  #rest(running: Running): void {
    clearTimeout(this.#idle)
    if (this.#running !== running) return
    this.#idle = setTimeout(() => {
      this.#running = undefined
      running.program.close()
      // One that does not end by itself.
      setTimeout(() => running.program.kill(), this.#options.idleMs).unref()
    }, this.#options.idleMs)
    this.#idle.unref()
  }

  /** Gives up on it. */
  #give(running: Running, why: string): void {
    running.program.kill()
    this.#forsake(running, why)
  }

  #forsake(running: Running, why: string): void {
    if (this.#running === running) {
      this.#running = undefined
      clearTimeout(this.#idle)
    }
    for (const { settle } of [...running.pending.values()]) settle({ ok: false, detail: why })
  }
}

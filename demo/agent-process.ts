// SPDX-License-Identifier: Apache-2.0
/** The real agent as a child process, with its log line by line. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** One line of the agent's JSON log. */
export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly detail?: string
}

const STOP_LIMIT_MS = 5000

export class AgentProcess {
  readonly #child: ChildProcess
  readonly #lines: string[] = []
  readonly exited: Promise<void>
  /** How it ended. undefined: it is running. */
  end: string | undefined

  constructor(program: string, args: readonly string[], onLine: (line: LogLine) => void) {
    // Without the user's environment: no settings, no proxy, no journal.
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: {} })
    this.#child = child
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => {
        this.end = error.message
        resolve()
      })
      child.once('exit', (code, signal) => {
        this.end = signal === null ? `exit code ${code}` : `signal ${signal}`
        resolve()
      })
    })
    createInterface({ input: child.stdout }).on('line', (text) => {
      this.#lines.push(text)
      const line = parseLine(text)
      if (line !== undefined) onLine(line)
    })
    createInterface({ input: child.stderr }).on('line', (text) => this.#lines.push(text))
  }

  /** The last lines of its output. */
  tail(count: number): readonly string[] {
    return this.#lines.slice(-count)
  }

  has(text: string): boolean {
    return this.#lines.some((line) => line.includes(text))
  }

  /** Where it serves its metrics. undefined: it has not said so yet. */
  get metricsAddress(): string | undefined {
    const line = this.#lines.find((text) => text.includes('"serving metrics"'))
    return line === undefined ? undefined : (JSON.parse(line) as { address: string }).address
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Resolves when it has exited; kills it after a while. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.kill(), STOP_LIMIT_MS)
    await this.exited
    clearTimeout(timer)
  }
}

function parseLine(text: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'msg' in value && 'level' in value ? (value as LogLine) : undefined
  } catch {
    return undefined
  }
}

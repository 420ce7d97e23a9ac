/**
 * What the agent tells systemd about itself, sd_notify(3). Node.js cannot send a datagram to a UNIX socket, so systemd-notify(1) does, as a
 * child: one at a time, with a time limit. The socket is taken out of the environment first: it is the agent's alone, and no plugin,
 * systemctl or flock that it starts may speak in its name. Never throws, and nothing waits for it but the end of the agent.
 */
import type { Log } from '../ports/log.ts'
import { describeFailure, runCommand, succeeded } from '../process/run-command.ts'

/** How systemd wants to hear from this process. */
export interface Supervision {
  /** undefined: not started by systemd as a service that notifies. */
  readonly socket: string | undefined
  /** undefined: no watchdog. */
  readonly watchdogUs: number | undefined
}

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' }
/** It waits by itself until systemd has taken the message, so that its sender can be found; for five seconds at most. */
const TIMEOUT_MS = 10_000

/** Takes the variables out of `env`, the process' own environment. */
export function takeSupervision(env: Record<string, string | undefined>, pid: number): Supervision {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name]
  // sd_watchdog_enabled(3): without a pid it is for whoever reads it.
  const isMine = WATCHDOG_PID === undefined || WATCHDOG_PID === String(pid)
  const watchdogUs = isMine && /^[1-9]\d{0,14}$/.test(WATCHDOG_USEC ?? '') ? Number(WATCHDOG_USEC) : undefined
  return { socket: NOTIFY_SOCKET || undefined, watchdogUs }
}

/** One assignment for each variable of sd_notify(3). */
export type Notification = Readonly<Record<string, string>>

export interface NotifierOptions {
  readonly socket: string | undefined
  readonly log: Log
  readonly command?: string
  readonly timeoutMs?: number
}

export class Notifier {
  readonly #options: Required<NotifierOptions>
  #pending: Notification | undefined
  #sending: Promise<void> | undefined
  #said = ''

  constructor(options: NotifierOptions) {
    this.#options = { command: 'systemd-notify', timeoutMs: TIMEOUT_MS, ...options }
  }

  /** Returns at once. While one is on its way, the next ones become one message, the latest value of each variable. */
  send(notification: Notification): void {
    if (this.#options.socket === undefined) return
    this.#pending = { ...this.#pending, ...notification }
    this.#sending ??= this.#sendPending().finally(() => {
      this.#sending = undefined
    })
  }

  /** Resolves when nothing is on its way. */
  async settled(): Promise<void> {
    await this.#sending
  }

  async #sendPending(): Promise<void> {
    while (this.#pending !== undefined) {
      const assignments = Object.entries(this.#pending).map(([name, value]) => `${name}=${value}`)
      this.#pending = undefined
      this.#say(await this.#run(assignments))
    }
  }

  /** Returns the problem. undefined: systemd received the message. */
  async #run(assignments: readonly string[]): Promise<string | undefined> {
    const { command, socket, timeoutMs } = this.#options
    const env = { ...ENVIRONMENT, NOTIFY_SOCKET: socket }
    const result = await runCommand(command, assignments, { timeoutMs, maxOutputBytes: 1 << 16, env })
    return succeeded(result) ? undefined : describeFailure(result)
  }

  #say(problem = ''): void {
    if (problem === this.#said) return
    this.#said = problem
    if (problem !== '') this.#options.log.warn(`systemd could not be told that the agent works: ${problem}`)
    else this.#options.log.info('systemd can be told again that the agent works')
  }
}

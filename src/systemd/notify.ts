// SPDX-License-Identifier: Apache-2.0
/**
 * Notifies systemd of the agent's state, sd_notify(3). Node.js cannot connect to a socket of
 * datagrams. systemd 253 and later connects to it for the agent (`OpenFile=`), and then a message
 * is one write. Before that, systemd-notify(1) sends it as a child process: one at a time, with a
 * time limit. The socket is removed from the environment first, because no plugin, systemctl or
 * flock that the agent starts may use it. Never throws; only the end of the agent waits for it.
 */
import { write } from 'node:fs'
import type { Log } from '../ports/log.ts'
import { describeFailure, runCommand, succeeded } from '../process/run-command.ts'
import { CHILD_ENVIRONMENT } from '../values/child-environment.ts'

/** The requests of systemd to this process, according to its environment. */
export interface Supervision {
  /** undefined: systemd has not started this process as a service of Type=notify. */
  readonly socket: string | undefined
  /** The file descriptor of a socket that is connected to that one. undefined: there is none. */
  readonly connected: number | undefined
  /** undefined: no watchdog. */
  readonly watchdogUs: number | undefined
}

/** systemd-notify itself waits at most 5 s until systemd has received the message. */
const TIMEOUT_MS = 10_000

const VARIABLES = [
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
  'LISTEN_FDS',
  'LISTEN_FDNAMES',
  'LISTEN_PID',
  'LISTEN_PIDFDID',
] as const
/** SD_LISTEN_FDS_START, sd_listen_fds(3). */
const FIRST_DESCRIPTOR = 3
/** As the unit names it: `OpenFile=/run/systemd/notify:notify:graceful`. */
const CONNECTED_NAME = 'notify'

/** Removes the variables from `env`, the environment of the process. */
export function takeSupervision(env: Record<string, string | undefined>, pid: number): Supervision {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, LISTEN_FDNAMES = '', LISTEN_PID } = env
  for (const name of VARIABLES) delete env[name]
  // sd_watchdog_enabled(3): without WATCHDOG_PID, the watchdog applies to any process.
  const isMine = WATCHDOG_PID === undefined || WATCHDOG_PID === String(pid)
  const watchdogUs = isMine && /^[1-9]\d{0,14}$/.test(WATCHDOG_USEC ?? '') ? Number(WATCHDOG_USEC) : undefined
  const at = LISTEN_PID === String(pid) ? LISTEN_FDNAMES.split(':').indexOf(CONNECTED_NAME) : -1
  return { socket: NOTIFY_SOCKET || undefined, connected: at < 0 ? undefined : FIRST_DESCRIPTOR + at, watchdogUs }
}

/** Values for variables of sd_notify(3). */
type Notification = Readonly<Record<string, string>>

interface NotifierOptions {
  readonly socket: string | undefined
  readonly connected?: number | undefined
  readonly log: Log
  readonly command?: string
  readonly timeoutMs?: number
}

export class Notifier {
  readonly #options: Required<NotifierOptions>
  #pending: Notification | undefined
  #sending: Promise<void> | undefined
  #problem = ''

  constructor(options: NotifierOptions) {
    this.#options = { command: 'systemd-notify', timeoutMs: TIMEOUT_MS, connected: undefined, ...options }
  }

  /**
   * Returns immediately. Messages that come while one is being sent are merged into one, with the
   * latest value of each variable.
   */
  send(notification: Notification): void {
    if (this.#options.socket === undefined) return
    this.#pending = { ...this.#pending, ...notification }
    this.#sending ??= this.#sendPending().finally(() => {
      this.#sending = undefined
    })
  }

  /** Resolves when no message is being sent. */
  async settled(): Promise<void> {
    await this.#sending
  }

  async #sendPending(): Promise<void> {
    while (this.#pending !== undefined) {
      const assignments = Object.entries(this.#pending).map(([name, value]) => `${name}=${value}`)
      this.#pending = undefined
      this.#report(await this.#run(assignments))
    }
  }

  /** Returns the problem. undefined: systemd received the message. */
  async #run(assignments: readonly string[]): Promise<string | undefined> {
    const { command, socket, connected, timeoutMs } = this.#options
    if (connected !== undefined && (await isWritten(connected, assignments.join('\n')))) return undefined
    const env = { ...CHILD_ENVIRONMENT, NOTIFY_SOCKET: socket }
    const result = await runCommand(command, assignments, { timeoutMs, maxOutputBytes: 1 << 16, env })
    return succeeded(result) ? undefined : describeFailure(result)
  }

  #report(problem = ''): void {
    if (problem === this.#problem) return
    this.#problem = problem
    if (problem !== '') this.#options.log.warn(`cannot notify systemd that the agent works: ${problem}`)
    else this.#options.log.info('systemd can be notified again')
  }
}

/** In the background: while systemd itself hangs, the write may wait for it. */
function isWritten(descriptor: number, text: string): Promise<boolean> {
  return new Promise((resolve) => write(descriptor, text, (error) => resolve(error === null)))
}

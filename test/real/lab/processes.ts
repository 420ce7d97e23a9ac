// SPDX-License-Identifier: Apache-2.0
/**
 * The lab's processes: commands that run to their end, daemons that run until they are stopped, and
 * what has to be undone when the test ends. Never runs a shell. Nothing outlives the test: a daemon
 * is ended by the id it was started with, a signal to the test undoes everything first, and should
 * the test itself be killed, the kernel kills its children (PR_SET_PDEATHSIG, by setpriv(1)).
 */
import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { outOfTime } from './deadline.ts'

export interface CommandOptions {
  readonly cwd?: string
  /** Added to this process' environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Standard input; empty when left out. */
  readonly input?: string
  /** Only ends a hang: no slow machine reaches it. */
  readonly timeoutMs?: number
}

const COMMAND_MS = 15 * 60_000

export class CommandError extends Error {
  override name = 'CommandError'
  readonly code = 'ECOMMAND'
  readonly stdout: string
  readonly stderr: string
  /** undefined: it was ended, or could not be run. */
  readonly exitStatus: number | undefined

  /**
   * The reason that execFile gives repeats the command and its output: told in short, it is no
   * `cause`.
   */
  constructor(command: string, output: CommandOutput, { killed, signal, code }: ExecFileException) {
    const how = killed ? 'was ended because it took too long' : `failed (${signal ?? code})`
    super(`${command} ${how}: ${lastLines(output.stderr, 15)}`)
    this.stdout = output.stdout
    this.stderr = output.stderr
    this.exitStatus = typeof code === 'number' ? code : undefined
  }
}

export interface CommandOutput {
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a command to its end. Throws a `CommandError` if it cannot be run, does not exit 0, or takes
 * too long. It is ended where the whole play is out of time.
 */
export function run(file: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
  const playIsOver = outOfTime()
  return new Promise((resolve, reject) => {
    const child = execFile(
      'setpriv',
      [...dieWithParent, file, ...args],
      {
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: { ...process.env, ...options.env },
        timeout: options.timeoutMs ?? COMMAND_MS,
        maxBuffer: 64 * 1024 * 1024,
        ...(playIsOver === undefined ? {} : { signal: playIsOver }),
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ stdout, stderr })
        else reject(new CommandError(`${file} ${args.join(' ')}`, { stdout, stderr }, error))
      },
    )
    // A command that ends before it has read its input breaks the pipe; its exit status says what
    // matters.
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.input ?? '')
  })
}

export interface Daemon {
  readonly name: string
  readonly pid: number
  readonly logFile: string
  /** How it ended; undefined while it runs. */
  ended(): string | undefined
  signal(signal: NodeJS.Signals): void
  /** Asks it to end, insists after `graceMs`; fine if it has ended. */
  stop(graceMs?: number): Promise<void>
}

/** Starts a daemon; its output is appended to `logFile`. */
export function startDaemon(
  name: string,
  file: string,
  args: readonly string[],
  logFile: string,
  env: Readonly<Record<string, string>> = {},
): Daemon {
  const log = openSync(logFile, 'a')
  const child = spawn('setpriv', [...dieWithParent, file, ...args], { stdio: ['ignore', log, log], env: { ...process.env, ...env } })
  closeSync(log)
  const forget = onProcessEnd(() => child.kill('SIGKILL'))
  let ended: string | undefined
  const exit = new Promise<void>((resolve) => {
    const end = (how: string): void => {
      ended ??= how
      forget()
      resolve()
    }
    child.once('error', (error) => end(error.message))
    child.once('exit', (code, signal) => end(signal === null ? `exit status ${code}` : `signal ${signal}`))
  })
  const stop = async (graceMs = 5_000): Promise<void> => {
    // A stopped (SIGSTOP) process would never see the SIGTERM.
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    const patience = new AbortController()
    const insist = sleep(graceMs, undefined, { signal: patience.signal }).then(
      () => child.kill('SIGKILL'),
      () => {},
    )
    await exit
    patience.abort()
    await insist
  }
  return { name, pid: child.pid ?? -1, logFile, ended: () => ended, signal: (signal) => void child.kill(signal), stop }
}

/**
 * Runs `undo` when this process ends, signals included; the returned function takes that back.
 * Synchronous, newest first.
 */
export function onProcessEnd(undo: () => void): () => void {
  listenForTheEnd()
  undos.add(undo)
  return () => void undos.delete(undo)
}

/** A directory that goes with this process. */
export function makeScratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-cfg-agent-lab-'))
  onProcessEnd(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

export function tailOf(file: string, count = 30): string {
  try {
    return lastLines(readFileSync(file, 'utf8'), count)
  } catch (error) {
    return `(no log: ${String(error)})`
  }
}

const dieWithParent = ['--pdeathsig', 'KILL', '--'] as const
const undos = new Set<() => void>()
let listening = false

function listenForTheEnd(): void {
  if (listening) return
  listening = true
  process.on('exit', () => {
    for (const undo of [...undos].reverse()) undo()
  })
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.once(signal, () => process.exit(128 + number))
  }
}

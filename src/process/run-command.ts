// SPDX-License-Identifier: Apache-2.0
/**
 * Runs a command to its end: an argument list without a shell, a time limit, bounded output.
 * Returns how it ended as a value; never throws or rejects. A command that exceeds a limit or is
 * aborted is killed with SIGKILL, and left behind where that does not end it. The same program is
 * not started again until that one ends.
 */
import { type ChildProcess, type ExecFileException, execFile, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { errorCode, errorMessage } from '../values/errors.ts'

interface CommandLimits {
  readonly timeoutMs: number
  /** For standard output and standard error each. */
  readonly maxOutputBytes: number
}

interface CommonOptions extends CommandLimits {
  /** The whole environment of the command. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface CommandOptions extends CommonOptions {
  readonly cwd?: string
  /** Standard input. Default: empty. */
  readonly input?: string
  readonly signal?: AbortSignal
  /**
   * Of more output than the limit, the first and the last lines count, half of the limit each, and
   * the command goes on. Default: it is killed.
   */
  readonly keepsEnds?: boolean
}

interface SyncCommandOptions extends CommonOptions {
  /** Open files that the command inherits, as descriptors 3, 4 and so on. */
  readonly descriptors?: readonly number[]
}

export type CommandEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** Killed by another process, or crashed. */
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly timeoutMs: number }
  | { readonly kind: 'too-much-output'; readonly maxOutputBytes: number }
  | { readonly kind: 'aborted' }
  /** `code` is that of errno(3), such as ENOENT. */
  | { readonly kind: 'not-started'; readonly file: string; readonly code: string }

export interface CommandResult {
  readonly end: CommandEnd
  /** Up to the limit, however the command ended. Empty: it could not be killed. */
  readonly stdout: string
  readonly stderr: string
}

const KILL = 'SIGKILL'
/** For a command that is killed to end. One that waits for a dead disk does not. */
const LAST_MOMENT_MS = 500
/** Longest error message to quote from standard error. */
const MOST_QUOTED = 500

/** One that is stuck says little of the next, which may be the restart of kubelet. */
const MOST_LEFT_BEHIND = 5
/**
 * The commands that were left behind and have not ended, with their programs. On a dead disk the
 * next would wait as well, until the unit has no task left for the agent itself (`TasksMax=`).
 */
const leftBehind = new Map<ChildProcess, string>()

/** Starts a program, such as `execFile`. */
type Execute = (
  file: string,
  args: readonly string[],
  options: Omit<CommandOptions, keyof CommandLimits | 'input' | 'keepsEnds'> & {
    readonly timeout: number
    readonly maxBuffer: number
    readonly killSignal: typeof KILL
  },
  callback: (error: ExecFileException | null, stdout: string, stderr: string) => void,
) => ChildProcess

/** @param execute calls back when the command has ended, if it ends at all */
export function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions,
  execute: Execute = options.keepsEnds === true ? executeKeepingEnds : execFile,
): Promise<CommandResult> {
  const { timeoutMs: timeout, maxOutputBytes: maxBuffer, input, keepsEnds: _, ...rest } = options
  const unfinished: CommandResult = { end: { kind: 'timed-out', timeoutMs: timeout }, stdout: '', stderr: '' }
  const stuck = [...leftBehind.values()].filter((each) => each === file)
  if (stuck.length >= MOST_LEFT_BEHIND) return Promise.resolve(unfinished)
  return new Promise((resolve) => {
    try {
      const child = execute(file, [...args], { ...rest, timeout, maxBuffer, killSignal: KILL }, (error, stdout, stderr) => {
        clearTimeout(overdue)
        leftBehind.delete(child)
        resolve({ end: endOf(file, error, options), stdout, stderr })
      })
      const leave = (): void => {
        child.unref()
        leftBehind.set(child, file)
        resolve(unfinished)
      }
      // The moment begins with the kill, which a busy process may do late.
      let overdue = setTimeout(() => {
        overdue = setTimeout(leave, LAST_MOMENT_MS)
      }, timeout)
      // EPIPE: the command exited without reading all of its input. Its exit code is what counts.
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
    } catch (error) {
      // Node.js throws some errors synchronously, such as E2BIG.
      resolve(notStarted(file, error))
    }
  })
}

/** Like `execFile`, but whoever prints too much is not killed. */
const executeKeepingEnds: Execute = (file, args, { maxBuffer, ...options }, callback) => {
  // Node.js makes no streams where it has no file descriptor left for them.
  const child: ChildProcess = spawn(file, args, { ...options, stdio: 'pipe' })
  const [stdout, stderr] = [new Ends(maxBuffer / 2), new Ends(maxBuffer / 2)]
  child.stdout?.setEncoding('utf8').on('data', (text: string) => stdout.add(text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => stderr.add(text))
  const letGo = (): void => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  child.once('error', (error) => {
    letGo()
    callback(error, stdout.text(), stderr.text())
  })
  // A process that the command started may hold its streams open for long.
  child.once('exit', () => {
    if (child.killed) letGo()
  })
  child.once('close', (code, signal) => {
    const { killed } = child
    const how = code === null ? { killed, ...(signal !== null && { signal }) } : { code }
    callback(code === 0 ? null : Object.assign(new Error('it failed'), how), stdout.text(), stderr.text())
  })
  return child
}

/** The first and the last lines of a text. */
class Ends {
  readonly #most: number
  #first = ''
  #last = ''
  #isWhole = true

  constructor(most: number) {
    this.#most = most
  }

  add(text: string): void {
    const room = this.#last === '' ? this.#most - this.#first.length : 0
    this.#first += text.slice(0, room)
    this.#last += text.slice(room)
    if (this.#last.length <= 2 * this.#most) return
    this.#last = this.#last.slice(-this.#most)
    this.#isWhole = false
  }

  text(): string {
    const last = this.#last.slice(-this.#most)
    if (this.#isWhole && last.length === this.#last.length) return this.#first + last
    // A part of a line could be taken for another line.
    return this.#first.slice(0, this.#first.lastIndexOf('\n') + 1) + last.slice(last.indexOf('\n') + 1 || last.length)
  }
}

/**
 * Blocks the whole process. Only for commands that take milliseconds, where the steps around them
 * must not be interleaved with others.
 */
export function runCommandSync(file: string, args: readonly string[], options: SyncCommandOptions): CommandResult {
  const { timeoutMs: timeout, maxOutputBytes: maxBuffer, env, descriptors = [] } = options
  try {
    const result = spawnSync(file, [...args], {
      ...{ env, timeout, maxBuffer, killSignal: KILL, encoding: 'utf8' },
      stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
    })
    // null if the command was not started. The last read before it is killed may exceed the limit.
    const [, stdout, stderr] = (result.output ?? []).map((text) => text?.slice(0, maxBuffer))
    return { end: syncEndOf(file, result, options), stdout: stdout ?? '', stderr: stderr ?? '' }
  } catch (error) {
    return notStarted(file, error)
  }
}

interface ProgramOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** A longer line ends the program. */
  readonly maxLineChars: number
  /** A line of standard output, without its end. */
  readonly onLine: (line: string) => void
  /** Called once, when the program has ended, or could not be started. */
  readonly onEnd: (why: string) => void
}

/** A program that talks with this process, line by line, until one of them ends that. */
export interface RunningProgram {
  send(line: string): void
  /** The program gets the end of its input, upon which it should exit. */
  close(): void
  kill(): void
}

export function startProgram(file: string, args: readonly string[], options: ProgramOptions): RunningProgram {
  const { env, maxLineChars, onLine, onEnd } = options
  let said = ''
  let ended = false
  const end = (why: string): void => {
    if (ended) return
    ended = true
    onEnd(why)
  }
  let child: ChildProcess
  try {
    child = spawn(file, [...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    // After this function has returned, as for any other program.
    setImmediate(() => end(describeEnd(notStarted(file, error).end)))
    return { send: () => {}, close: () => {}, kill: () => {} }
  }
  let parts: string[] = []
  let chars = 0
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = text.split('\n')
    for (const [at, line] of lines.entries()) {
      parts.push(line)
      chars += line.length
      if (chars > maxLineChars) {
        child.kill(KILL)
        return end(`a line of more than ${maxLineChars} characters`)
      }
      if (at === lines.length - 1) break
      const whole = parts.join('')
      parts = []
      chars = 0
      onLine(whole)
    }
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < MOST_QUOTED) said += text
  })
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
  child.once('error', (error) => end(describeEnd(notStarted(file, error).end)))
  child.once('close', (code, signal) => {
    const why = code === null ? describeEnd({ kind: 'signalled', signal: String(signal) }) : describeEnd({ kind: 'exited', code })
    end([why, said.trim().slice(0, MOST_QUOTED)].filter((text) => text !== '').join(': '))
  })
  return {
    send: (line) => void child.stdin?.write(`${line}\n`),
    close: () => void child.stdin?.end(),
    kill: () => void child.kill(KILL),
  }
}

/** Whether the command exited with code 0. */
export function succeeded({ end }: CommandResult): boolean {
  return end.kind === 'exited' && end.code === 0
}

/** Why a command failed: its own error message, if it exited by itself and printed one. */
export function describeFailure({ end, stderr }: CommandResult): string {
  const message = stderr.trim().slice(0, MOST_QUOTED)
  return (end.kind === 'exited' || end.kind === 'signalled') && message !== '' ? message : describeEnd(end)
}

export function describeEnd(end: CommandEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exit code ${end.code}`
    case 'signalled':
      return `killed by ${end.signal}`
    case 'timed-out':
      return `timed out after ${end.timeoutMs / 1000} s`
    case 'too-much-output':
      return `more than ${end.maxOutputBytes / 1024} KiB of output`
    case 'aborted':
      return 'aborted'
    case 'not-started':
      return `cannot start ${end.file}: ${end.code}`
  }
}

function endOf(file: string, error: ExecFileException | null, { timeoutMs, maxOutputBytes }: CommandLimits): CommandEnd {
  if (error === null) return { kind: 'exited', code: 0 }
  // The program exited by itself, even if the time limit expired at the same moment.
  if (typeof error.code === 'number') return { kind: 'exited', code: error.code }
  switch (errorCode(error)) {
    case 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER':
      return { kind: 'too-much-output', maxOutputBytes }
    case 'ABORT_ERR':
      return { kind: 'aborted' }
    case undefined:
      return error.killed === true ? { kind: 'timed-out', timeoutMs } : { kind: 'signalled', signal: String(error.signal) }
    default:
      return notStarted(file, error).end
  }
}

function syncEndOf(file: string, result: SpawnSyncReturns<string>, { timeoutMs, maxOutputBytes }: CommandLimits): CommandEnd {
  const { error, status, signal } = result
  if (error === undefined) return status === null ? { kind: 'signalled', signal: String(signal) } : { kind: 'exited', code: status }
  switch (errorCode(error)) {
    case 'ENOBUFS':
      return { kind: 'too-much-output', maxOutputBytes }
    case 'ETIMEDOUT':
      return { kind: 'timed-out', timeoutMs }
    default:
      return notStarted(file, error).end
  }
}

function notStarted(file: string, error: unknown): CommandResult {
  return { end: { kind: 'not-started', file, code: errorCode(error) ?? errorMessage(error) }, stdout: '', stderr: '' }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The shipped agent as a process: the bundle that `npm run build` makes, built anew into a scratch
 * directory, and one machine's agent and commands of it. Nothing of the environment of the test
 * reaches them but its PATH.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from './lab/eventually.ts'
import { type CommandOutput, type Daemon, lastLines, run, startDaemon } from './lab/processes.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The variable that tells a lane which program is built. */
const BUILT = 'KCA_LAB_AGENT'

/** For the lanes that this process starts. */
export async function buildAgentForLanes(directory: string): Promise<void> {
  process.env[BUILT] = await buildAgent(directory)
}

/**
 * Builds the bundle into `directory` and returns the path of the program. A lane builds none: it
 * takes the one that is built for all of them.
 */
export async function buildAgent(directory: string): Promise<string> {
  const { [BUILT]: built } = process.env
  if (built !== undefined) return built
  const outdir = join(directory, 'dist')
  await run(process.execPath, ['scripts/build.mjs', 'src/main.ts', outdir], { cwd: ROOT })
  return join(outdir, 'kubelet-cfg-agent.mjs')
}

/** One line of the agent's log. */
interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly msg: string
  readonly [field: string]: unknown
}

export class Agent {
  readonly settingsFile: string
  readonly #program: string
  readonly #logFile: string
  #daemon: Daemon | undefined

  constructor(program: string, settingsFile: string, logFile: string) {
    this.#program = program
    this.settingsFile = settingsFile
    this.#logFile = logFile
  }

  start(): void {
    this.#daemon = this.#spawn()
  }

  /** One more on the same directory, beside the one that runs. */
  startSecond(): Daemon {
    return this.#spawn()
  }

  signal(signal: NodeJS.Signals): void {
    this.#daemon?.signal(signal)
  }

  async untilEnded(): Promise<void> {
    await eventually(() => this.ended(), { what: 'the agent has ended', intervalMs: 10 })
  }

  /** How it ended; undefined while it runs. */
  ended(): string | undefined {
    return this.#daemon?.ended()
  }

  /** Asks it to end, and insists after a while. Returns how it ended. */
  async stop(): Promise<string | undefined> {
    await this.#daemon?.stop(10_000)
    return this.ended()
  }

  /** One of the other commands; throws a `CommandError` if it fails. */
  command(name: string, ...options: readonly string[]): Promise<CommandOutput> {
    const [file, ...args] = this.#commandLine(name, ...options)
    return run(file, args)
  }

  /** Every line must be JSON: a line that is not is something that got past the log. */
  log(): LogLine[] {
    const lines = this.#text().split('\n')
    // The last one may still be being written.
    return lines.slice(0, -1).map((line) => JSON.parse(line))
  }

  says(pattern: RegExp): boolean {
    return this.timesSaid(pattern) > 0
  }

  async untilSays(pattern: RegExp, times = 1, timeoutMs = 60_000): Promise<void> {
    await eventually(() => this.timesSaid(pattern) >= times, { what: `the log has ${pattern} (${times})`, timeoutMs })
  }

  timesSaid(pattern: RegExp): number {
    return this.log().filter(({ msg }) => pattern.test(msg)).length
  }

  tail(count: number): string {
    return lastLines(this.#text(), count)
  }

  #text(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : ''
  }

  #spawn(): Daemon {
    const [file, ...args] = this.#commandLine('run')
    return startDaemon('kubelet-cfg-agent', file, args, this.#logFile)
  }

  #commandLine(command: string, ...options: readonly string[]): [string, ...string[]] {
    const environment = ['-i', `PATH=${process.env.PATH ?? ''}`]
    // As the package has it: what Node.js compiled is there for the next agent.
    if (command === 'run') environment.push(`NODE_COMPILE_CACHE=${join(dirname(this.settingsFile), '../compiled')}`)
    return ['env', ...environment, process.execPath, this.#program, command, '--config', this.settingsFile, ...options]
  }
}

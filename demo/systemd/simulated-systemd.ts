// SPDX-License-Identifier: Apache-2.0
/**
 * A simulated systemd with a simulated kubelet, as real processes without root: it supervises a
 * real child process whose command line is the unit's ExecStart, and serves a stand-in for
 * `systemctl`. The state machine is that of the fake unit; environment files and variables are
 * parsed by the agent's own code. Linux only, because the agent reads /proc.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type SystemctlAnswer, serveSystemctl } from './systemctl-stand-in.ts'
import { commandArguments, type SimulatedUnit, showUnit } from './unit-file.ts'
import { type MachineVerb, UnitMachine } from './unit-machine.ts'

export interface SimulatedSystemdOptions {
  /** The directory for the stand-in and kubelet's program. */
  readonly dir: string
  readonly unit: SimulatedUnit
  /** `when-told`: kubelet waits for its automatic restart until `endRestartSec()`. */
  readonly restartSecMs?: number | 'when-told'
  /** The time after which a kubelet that does not stop is killed. */
  readonly timeoutStopMs?: number
  readonly startLimit?: { readonly burst: number; readonly intervalMs: number }
  /** Called with each line of kubelet's output, and with each systemctl command. */
  onLine?(line: string, from: 'kubelet' | 'systemctl'): void
}

export interface SimulatedSystemd {
  /** Path of the stand-in for systemctl. */
  readonly systemctl: string
  readonly unit: string
  /** The running kubelet. undefined: it does not run. */
  readonly pid: number | undefined
  /** The state of the unit, see MachineState. */
  readonly state: string
  /** A command of an operator. It returns immediately, as with --no-block. */
  command(verb: MachineVerb): void
  /** SIGSTOP makes kubelet hang, SIGCONT ends that. */
  kill(signal?: NodeJS.Signals): void
  /** Changes the unit, like an edit followed by daemon-reload. */
  change(unit: Partial<SimulatedUnit>): void
  /** A shutdown of the machine: kubelet stops, and `is-system-running` prints `stopping`. */
  shutDown(): void
  /** A kubelet that waits for its automatic restart is restarted now. */
  endRestartSec(): void
  /** Ends kubelet and everything else. */
  close(): Promise<void>
}

/** Starts kubelet, as at boot. */
export async function startSimulatedSystemd(options: SimulatedSystemdOptions): Promise<SimulatedSystemd> {
  await mkdir(options.dir, { recursive: true })
  const program = join(options.dir, 'kubelet.cjs')
  kubelet ??= buildKubelet()
  await writeFile(program, await kubelet)
  // The agent reads the identity of kubelet's binary, so it must exist.
  const unit = { ...options.unit, path: program, words: [program, ...options.unit.words.slice(1)] }
  const supervisor = new Supervisor({ ...options, unit }, program)
  const systemctl = join(options.dir, 'systemctl')
  const server = await serveSystemctl(systemctl, (words) => supervisor.answer(words))
  supervisor.command('start')
  return {
    systemctl,
    unit: options.unit.name,
    get pid() {
      return supervisor.pid
    },
    get state() {
      return supervisor.state
    },
    command: (verb) => supervisor.command(verb),
    kill: (signal = 'SIGKILL') => supervisor.kill(signal),
    change: (unit) => supervisor.change(unit),
    shutDown: () => supervisor.shutDown(),
    endRestartSec: () => supervisor.onTimer(),
    async close() {
      await new Promise((resolve) => server.close(resolve))
      await supervisor.close()
    },
  }
}

class Supervisor {
  readonly #options: SimulatedSystemdOptions
  readonly #program: string
  readonly #machine: UnitMachine
  #unit: SimulatedUnit
  #child: ChildProcess | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #killTimer: NodeJS.Timeout | undefined
  #timedOut = false
  #stops = false

  constructor(options: SimulatedSystemdOptions, program: string) {
    this.#options = options
    this.#program = program
    this.#unit = options.unit
    const { startLimit, restartSecMs = 10_000 } = options
    this.#machine = new UnitMachine({
      restartUs: restartSecMs === 'when-told' ? 0 : restartSecMs * 1000,
      startLimit: startLimit && { burst: startLimit.burst, intervalUs: startLimit.intervalMs * 1000 },
      newInvocationId: () => randomBytes(16).toString('hex'),
      spawn: () => this.#spawn(),
      terminate: () => this.#terminate(),
    })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }
  get state(): string {
    return this.#machine.state
  }

  answer(words: readonly string[]): SystemctlAnswer {
    this.#options.onLine?.(words.join(' '), 'systemctl')
    const [verb = '', ...rest] = words.filter((word) => word !== '--no-block')
    if (verb === 'is-system-running') return this.#stops ? answer(1, 'stopping\n') : answer(0, 'running\n')
    if (rest.at(-1) !== this.#unit.name) return complain(5, `Unit ${rest.at(-1)} not loaded.`)
    if (verb === 'show') return answer(0, showUnit(this.#unit, this.#machine, this.pid ?? 0))
    if (!isVerb(verb)) return complain(1, `Unknown command verb '${verb}'.`)
    const complaint = this.command(verb)
    // With --no-block systemctl does not report the result of the job.
    if (complaint === undefined || words.includes('--no-block')) return answer(0, '')
    return complain(1, `Job for ${this.#unit.name} failed: ${complaint}`)
  }

  command(verb: MachineVerb): string | undefined {
    const complaint = this.#machine.command(verb, nowUs())
    this.#setTimer()
    return complaint
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  change(unit: Partial<SimulatedUnit>): void {
    this.#unit = { ...this.#unit, ...unit }
  }

  shutDown(): void {
    this.#stops = true
    this.command('stop')
  }

  async close(): Promise<void> {
    this.#stops = true
    clearTimeout(this.#restartTimer)
    this.#machine.command('stop', nowUs())
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
    clearTimeout(this.#killTimer)
  }

  /**
   * The process gets its argv[0] from ExecStart, so /proc shows what it would show for the real
   * kubelet.
   */
  #spawn(): void {
    const command = [this.#program, ...commandArguments(this.#unit)]
    const child = spawn(process.execPath, command, { argv0: this.#unit.path, env: {}, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n').filter((line) => line !== '')) this.#options.onLine?.(line, 'kubelet')
      })
    }
    child.once('exit', (code, signal) => {
      clearTimeout(this.#killTimer)
      this.#child = undefined
      this.#machine.exited(this.#timedOut ? 'timeout' : signal !== null ? 'signal' : code === 0 ? 'success' : 'exit-code', nowUs())
      this.#timedOut = false
      this.#setTimer()
    })
  }

  onTimer(): void {
    this.#machine.onTimer(nowUs())
    this.#setTimer()
  }

  #terminate(): void {
    this.#child?.kill('SIGTERM')
    this.#killTimer = setTimeout(() => {
      this.#timedOut = true
      this.#child?.kill('SIGKILL')
    }, this.#options.timeoutStopMs ?? 5000)
  }

  #setTimer(): void {
    clearTimeout(this.#restartTimer)
    const { timerUs } = this.#machine
    if (timerUs === undefined || this.#options.restartSecMs === 'when-told') return
    this.#restartTimer = setTimeout(() => this.onTimer(), Math.ceil((timerUs - nowUs()) / 1000))
  }
}

let kubelet: Promise<string> | undefined

async function buildKubelet(): Promise<string> {
  const entry = fileURLToPath(new URL('./simulated-kubelet.ts', import.meta.url))
  const options = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'error', write: false } as const
  const { outputFiles } = await build({ ...options, entryPoints: [entry] })
  return outputFiles[0]?.text ?? ''
}

function answer(code: number, text: string): SystemctlAnswer {
  return { code, stream: 'stdout', text }
}

function complain(code: number, text: string): SystemctlAnswer {
  return { code, stream: 'stderr', text: `${text}\n` }
}

function isVerb(text: string): text is MachineVerb {
  return ['start', 'stop', 'restart', 'try-restart', 'reset-failed'].includes(text)
}

/** CLOCK_MONOTONIC, like systemd's. */
function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

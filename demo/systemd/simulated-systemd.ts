/**
 * A simulated systemd with a simulated kubelet, as real processes and without root: it supervises a real child that calls itself by the unit's ExecStart, and answers a
 * stand-in `systemctl`. The state machine is the one that the fake unit has; environment files and variables go through the agent's own reading of systemd's
 * syntax. Linux only: the agent looks into /proc.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expandArguments } from '../../src/systemd/command-line.ts'
import { parseEnvironmentFile } from '../../src/systemd/environment-file.ts'
import { type MachineVerb, UnitMachine } from '../../src/systemd/fake/unit-machine.ts'
import { type SystemctlAnswer, serveSystemctl } from './systemctl-stand-in.ts'
import { type SimulatedUnit, showUnit } from './unit-file.ts'

export interface SimulatedSystemdOptions {
  /** Where the stand-in and kubelet's program are written. */
  readonly dir: string
  readonly unit: SimulatedUnit
  /** `when-told`: kubelet waits for its automatic restart until `endRestartSec()`. */
  readonly restartSecMs?: number | 'when-told'
  /** After this a kubelet that was asked to stop is killed. */
  readonly timeoutStopMs?: number
  readonly startLimit?: { readonly burst: number; readonly intervalMs: number }
  /** Each line that kubelet writes, and each command that is asked of systemd. */
  onLine?(line: string, from: 'kubelet' | 'systemctl'): void
}

export interface SimulatedSystemd {
  /** Path of the stand-in. */
  readonly systemctl: string
  readonly unit: string
  /** Of the running kubelet. */
  readonly pid: number | undefined
  /** As `systemctl show` would say it: `active`, `activating` (waits for its restart), `inactive`, `failed`. */
  readonly state: string
  /** What a person does. A command returns at once, as with --no-block. */
  command(verb: MachineVerb): void
  /** SIGSTOP makes kubelet hang, SIGCONT go on. */
  kill(signal?: NodeJS.Signals): void
  /** Changes the unit, as an edit and a daemon-reload do. */
  change(unit: Partial<SimulatedUnit>): void
  /** The machine goes down: kubelet stops, and systemd says that the system does. */
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
  // The agent wants to see a binary, and this one is there.
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
    if (verb === 'is-system-running') return this.#stops ? say(1, 'stopping\n') : say(0, 'running\n')
    if (rest.at(-1) !== this.#unit.name) return complain(5, `Unit ${rest.at(-1)} not loaded.`)
    if (verb === 'show') return say(0, showUnit(this.#unit, this.#machine, this.pid ?? 0))
    if (!isVerb(verb)) return complain(1, `Unknown command verb '${verb}'.`)
    const complaint = this.command(verb)
    // A job that is not waited for has no outcome to complain of.
    if (complaint === undefined || words.includes('--no-block')) return say(0, '')
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

  /** Asks for the process under the name that ExecStart has, so that /proc shows what it would show of the real one. */
  #spawn(): void {
    const { path, words } = this.#unit
    const command = expandArguments(words.slice(1), this.#environment()).map(({ text }) => text)
    const child = spawn(process.execPath, [this.#program, ...command], { argv0: path, env: {}, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n').filter((one) => one !== '')) this.#options.onLine?.(line, 'kubelet')
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

  #environment(): Map<string, string> {
    const { environment, environmentFiles } = this.#unit
    const files = environmentFiles.flatMap((path) => {
      try {
        return [...parseEnvironmentFile(readFileSync(path, 'utf8'))]
      } catch {
        return []
      }
    })
    return new Map([...Object.entries(environment), ...files])
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

function say(code: number, text: string): SystemctlAnswer {
  return { code, stream: 'stdout', text }
}

function complain(code: number, text: string): SystemctlAnswer {
  return { code, stream: 'stderr', text: `${text}\n` }
}

function isVerb(text: string): text is MachineVerb {
  return ['start', 'stop', 'restart', 'try-restart', 'reset-failed'].includes(text)
}

/** CLOCK_MONOTONIC, as systemd has it. */
function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

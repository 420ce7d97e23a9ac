// SPDX-License-Identifier: Apache-2.0
/**
 * Kubelet's unit in memory: systemd's state machine over a kubelet that behaves as its config says,
 * on a clock that the test sets. It passes the same contract test as the adapter for the real
 * systemd.
 */

import { type ExitResult, type MachineState, SHOWN_STATE, type StartPre, UnitMachine } from '../../demo/systemd/unit-machine.ts'
import type { RestartOutcome } from '../../src/decision/effects-of-answer.ts'
import type { Unit } from '../../src/ports/unit.ts'
import type { KubeletProcess, UnitActivity, UnitDown, UnitState } from '../../src/subject/unit-state.ts'
import {
  chooseVerb,
  classifyActivity,
  describeProcess,
  hasHitStartLimit,
  needsReset,
  summarizeState,
} from '../../src/systemd/unit-activity.ts'
import type { KubeletFacts } from '../../src/systemd/wiring.ts'

/**
 * The behaviour of one kubelet process, in microseconds since its start. A missing event never
 * happens.
 */
export interface KubeletBehaviour {
  readonly exitsAfterUs?: number
  /** A signal ends it then. */
  readonly killedBy?: string
  /** Kubelet then ends without an error. */
  readonly exitsCleanly?: boolean
  readonly healthyAfterUs?: number
  readonly unhealthyAfterUs?: number
}

interface FakeUnitOptions {
  /** The `--config` of a kubelet that starts now. */
  startWith(): string | undefined
  /** Called at each start. */
  behave(configPath: string | undefined): KubeletBehaviour
  /** Wiring, identity and flags. */
  facts(): KubeletFacts
  readonly dynamicConfigDir: string
  readonly restartUs?: number
  /** `Restart=`. */
  readonly restart?: 'always' | 'on-failure'
  /** As systemd 254 and later: an automatic restart that comes to nothing stays queued. */
  readonly keepsQueued?: boolean
  readonly stopUs?: number
  /** Type=notify: kubelet is active from the time when it is healthy. */
  readonly notify?: boolean
  readonly startLimit?: { readonly burst: number; readonly intervalUs: number }
  /**
   * Called before and after each command of `restart`, for crashes of the agent at these points.
   */
  onCommand?(verb: string, phase: 'before' | 'after'): void
}

interface FakeProcess {
  readonly pid: number
  readonly configPath: string | undefined
  readonly behaviour: KubeletBehaviour
  /** When and how it exits, unless it is terminated earlier. */
  exit: { readonly atUs: number; readonly result: ExitResult } | undefined
}

const NEVER = Number.POSITIVE_INFINITY

export class FakeUnit implements Unit {
  readonly #options: FakeUnitOptions
  #machine: UnitMachine
  #nowUs: number
  #process: FakeProcess | undefined
  #starts = 0
  #systemStops = false
  /** The signal that ends processes that are killed. */
  #killedBy = 'SIGKILL'
  #last: UnitActivity | undefined
  /** What its `ExecStartPre=` does at a start. undefined: it ends at once. */
  startPre: () => StartPre | undefined = () => undefined
  /** A unit that it requires (`Requires=`) fails at each start of this one. */
  dependencyFails = false
  /** As `UnitDown` has it: what `systemctl mask` or `systemctl disable` did. */
  barred: UnitDown['barred']
  #endedWith: string | undefined

  /** Starts kubelet, as at boot. */
  constructor(options: FakeUnitOptions, nowUs: number) {
    this.#options = options
    this.#nowUs = nowUs
    this.#machine = this.#boot()
    this.start()
  }

  async observe(): Promise<UnitState> {
    const { invocationId, nRestarts, startedAtUs } = this.#machine
    const shown = this.#show()
    const activity = this.#systemStops ? 'stopping' : classifyActivity(shown)
    this.#last = activity
    const machine = { invocationId, nRestarts, startedAtUs, startLimitHit: hasHitStartLimit(shown), summary: summarizeState(shown) }
    const killedBy = this.#machine.wasKilled ? this.#killedBy : undefined
    const { restartWait } = this.#machine
    const down = activity === 'stopped' || activity === 'left-down' ? { down: this.#down } : {}
    return {
      kind: 'known',
      activity,
      ...machine,
      killedBy,
      restartWait,
      ...down,
      process: this.#describeProcess(),
      ...this.#options.facts(),
    }
  }

  /** As PID 1 writes it to the journal. */
  get dependencyFailedUs(): number | undefined {
    return this.#machine.dependencyFailedUs
  }

  get state(): MachineState {
    return this.#machine.state
  }

  get #down(): UnitDown {
    return { name: 'kubelet.service', ...this.#machine.downTimes, barred: this.barred, endedWith: this.#endedWith }
  }

  stillRuns(seen: UnitState): boolean {
    return seen.kind === 'known' && this.#process !== undefined && seen.invocationId === this.#machine.invocationId
  }

  async restart(activity: 'failed' | 'other'): Promise<RestartOutcome> {
    const resets = needsReset(this.#last, this.#options.startLimit !== undefined)
    const verb = chooseVerb(activity, resets ? this.#show() : activity)
    if (resets) this.#command('reset-failed')
    const complaint = this.#command(verb)
    return complaint === undefined ? { ok: true } : { ok: false, detail: complaint }
  }

  /** Advances the clock, event by event. */
  advanceTo(nowUs: number): void {
    for (;;) {
      const atUs = Math.min(this.#process?.exit?.atUs ?? NEVER, this.#machine.timerUs ?? NEVER)
      if (atUs > nowUs) break
      this.#nowUs = Math.max(this.#nowUs, atUs)
      const exit = this.#process?.exit
      if (exit?.atUs === atUs) {
        this.#process = undefined
        this.#machine.exited(exit.result, this.#nowUs)
      } else this.#machine.onTimer(this.#nowUs)
    }
    this.#nowUs = nowUs
  }

  /** Whether kubelet's health endpoint would answer ok. */
  get healthy(): boolean {
    const ranUs = this.#nowUs - this.#machine.startedAtUs
    const { healthyAfterUs = NEVER, unhealthyAfterUs = NEVER } = this.#process?.behaviour ?? {}
    return healthyAfterUs <= ranUs && ranUs < unhealthyAfterUs
  }

  /** An operator starts the unit with systemctl. */
  start(): void {
    this.#machine.command('start', this.#nowUs)
  }
  stop(): void {
    this.#machine.command('stop', this.#nowUs)
  }
  resetFailed(): void {
    this.#machine.command('reset-failed', this.#nowUs)
  }
  restartByHand(): void {
    this.#machine.command('restart', this.#nowUs)
  }
  /** A unit that it is bound to (`BindsTo=`) ends by itself, and systemd stops this one. */
  endWith(name: string): void {
    this.#endedWith = name
    this.#machine.command('stop', this.#nowUs)
  }
  /** The unit's process ends without an error, and nobody asked for it. */
  endCleanly(): void {
    if (this.#process !== undefined) this.#process.exit = { atUs: this.#nowUs, result: 'success' }
    this.advanceTo(this.#nowUs)
  }
  kill(): void {
    if (this.#process !== undefined) this.#process.exit = { atUs: this.#nowUs, result: 'signal' }
    this.advanceTo(this.#nowUs)
  }

  /** An orderly shutdown of the machine. */
  shutDown(): void {
    this.#systemStops = true
    this.stop()
  }
  /** The machine boots, after a shutdown or a power loss. */
  boot(nowUs: number): void {
    this.#nowUs = nowUs
    this.#process = undefined
    this.#systemStops = false
    this.#machine = this.#boot()
    this.start()
  }

  #boot(): UnitMachine {
    return new UnitMachine({
      restartUs: this.#options.restartUs ?? 10e6,
      restart: this.#options.restart,
      keepsQueued: this.#options.keepsQueued,
      dependencyFails: () => this.dependencyFails,
      notify: this.#options.notify,
      startLimit: this.#options.startLimit,
      newInvocationId: () => String(++this.#starts).padStart(32, '0'),
      startPre: () => this.startPre(),
      spawn: () => this.#spawn(),
      terminate: () => {
        if (this.#process !== undefined) this.#process.exit = { atUs: this.#nowUs + (this.#options.stopUs ?? 50e3), result: 'success' }
      },
    })
  }

  #spawn(): void {
    const configPath = this.#options.startWith()
    const behaviour = this.#options.behave(configPath)
    const { exitsAfterUs, exitsCleanly, killedBy } = behaviour
    const result = killedBy !== undefined ? ('signal' as const) : exitsCleanly === true ? ('success' as const) : ('exit-code' as const)
    const exit = exitsAfterUs === undefined ? undefined : { atUs: this.#nowUs + exitsAfterUs, result }
    this.#killedBy = killedBy ?? 'SIGKILL'
    this.#endedWith = undefined
    this.#process = { pid: 1000 + this.#starts, configPath, behaviour, exit }
  }

  #command(verb: 'start' | 'restart' | 'try-restart' | 'reset-failed'): string | undefined {
    this.#options.onCommand?.(verb, 'before')
    const isRefused = this.barred === 'masked' && (verb === 'start' || verb === 'restart')
    const complaint = isRefused ? 'the unit is masked' : this.#machine.command(verb, this.#nowUs)
    this.#options.onCommand?.(verb, 'after')
    return complaint
  }

  #show() {
    if (this.healthy) this.#machine.ready()
    return {
      loadState: this.barred === 'masked' ? 'masked' : 'loaded',
      startTimedOut: false,
      hasJob: false,
      mainPid: this.#process?.pid ?? 0,
      result: this.#machine.result,
      ...SHOWN_STATE[this.#machine.state],
    }
  }

  #describeProcess(): KubeletProcess {
    if (this.#process === undefined) return { kind: 'none' }
    return describeProcess(this.#options.dynamicConfigDir, this.#process.pid, this.#process.configPath)
  }
}

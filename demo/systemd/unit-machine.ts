// SPDX-License-Identifier: Apache-2.0
/**
 * systemd's state machine for a service, as far as kubelet's unit needs it. The fake unit and the
 * simulated systemd share it. The caller provides the clock and the processes. Transitions as
 * measured with systemd 252 and 257: what resets NRestarts, what keeps it, and what a command does
 * in each state.
 */
import type { RestartWait } from '../../src/subject/unit-state.ts'

export type MachineState = 'inactive' | 'start-pre' | 'starting' | 'running' | 'stopping' | 'auto-restart' | 'restart-queued' | 'failed'
export type ExitResult = 'success' | 'exit-code' | 'signal' | 'timeout'
export type MachineVerb = 'start' | 'stop' | 'restart' | 'try-restart' | 'reset-failed'

/** How `systemctl show` names these states. */
export const SHOWN_STATE = {
  inactive: { activeState: 'inactive', subState: 'dead' },
  'start-pre': { activeState: 'activating', subState: 'start-pre' },
  starting: { activeState: 'activating', subState: 'start' },
  running: { activeState: 'active', subState: 'running' },
  stopping: { activeState: 'deactivating', subState: 'stop-sigterm' },
  'auto-restart': { activeState: 'activating', subState: 'auto-restart' },
  'restart-queued': { activeState: 'activating', subState: 'auto-restart-queued' },
  failed: { activeState: 'failed', subState: 'failed' },
} as const

export interface StartPre {
  readonly takesUs: number
  /** Then systemd does not execute the process. */
  readonly fails: boolean
}

export interface MachineOptions {
  readonly restartUs: number
  /** `Restart=`. */
  readonly restart?: 'always' | 'on-failure' | undefined
  /** Whether a unit that it requires fails now. undefined: it requires none. */
  dependencyFails?(): boolean
  /** As systemd 254 and later: an automatic restart that comes to nothing stays queued. */
  readonly keepsQueued?: boolean | undefined
  /** A start ends when the process says so (Type=notify): `ready` is called then. */
  readonly notify?: boolean | undefined
  /** undefined: no limit, as in kubeadm's unit. */
  readonly startLimit?: { readonly burst: number; readonly intervalUs: number } | undefined
  /** What `ExecStartPre=` does at the start that begins now. undefined: it ends at once. */
  startPre?(): StartPre | undefined
  /** Starts a process. */
  spawn(): void
  /** Requests the process to exit; the caller then calls `exited`. */
  terminate(): void
  newInvocationId(): string
}

export class UnitMachine {
  readonly #options: MachineOptions
  #state: MachineState = 'inactive'
  #result: ExitResult | 'start-limit-hit' = 'success'
  #nRestarts = 0
  #invocationId = ''
  #startedAtUs = 0
  #wasKilled = false
  #activeExitUs = 0
  #inactiveEnterUs = 0
  #mainExitUs = 0
  #dependencyFailedUs: number | undefined
  #restartAtUs: number | undefined
  #startPre: { readonly endsAtUs: number; readonly fails: boolean } | undefined
  #startAfterStop = false
  #starts: { beganUs: number; count: number } | undefined

  constructor(options: MachineOptions) {
    this.#options = options
  }

  get state(): MachineState {
    return this.#state
  }
  get result(): string {
    return this.#result
  }
  get nRestarts(): number {
    return this.#nRestarts
  }
  get invocationId(): string {
    return this.#invocationId
  }
  /** Of the process of this invocation; 0 until systemd has executed it. */
  get startedAtUs(): number {
    return this.#startedAtUs
  }
  /** A signal ended the last process. */
  get wasKilled(): boolean {
    return this.#wasKilled
  }
  /** The times of `UnitDown`. */
  get downTimes() {
    return { activeExitUs: this.#activeExitUs, inactiveEnterUs: this.#inactiveEnterUs, mainExitUs: this.#mainExitUs }
  }
  /** When its latest start came to nothing for a unit that it requires. */
  get dependencyFailedUs(): number | undefined {
    return this.#dependencyFailedUs
  }
  get restartsOn(): 'always' | 'on-failure' {
    return this.#options.restart ?? 'always'
  }
  get startLimit(): MachineOptions['startLimit'] {
    return this.#options.startLimit
  }
  get restartUs(): number {
    return this.#options.restartUs
  }
  /** While it waits to restart the unit. */
  get restartWait(): RestartWait | undefined {
    const untilUs = this.#state === 'auto-restart' ? this.#restartAtUs : undefined
    return untilUs === undefined ? undefined : { sinceUs: untilUs - this.#options.restartUs, untilUs }
  }
  /** When to call `onTimer`. undefined: never. */
  get timerUs(): number | undefined {
    return this.#startPre?.endsAtUs ?? this.#restartAtUs
  }

  /** undefined: success. Otherwise systemctl's error message. */
  command(verb: MachineVerb, nowUs: number): string | undefined {
    switch (verb) {
      case 'start':
        return this.#start(nowUs)
      case 'stop':
        this.#stop(nowUs)
        return undefined
      case 'restart':
        return this.#state === 'inactive' || this.#state === 'failed' ? this.#start(nowUs) : this.#restart(nowUs)
      case 'try-restart':
        // As in systemd 248 to 251: a unit that is still starting is not active.
        return ['inactive', 'failed', 'start-pre', 'starting'].includes(this.#state) ? undefined : this.#restart(nowUs)
      case 'reset-failed':
        this.#nRestarts = 0
        this.#starts = undefined
        if (this.#state === 'failed') this.#state = 'inactive'
        if (this.#state !== 'running') this.#result = 'success'
        return undefined
    }
  }

  /** The process has sent READY=1. */
  ready(): void {
    if (this.#state === 'starting') this.#state = 'running'
  }

  exited(result: ExitResult, nowUs: number): void {
    this.#wasKilled = result === 'signal' || result === 'timeout'
    this.#mainExitUs = nowUs
    if (this.#state === 'stopping') {
      this.#enterInactive(result === 'timeout' ? 'failed' : 'inactive', nowUs)
      this.#result = result === 'timeout' ? 'timeout' : 'success'
      if (this.#startAfterStop) this.#run(nowUs, 'by hand')
      this.#startAfterStop = false
    } else if (this.#isUp()) {
      this.#activeExitUs = nowUs
      this.#enterInactive('inactive', nowUs)
      if (result === 'success' && this.restartsOn === 'on-failure') return
      this.#awaitRestart(result, nowUs)
    }
  }

  #awaitRestart(result: ExitResult, nowUs: number): void {
    this.#state = 'auto-restart'
    this.#result = result
    this.#restartAtUs = nowUs + this.#options.restartUs
  }

  onTimer(nowUs: number): void {
    const { endsAtUs, fails } = this.#startPre ?? {}
    if (endsAtUs !== undefined && nowUs >= endsAtUs) {
      this.#startPre = undefined
      if (fails === true) this.#awaitRestart('exit-code', nowUs)
      else this.#execute(nowUs)
    }
    if (this.#restartAtUs === undefined || nowUs < this.#restartAtUs) return
    const before = this.#result
    if (this.#run(nowUs, 'automatically') !== undefined) this.#result = before
  }

  #start(nowUs: number): string | undefined {
    if (this.#state === 'stopping') this.#startAfterStop = true
    // A unit that waits for its automatic restart keeps waiting.
    if (this.#state === 'restart-queued') return this.#run(nowUs, 'out of auto-restart')
    return this.#state === 'inactive' || this.#state === 'failed' ? this.#run(nowUs, 'by hand') : undefined
  }

  #stop(nowUs: number): void {
    if (this.#state === 'auto-restart' || this.#state === 'restart-queued' || this.#state === 'start-pre') {
      this.#enterInactive('inactive', nowUs)
      this.#restartAtUs = undefined
      this.#startPre = undefined
    }
    this.#startAfterStop = false
    if (!this.#isUp()) return
    this.#activeExitUs = nowUs
    this.#state = 'stopping'
    this.#options.terminate()
  }

  #restart(nowUs: number): string | undefined {
    if (this.#state === 'auto-restart' || this.#state === 'restart-queued') return this.#run(nowUs, 'out of auto-restart')
    if (this.#state === 'start-pre') return this.#run(nowUs, 'by hand')
    this.#startAfterStop = true
    if (!this.#isUp()) return undefined
    this.#activeExitUs = nowUs
    this.#state = 'stopping'
    this.#options.terminate()
    return undefined
  }

  #run(nowUs: number, how: 'by hand' | 'automatically' | 'out of auto-restart'): string | undefined {
    this.#restartAtUs = undefined
    this.#startPre = undefined
    if (this.#options.dependencyFails?.() === true) {
      this.#dependencyFailedUs = nowUs
      if (how === 'automatically') this.#nRestarts += 1
      if (how === 'automatically' && this.#options.keepsQueued === true) this.#state = 'restart-queued'
      else if (how !== 'by hand') this.#enterInactive('inactive', nowUs)
      return undefined
    }
    if (!this.#mayStart(nowUs)) {
      this.#enterInactive('failed', nowUs)
      this.#result = 'start-limit-hit'
      return 'start of the service was attempted too often'
    }
    if (how === 'by hand') this.#nRestarts = 0
    if (how === 'automatically') this.#nRestarts += 1
    this.#result = 'success'
    this.#invocationId = this.#options.newInvocationId()
    this.#startedAtUs = 0
    this.#wasKilled = false
    const startPre = this.#options.startPre?.()
    if (startPre === undefined) this.#execute(nowUs)
    else {
      this.#state = 'start-pre'
      this.#startPre = { endsAtUs: nowUs + startPre.takesUs, fails: startPre.fails }
    }
    return undefined
  }

  #execute(nowUs: number): void {
    this.#state = this.#options.notify === true ? 'starting' : 'running'
    this.#startedAtUs = nowUs
    this.#options.spawn()
  }

  #enterInactive(state: 'inactive' | 'failed', nowUs: number): void {
    this.#state = state
    this.#inactiveEnterUs = nowUs
  }

  #isUp(): boolean {
    return this.#state === 'running' || this.#state === 'starting'
  }

  /** `ratelimit_below()`: a number of starts per interval, which begins with the first start. */
  #mayStart(nowUs: number): boolean {
    const { startLimit } = this.#options
    if (startLimit === undefined) return true
    if (this.#starts === undefined || this.#starts.beganUs + startLimit.intervalUs < nowUs) this.#starts = { beganUs: nowUs, count: 0 }
    this.#starts.count += 1
    return this.#starts.count <= startLimit.burst
  }
}

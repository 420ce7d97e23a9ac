/**
 * systemd's state machine for a service with `Restart=always`, as far as kubelet's unit needs it.
 * The fake unit and the simulated systemd share it. The caller provides the clock and the
 * processes. Transitions as measured with systemd 252: what resets NRestarts, what keeps it, and
 * what a command does in each state.
 */

export type MachineState = 'inactive' | 'starting' | 'running' | 'stopping' | 'auto-restart' | 'failed'
export type ExitResult = 'success' | 'exit-code' | 'signal' | 'timeout'
export type MachineVerb = 'start' | 'stop' | 'restart' | 'try-restart' | 'reset-failed'

/** How `systemctl show` names these states. */
export const SHOWN_STATE = {
  inactive: { activeState: 'inactive', subState: 'dead' },
  starting: { activeState: 'activating', subState: 'start' },
  running: { activeState: 'active', subState: 'running' },
  stopping: { activeState: 'deactivating', subState: 'stop-sigterm' },
  'auto-restart': { activeState: 'activating', subState: 'auto-restart' },
  failed: { activeState: 'failed', subState: 'failed' },
} as const

export interface MachineOptions {
  readonly restartUs: number
  /** A start ends when the process says so (Type=notify): `ready` is called then. */
  readonly notify?: boolean | undefined
  /** undefined: no limit, as in kubeadm's unit. */
  readonly startLimit?: { readonly burst: number; readonly intervalUs: number } | undefined
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
  #restartAtUs: number | undefined
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
  get startedAtUs(): number {
    return this.#startedAtUs
  }
  /** A signal ended the last process. */
  get wasKilled(): boolean {
    return this.#wasKilled
  }
  get startLimit(): MachineOptions['startLimit'] {
    return this.#options.startLimit
  }
  /** When to call `onTimer`. undefined: never. */
  get timerUs(): number | undefined {
    return this.#restartAtUs
  }

  /** undefined: success. Otherwise systemctl's error message. */
  command(verb: MachineVerb, nowUs: number): string | undefined {
    switch (verb) {
      case 'start':
        return this.#start(nowUs)
      case 'stop':
        this.#stop()
        return undefined
      case 'restart':
        return this.#state === 'inactive' || this.#state === 'failed' ? this.#start(nowUs) : this.#restart(nowUs)
      case 'try-restart':
        // As in systemd 248 to 251: a unit that is still starting is not active.
        return this.#state === 'inactive' || this.#state === 'failed' || this.#state === 'starting' ? undefined : this.#restart(nowUs)
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
    if (this.#state === 'stopping') {
      this.#state = result === 'timeout' ? 'failed' : 'inactive'
      this.#result = result === 'timeout' ? 'timeout' : 'success'
      if (this.#startAfterStop) this.#run(nowUs, 'by hand')
      this.#startAfterStop = false
    } else if (this.#isUp()) {
      this.#state = 'auto-restart'
      this.#result = result
      this.#restartAtUs = nowUs + this.#options.restartUs
    }
  }

  onTimer(nowUs: number): void {
    if (this.#restartAtUs === undefined || nowUs < this.#restartAtUs) return
    const before = this.#result
    if (this.#run(nowUs, 'automatically') !== undefined) this.#result = before
  }

  #start(nowUs: number): string | undefined {
    if (this.#state === 'stopping') this.#startAfterStop = true
    // A unit that waits for its automatic restart keeps waiting.
    return this.#state === 'inactive' || this.#state === 'failed' ? this.#run(nowUs, 'by hand') : undefined
  }

  #stop(): void {
    if (this.#state === 'auto-restart') {
      this.#state = 'inactive'
      this.#restartAtUs = undefined
    }
    this.#startAfterStop = false
    if (!this.#isUp()) return
    this.#state = 'stopping'
    this.#options.terminate()
  }

  #restart(nowUs: number): string | undefined {
    if (this.#state === 'auto-restart') return this.#run(nowUs, 'out of auto-restart')
    this.#startAfterStop = true
    if (!this.#isUp()) return undefined
    this.#state = 'stopping'
    this.#options.terminate()
    return undefined
  }

  #run(nowUs: number, how: 'by hand' | 'automatically' | 'out of auto-restart'): string | undefined {
    this.#restartAtUs = undefined
    if (!this.#mayStart(nowUs)) {
      this.#state = 'failed'
      this.#result = 'start-limit-hit'
      return 'start of the service was attempted too often'
    }
    if (how === 'by hand') this.#nRestarts = 0
    if (how === 'automatically') this.#nRestarts += 1
    this.#state = this.#options.notify === true ? 'starting' : 'running'
    this.#result = 'success'
    this.#invocationId = this.#options.newInvocationId()
    this.#startedAtUs = nowUs
    this.#wasKilled = false
    this.#options.spawn()
    return undefined
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

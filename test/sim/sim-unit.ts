// SPDX-License-Identifier: Apache-2.0
/**
 * kubelet and systemd of the simulation. kubelet behaves as its config says (behaviour.ts); systemd
 * restarts it after RestartSec; the schedule stops, kills, upgrades and reboots it. It starts with
 * the config that kubelet.env names, or with the config file that the agent replaces.
 */

import type { RestartOutcome } from '../../src/decision/effects-of-answer.ts'
import type { HealthProbe, HealthTarget } from '../../src/ports/probes.ts'
import type { Unit } from '../../src/ports/unit.ts'
import type {
  KubeletProcess,
  ReadyWiring,
  RestartWait,
  UnitActivity,
  UnitDown,
  UnitHazards,
  UnitState,
} from '../../src/subject/unit-state.ts'
import { HeldAnswer } from '../../src/systemd/held-answer.ts'
import { describeProcess } from '../../src/systemd/unit-activity.ts'
import {
  behaviourOf,
  delayFate,
  diesAfter,
  type Fate,
  fateOf,
  healthzPortOf,
  isLocalText,
  NEVER,
  type SimProcess,
  type Starter,
} from './behaviour.ts'
import { type ExitCause, SimJournal } from './sim-journal.ts'
import { SimLeavings } from './sim-leavings.ts'
import { SimManagers } from './sim-managers.ts'
import { SimRuntime } from './sim-runtime.ts'
import { SimSignals } from './sim-signals.ts'
import { SimSystemctl } from './sim-systemctl.ts'
import type { SimUnitWorld } from './sim-unit-world.ts'

/** How long a start waits in systemd's queue, and which of them do. */
const QUEUED_US = 30e3
const isSlow = (invocation: number): boolean => invocation % 4 === 3
/** After which of them a fault of the node is one of `ExecStartPre=`: kubelet is not executed. */
const isOfStartPre = (invocation: number): boolean => invocation % 3 === 2
/** Against a runtime that accepts connections and never answers, as measured. */
const GIVES_UP_AFTER_SECONDS = 15
/** `TimeoutStartSec=`, of a unit of `Type=notify`. */
const START_TIMEOUT_US = 90e6
const OPERATOR_COMES_AFTER_US = 60e6

/** The state that systemctl shows. */
interface Shown {
  readonly activity: UnitActivity
  readonly invocationId: string
  readonly nRestarts: number
  readonly startedAtUs: number
  readonly down: UnitDown | undefined
  readonly restartWait: RestartWait | undefined
  readonly hazards: UnitHazards
}

const NAME = 'kubelet.service'

/**
 * Why the unit is inactive. `person`: so it stays. `dependency`: a unit that it requires failed.
 * `clean exit`: kubelet ended without an error, on a node with `Restart=on-failure`. `boot`: it has
 * not been started since the boot, since a unit that it requires failed. `unclear`: a start failed
 * for such a unit, and it was a person's, or nothing in /run tells whose: that person has seen the
 * error, and may want the unit down.
 */
type DownCause = 'person' | 'unclear' | 'dependency' | 'clean exit' | 'boot'

export class SimUnit implements Unit, HealthProbe {
  readonly systemctl: SimSystemctl
  readonly runtime: SimRuntime
  readonly journal = new SimJournal()
  readonly leavings = new SimLeavings()
  readonly managers: SimManagers
  readonly signals: SimSignals
  /** Of the agent that runs. */
  #held: HeldAnswer<Shown> | undefined
  readonly #world: SimUnitWorld
  #stateNow: 'running' | 'auto-restart' | 'queued' | 'stopped' | 'failed' = 'stopped'
  #process: SimProcess | undefined
  #startAtUs: number | undefined
  /** Who asked for the next start. */
  #starter: Starter = 'boot'
  /** Systemd did not refuse a start that the agent requested, and no process has started since. */
  #owesAgent = false
  /**
   * When an operator starts a unit that systemd gave up on while it ran a local config that had
   * been healthy.
   */
  #operatorAtUs: number | undefined
  /** kubelet was healthy on its local config since the agent's last restart. */
  #wasHealthy = false
  /** With its last restart the agent started again what had been down. */
  #isStartedAgain = false
  #invocations = 0
  #nRestarts = 0
  /** Of the kubelet on disk. */
  #version = 1
  /** By the wrapper that starts kubelet, into a file which counts as part of its identity. */
  #written = ''
  #faultUntilUs = 0
  #failsStartPre = false
  lastStartedAtUs = 0
  /** Systemd took the agent's `reset-failed` and refused its `start`, which is on record. */
  #isLeftStopped = false
  /** Of what kubelet is started with while no agent has seen what was lost. */
  #lost: Pick<SimProcess, 'isUntraceable' | 'isRenamed'> | undefined
  /** By the agent in the present pass, which waits for its container runtime after that. */
  #shownOf: string | undefined
  /**
   * A start of systemd's came to nothing in a pass that has seen what it restarts: this one. Or a
   * person stopped it while it was queued: another that fails later looks the same.
   */
  #beingSeenOf: string | undefined
  #downCause: DownCause = 'boot'
  #down = { activeExitUs: 0, inactiveEnterUs: 0, mainExitUs: 0 }
  #dependencyFailedUs: number | undefined
  #dependencyFailsUntilUs = 0
  /** A person has said that it is not to start. */
  barred: UnitDown['barred']
  #isStartedInBoot = false
  /** Of kubelet, so far. */
  exits = 0
  /** Pods that kubelet refused after it had run them. */
  lostPods = 0

  constructor(world: SimUnitWorld) {
    this.#world = world
    this.managers = new SimManagers(world)
    this.systemctl = new SimSystemctl(() => world.nowUs())
    this.runtime = new SimRuntime(() => world.nowUs())
    this.signals = new SimSignals(
      () => world.nowUs(),
      world.random,
      () => world.onHint(),
    )
    this.#start()
  }

  get process(): SimProcess | undefined {
    return this.#process
  }

  get activity(): UnitActivity {
    const isStarting = this.#state === 'running' && this.#world.kind.unit === 'notify' && this.#world.nowUs() < this.#readyAtUs
    return isStarting ? 'starting' : this.#state
  }

  /** As far as an agent can know. */
  get isStoppedByOperator(): boolean {
    if (this.#state !== 'stopped' || this.#isLeftStopped) return false
    // Of what the agent's job took down, `disabled` does not tell who wants it down.
    const isBarred = this.barred === 'masked' || (this.barred !== undefined && this.#starter !== 'agent')
    return isBarred || !this.#isDownByItself
  }

  /** Whether it is down for another reason than a person's, leaving aside what bars it since. */
  get #isDownByItself(): boolean {
    return this.#state === 'stopped' && (this.#isLeftStopped || !['person', 'unclear', 'boot'].includes(this.#downCause))
  }

  /**
   * Whether the agent may start it: nobody has stopped it, or a start has failed that is the
   * agent's own for all that systemd shows, since one of the agent's is still owed, or on record.
   * Or it is systemd's, and the agent may have seen that.
   */
  mayBeStarted(isOnRecord: boolean): boolean {
    const isBeingSeen = this.#beingSeenOf === this.invocationId
    const isUntold = this.#downCause === 'unclear' && (this.#owesAgent || isOnRecord || isBeingSeen)
    return !this.isStoppedByOperator || (isUntold && this.barred !== 'masked')
  }

  /** A unit that it requires fails: no start comes to anything. */
  get isDependencyFailing(): boolean {
    return this.#world.nowUs() < this.#dependencyFailsUntilUs
  }

  /** Nobody has stopped it, and systemd does not start it again. */
  get isLeftDown(): boolean {
    return this.#state === 'stopped' && !this.isStoppedByOperator
  }

  /** When a start of it came to nothing for that, as the results of systemd's jobs tell. */
  get dependencyFailedUs(): number | undefined {
    return this.systemctl.fault === 'down' ? undefined : this.#dependencyFailedUs
  }

  get isLeftByDependency(): boolean {
    return this.isLeftDown && this.#downCause === 'dependency'
  }

  failDependency(seconds: number): void {
    this.#dependencyFailsUntilUs = this.#world.nowUs() + seconds * 1e6
  }

  get #readyAtUs(): number {
    return this.#process?.readyAtUs ?? NEVER
  }

  get invocationId(): string {
    return this.#isStartedInBoot ? `invocation-${this.#invocations}` : ''
  }

  get wiring(): ReadyWiring {
    return this.#world.wiring
  }

  isNodeWell(): boolean {
    const now = this.#world.nowUs()
    return !this.runtime.isFaulty && now >= this.#faultUntilUs
  }

  isHealthy(): boolean {
    const now = this.#world.nowUs()
    return this.#process !== undefined && now >= this.#process.healthyFromUs && now < this.#process.unhealthyFromUs
  }

  /** Of the kubelet on disk: of a config that runs, `process.version` may be older. */
  get version(): number {
    return this.#version
  }

  /** Of the kubelet on disk, with what its last start has written. */
  get identity(): string {
    return `kubelet-${this.#version}${this.#written}`
  }

  /** An agent starts: what the last one held is gone. */
  agentStarted(): void {
    this.runtime.agentStarted()
    this.#held = undefined
    this.#lost = undefined
    this.#shownOf = undefined
    if (!this.#world.kind.signals) return
    this.signals.listen()
    const now = () => ({ bootId: '', monotonicUs: this.#world.nowUs(), wallMs: 0 })
    this.#held = new HeldAnswer(this.signals, { now })
  }

  async observe(): Promise<UnitState> {
    // As the agent's adapter does it: a process that has ended is no longer what it was.
    const found = this.#process === undefined ? undefined : this.#held?.get()
    const held = found?.invocationId === this.invocationId ? found : undefined
    if (held === undefined && this.systemctl.fault === 'down') return { kind: 'unknown', detail: 'systemctl: connection timed out' }
    const shown = held ?? this.#show()
    this.#shownOf = shown.invocationId
    if (held === undefined && shown.activity === 'running') this.#held?.begin().keep(shown)
    const { localPath, wiring } = this.#world
    return {
      kind: 'known',
      ...shown,
      summary: shown.activity,
      kubeletIdentity: this.identity,
      ...(this.#world.kind.managers && { setsStatesAside: true }),
      process: this.#describeProcess(),
      localConfigPath: localPath,
      runtimeEndpoint: undefined,
      healthzFlags: {},
      command: { path: '/usr/bin/kubelet', words: [`--config=${localPath}`] },
      wiring,
    }
  }

  stillRuns(seen: UnitState): boolean {
    return this.#process !== undefined && seen.kind === 'known' && seen.invocationId === this.invocationId
  }

  #show(): Shown {
    const { activity, invocationId } = this
    const { barred } = this
    const down = activity === 'stopped' ? { name: NAME, ...this.#down, barred } : undefined
    const { restartWait } = this
    const hazards = { requires: ['runtime-setup.service'], bindsTo: [], restart: this.#world.kind.restart }
    return { activity, invocationId, nRestarts: this.#nRestarts, startedAtUs: this.lastStartedAtUs, down, restartWait, hazards }
  }

  /** As far as systemd tells. */
  get restartWait() {
    const { tellsWait, restartSeconds } = this.#world.kind
    const sinceUs = this.#down.mainExitUs
    return tellsWait && this.#state === 'auto-restart' ? { sinceUs, untilUs: sinceUs + restartSeconds * 1e6 } : undefined
  }

  get #state() {
    return this.#stateNow
  }

  set #state(state) {
    this.#stateNow = state
    this.signals.emit()
  }

  async restart(activity: 'failed' | 'other'): Promise<RestartOutcome> {
    const { fault } = this.systemctl
    this.#held?.drop()
    if (this.barred === 'masked') return { ok: false, detail: `${NAME} is ${this.barred}` }
    if (this.systemctl.refuses) {
      // Every other time, it takes `reset-failed` and refuses `start`.
      if (fault === 'refuses' && this.#invocations % 2 === 1) this.#resetFailed()
      this.#world.onCommand()
      return { ok: false, detail: 'systemctl: connection timed out' }
    }
    try {
      this.#world.onRestart()
    } finally {
      // The agent that dies here does not know either whether it was taken.
      this.#owesAgent = true
    }
    this.#nRestarts = 0
    this.#wasHealthy = false
    this.#isStartedAgain = activity === 'failed'
    // Two commands: `reset-failed`, then `start` or `try-restart`.
    this.#resetFailed()
    this.#world.onCommand()
    if (this.#state !== 'stopped' || activity === 'failed') {
      this.#starter = 'agent'
      this.#queueStart()
    }
    return fault === 'late' ? { ok: false, detail: 'systemctl took longer than 30 s', mayBeTaken: true } : { ok: true }
  }

  /** `reset-failed` leaves a unit that looks stopped until the start that follows. */
  #resetFailed(): void {
    if (this.#state !== 'failed') return
    this.#state = 'stopped'
    this.#isLeftStopped = true
  }

  async healthz({ port }: HealthTarget): Promise<{ ok: boolean; detail: string }> {
    const answers = this.isHealthy() && this.#process !== undefined && healthzPortOf(this.#process.text) === port
    return answers ? { ok: true, detail: 'ok' } : { ok: false, detail: 'connection refused' }
  }

  /** undefined: it said nothing, or nothing on this node answers. */
  lastWords(invocationId: string): string | undefined {
    return this.systemctl.fault === 'down' ? undefined : this.journal.read(invocationId)
  }

  nextUs(): number {
    const exitUs = this.#process?.exitsAtUs ?? NEVER
    const ownUs = Math.min(exitUs, this.#startTimeoutUs(), this.#startAtUs ?? NEVER, this.#operatorAtUs ?? NEVER)
    return Math.min(ownUs, this.runtime.nextUs(), this.signals.nextUs())
  }

  #startTimeoutUs(): number {
    return this.#process !== undefined && this.activity === 'starting' ? this.#process.startedAtUs + START_TIMEOUT_US : NEVER
  }

  advance(): void {
    const now = this.#world.nowUs()
    this.runtime.advance()
    this.signals.advance()
    if (this.#process !== undefined && now >= this.#process.exitsAtUs) {
      this.journal.write(this.invocationId, this.#process.cause, this.#process.text, this.#invocations)
      if (this.#exitsInVain(this.#process)) this.#world.onVictim(this.#process.text)
      this.exit(this.#process.cause === 'config' && behaviourOf(this.#process.text) === 'ends-cleanly')
    } else if (now >= this.#startTimeoutUs()) this.exit()
    if (this.#startAtUs !== undefined && now >= this.#startAtUs) {
      if (this.#state === 'queued') this.#start()
      else {
        this.#nRestarts += 1
        this.#starter = 'systemd'
        this.#queueStart()
      }
    }
    // Local is the administrator's by the time that the assignment is gone, even if it was not when
    // kubelet went down: it was healthy there, or one more start of it was in vain.
    const isReturned = this.#wasHealthy || (this.#isStartedAgain && !this.#owesAgent)
    if (this.isLeftDown && isReturned && this.#world.isNothingAssigned()) this.#operatorAtUs ??= now + OPERATOR_COMES_AFTER_US
    if (this.#operatorAtUs !== undefined && now >= this.#operatorAtUs) this.startByOperator()
  }

  /** For its container runtime, which answers by now: nobody can see why. */
  #exitsInVain({ isLate, cause, text }: SimProcess): boolean {
    const isForRuntime = cause === 'dead runtime' || cause === 'silent runtime'
    return isLate === true && isForRuntime && this.runtime.isUp(this.runtime.endpointOf(text))
  }

  /** The process ends by itself, or is killed. */
  exit(isClean = false): void {
    if (this.#process === undefined) return
    this.exits += 1
    const now = this.#world.nowUs()
    const isLocal = isLocalText(this.#process.text)
    this.#world.onExited(this.#process, this.journal.read(this.invocationId))
    this.#endProcess()
    this.#down = { activeExitUs: now, mainExitUs: now, inactiveEnterUs: now }
    if (isClean && this.#world.kind.restart === 'on-failure') {
      this.#downCause = 'clean exit'
      this.#startAtUs = undefined
      this.#operatorAtUs = this.#world.isNothingAssigned() ? now + OPERATOR_COMES_AFTER_US : undefined
      this.#state = 'stopped'
      return
    }
    // On a broken node systemd would give up, too, and then wait for an operator. The schedules
    // have none for that.
    const givenUp = this.#nRestarts >= this.#world.kind.startLimit && this.isNodeWell()
    if (givenUp) this.#down = { ...this.#down, activeExitUs: now - 1 }
    this.#state = givenUp ? 'failed' : 'auto-restart'
    this.#startAtUs = givenUp ? undefined : now + this.#world.kind.restartSeconds * 1e6
    // A local config that nobody replaces is not the agent's.
    const isOperators = this.#wasHealthy || (isLocal && this.#world.isNothingAssigned())
    this.#operatorAtUs = givenUp && isOperators ? this.#world.nowUs() + OPERATOR_COMES_AFTER_US : undefined
  }

  #endProcess(): void {
    if (this.#process === undefined) return
    const isLocal = isLocalText(this.#process.text)
    this.#wasHealthy = isLocal && (this.#wasHealthy || this.#world.nowUs() >= this.#process.healthyFromUs)
    this.#process = undefined
  }

  stopByOperator(): void {
    if (this.#state === 'queued' && this.#starter === 'systemd' && this.#world.isSeen(this.invocationId))
      this.#beingSeenOf = this.invocationId
    this.#isLeftStopped = false
    this.#stop()
    this.#operatorAtUs = undefined
    // A stop of what is down leaves no trace.
    if (this.#state !== 'stopped') this.#downCause = 'person'
    this.#state = 'stopped'
  }

  /** The state after a stop, which takes a moment. */
  #stop(): void {
    const now = this.#world.nowUs()
    if (this.#process !== undefined) this.#down = { activeExitUs: now - 2, mainExitUs: now - 1, inactiveEnterUs: now }
    else if (this.#startAtUs !== undefined) this.#down = { ...this.#down, inactiveEnterUs: now + 1 }
    this.#startAtUs = undefined
    this.#endProcess()
  }

  /** The start that is due comes to nothing. */
  #failStart(): void {
    // Of what is left down already, a start that fails leaves no trace, also while it is barred.
    const isPersons = this.#starter === 'person' && !this.#isDownByItself
    // By NRestarts alone a start of systemd's is told from a person's, and only where a look has
    // shown how often it had restarted kubelet when this process was there.
    const isUntold = this.#starter === 'systemd' && !this.#world.isSeen(this.invocationId)
    // A person who starts that in vain afterwards leaves no trace, either.
    if (isUntold) this.#beingSeenOf = this.#shownOf === this.invocationId ? this.invocationId : undefined
    this.#stop()
    this.#dependencyFailedUs = this.#world.nowUs() + 2
    this.#isLeftStopped = false
    if (this.#starter === 'boot') this.#isStartedInBoot = false
    // A person sees the error, and tries again.
    this.#downCause = this.#starter === 'boot' ? 'boot' : isPersons || isUntold ? 'unclear' : 'dependency'
    const isAgents = this.#downCause === 'dependency' && !this.#world.isNothingAssigned()
    this.#operatorAtUs = isAgents ? undefined : this.#world.nowUs() + OPERATOR_COMES_AFTER_US
    this.#state = 'stopped'
  }

  startByOperator(): void {
    this.barred = undefined
    if (this.#state === 'running') return
    this.#starter = 'person'
    this.#start()
  }

  /** As kubelet's message says: stop it, delete the file, start it. */
  deleteLeavings(): void {
    this.stopByOperator()
    this.leavings.delete()
    this.startByOperator()
  }

  restartByOperator(): void {
    // Systemd refuses it: who has masked the unit unmasks it first.
    if (this.barred === 'masked') this.barred = undefined
    // Systemd has counted a start of its own that is still queued: then that one seems to fail.
    const isCounted = this.#state === 'queued' && this.#starter === 'systemd'
    const tookDown = this.#isDownByItself ? this.#starter : undefined
    this.#stop()
    this.#starter = isCounted && this.isDependencyFailing ? 'systemd' : 'person'
    this.#start()
    // A start in vain leaves no trace of what is down already.
    if (tookDown !== undefined && this.#state === 'stopped') this.#starter = tookDown
  }

  /**
   * The records under /run are lost. They said whose start it was that failed for another unit: a
   * person's looks the same, and a person who has seen the error may want the unit down. Of its own
   * start the agent has another record, if that could be written.
   */
  loseRecords(): void {
    this.#beingSeenOf = undefined
    // Also of one that is masked: a person who unmasks it brings no record back.
    const isLeftByDependency = this.#isDownByItself && this.#downCause === 'dependency'
    if (!this.#isLeftStopped && !isLeftByDependency) return
    this.#isLeftStopped = false
    this.#downCause = 'unclear'
    this.#operatorAtUs = this.#world.nowUs() + OPERATOR_COMES_AFTER_US
  }

  /** @param restarts a package may leave the old process running */
  upgrade(restarts: boolean): void {
    this.#version += 1
    if (restarts && this.#state !== 'stopped') this.restartByOperator()
  }

  /** The process did not run for a while, and does what it does so much later. */
  freeze(us: number): void {
    if (this.#startAtUs !== undefined) this.#startAtUs += us
    if (this.#process !== undefined) this.#process = { ...this.#process, ...delayFate(this.#process, us), isLate: true }
  }

  loseBytes(isRenamed: boolean): void {
    this.#lost = { isUntraceable: true, isRenamed }
    if (this.#process !== undefined) this.#process = { ...this.#process, ...this.#lost }
  }

  losePort(): void {
    if (this.#process !== undefined) this.#process = { ...this.#process, isPortLost: true }
  }

  /** The node itself is broken: kubelet exits with every config. */
  nodeFault(seconds: number): void {
    this.#faultUntilUs = this.#world.nowUs() + seconds * 1e6
    this.#failsStartPre = isOfStartPre(this.#invocations)
    // The fault may be over before kubelet starts again.
    if (this.#process !== undefined) this.#world.onVictim(this.#process.text)
    this.exit()
  }

  /** Every fault ends, and a person starts what a person has stopped. */
  heal(): void {
    this.#faultUntilUs = 0
    this.#dependencyFailsUntilUs = 0
    this.systemctl.repair()
    this.runtime.endFault()
    if (this.leavings.isKilling) this.deleteLeavings()
    if (this.isStoppedByOperator) this.startByOperator()
  }

  /** @param beforeUs the clock of the boot before */
  boot(beforeUs: number): void {
    this.signals.forget()
    // As after `systemctl mask --runtime`: with a lasting one, nothing would be started.
    if (this.barred === 'masked') this.barred = undefined
    // The unit that kubelet requires fails for as long as it would have without the boot.
    this.#dependencyFailsUntilUs += this.#world.nowUs() - beforeUs
    this.#held = undefined
    this.runtime.repair()
    this.#faultUntilUs = 0
    this.#nRestarts = 0
    this.#owesAgent = false
    this.#endProcess()
    this.#isStartedInBoot = false
    this.#dependencyFailedUs = undefined
    this.#down = { activeExitUs: 0, mainExitUs: 0, inactiveEnterUs: 0 }
    this.systemctl.repair()
    this.#starter = 'boot'
    this.#start()
  }

  /** A restart is a stop, and then a start that systemd queues: a look may fall in between. */
  #queueStart(): void {
    if (this.isDependencyFailing) {
      this.#failStart()
      return
    }
    if (!isSlow(this.#invocations)) {
      this.#start()
      return
    }
    this.#stop()
    this.#state = 'queued'
    this.#startAtUs = this.#world.nowUs() + QUEUED_US
  }

  #start(): void {
    if (this.isDependencyFailing) {
      this.#failStart()
      return
    }
    this.#owesAgent = false
    const startedAtUs = this.#world.nowUs()
    // A start that comes to nothing leaves the count as it is.
    if (this.#starter === 'person') this.#nRestarts = 0
    this.#invocations += 1
    this.#written = this.#world.hasVaryingIdentity() ? `-${this.#invocations}` : ''
    this.#isStartedInBoot = true
    this.#startAtUs = undefined
    this.#operatorAtUs = undefined
    this.#isLeftStopped = false
    const configPath = this.#world.nextConfigPath()
    const text = this.#world.readText(configPath)
    if (this.#failsStartPre && startedAtUs < this.#faultUntilUs) {
      if (text !== undefined) this.#world.onVictim(text)
      this.lastStartedAtUs = 0
      this.#startAtUs = startedAtUs + this.#world.kind.restartSeconds * 1e6
      this.#state = 'auto-restart'
      return
    }
    this.#state = 'running'
    this.lastStartedAtUs = startedAtUs
    if (text !== undefined) this.managers.beforeStart(text)
    this.#process = {
      startedBy: this.#starter,
      configPath,
      text: text ?? '',
      version: this.#version,
      startedAtUs,
      ...this.#fate(text, startedAtUs),
      cause: this.#causeOfExit(text),
      ...this.#lost,
    }
    this.#world.onStarted(this.#process)
  }

  #fate(text: string | undefined, at: number): Fate {
    if (text !== undefined && at < this.#faultUntilUs) this.#world.onVictim(text)
    if (text === undefined || at < this.#faultUntilUs) return diesAfter(at, 1.5)
    this.runtime.kubeletStarted(text)
    if (this.runtime.isFaulty && this.runtime.isBlamedOn(text, this.#world.fallbackText())) this.#world.onVictim(text)
    if (behaviourOf(text) === 'refuses-pods') this.lostPods += 1
    if (this.runtime.isUp(this.runtime.endpointOf(text))) return this.#fateWithRuntime(text, at)
    const hangsUntilUs = this.#hangsUntilUs(text)
    if (hangsUntilUs === undefined) return diesAfter(at, 1.5)
    // Kubelet waits, and goes on once it is answered.
    const dies = diesAfter(at, GIVES_UP_AFTER_SECONDS)
    if (hangsUntilUs >= dies.exitsAtUs) return dies
    const fate = this.#fateWithRuntime(text, hangsUntilUs)
    // Nobody can see that it waits.
    return healthzPortOf(text) === 0 ? { ...fate, healthyFromUs: at } : fate
  }

  /** @param answeredUs when the container runtime has answered, and the CPU manager starts */
  #fateWithRuntime(text: string, answeredUs: number): Fate {
    if (this.managers.dies(text)) return diesAfter(answeredUs, 1)
    this.leavings.kubeletStarted(text, this.#version)
    if (!this.leavings.isKilling) return fateOf(text, answeredUs, this.#version)
    this.#world.onLeavings(text)
    return diesAfter(answeredUs, 1)
  }

  /** Of a process that starts now. */
  #causeOfExit(text: string | undefined): ExitCause {
    if (text === undefined) return 'no config file'
    if (this.#world.nowUs() < this.#faultUntilUs) return 'node'
    const own = this.leavings.kills(text) ? 'leavings' : 'config'
    if (this.runtime.isUp(this.runtime.endpointOf(text))) return own
    const hangsUntilUs = this.#hangsUntilUs(text)
    if (hangsUntilUs === undefined) return 'dead runtime'
    return hangsUntilUs < this.#world.nowUs() + GIVES_UP_AFTER_SECONDS * 1e6 ? own : 'silent runtime'
  }

  /** The runtime of this config. undefined: it does not hang. */
  #hangsUntilUs(text: string): number | undefined {
    return this.runtime.isUsedBy(text) && !this.runtime.isKilled ? this.runtime.hangsUntilUs : undefined
  }

  #describeProcess(): KubeletProcess {
    if (this.#process === undefined) return { kind: 'none' }
    const { layout, localPath, wiring } = this.#world
    const isDropIn = wiring.kind === 'ready' && wiring.laysOverLocal
    // Kubelet's `--config` never names a drop-in.
    return describeProcess(layout.directory, 1, isDropIn ? localPath : this.#process.configPath)
  }
}

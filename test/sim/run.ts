// SPDX-License-Identifier: Apache-2.0
/**
 * Runs one schedule: agent and world take turns on a fake clock until all events have happened. A
 * long calm follows, in which the agent must settle. With a crash point, the agent or the machine
 * dies at that operation.
 */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Loop, PassObserver } from '../../src/agent/loop.ts'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { FileError } from '../../src/checkpoint/file-error.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { RequestWriter } from '../../src/checkpoint/requests.ts'
import { SameContents } from '../../src/checkpoint/same-contents.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, Wait } from '../../src/decision/step.ts'
import type { Log } from '../../src/ports/log.ts'
import type { ContentHash } from '../../src/subject/config-source.ts'
import { faultsOver } from '../checkpoint/faults.ts'
import { Crash, type CrashPoint } from './crash.ts'
import { Doze } from './doze.ts'
import { Invariants } from './invariants.ts'
import { explainEnd, livenessUs, type Staying } from './liveness.ts'
import { hasLostStamp } from './lost-stamp.ts'
import { PLAIN_NODE } from './node-kind.ts'
import { DIRECTORY, RUNTIME_DIRECTORY } from './paths.ts'
import type { Schedule, WorldEvent } from './schedule.ts'
import { checkSettled, describeEnd, isWell, type Settled } from './settled.ts'
import { activationOn, startAgent } from './sim-agent.ts'
import { applyEvent } from './sim-events.ts'
import { STARVED_US } from './sim-troubles.ts'
import { SimWorld } from './sim-world.ts'

// The simulated disk throws an error for every file that does not exist, and stacks are expensive.
Error.stackTraceLimit = 0

const LAYOUT = layoutOf(DIRECTORY)
/**
 * Longer than anything takes that an agent does not announce, such as its limit of restarts per
 * hour.
 */
const CALM_US = 1.2 * 3600e6
/** Events that happen to every node, and take nothing from the evidence about a process. */
const ORDINARY: ReadonlySet<WorldEvent['kind']> = new Set([
  'edit',
  'assign',
  'unassign',
  'touch-metadata',
  'reword',
  'switch-key',
  'edit-overlay',
])
/**
 * How late an agent looks on a busy node, well within the tolerance. Most nodes are busy: fewer
 * looks take less time to simulate.
 */
const SLOWNESS_US = [0, 3e6, 5e6, 5e6] as const
const FOR_EVER_SECONDS = 1e9
const ROUNDS = 8
/**
 * A config that had proved itself is tried three times again within seven hours after it failed,
 * and clocks may have been set back by more than a day.
 */
const MOST_ROUNDS = 40
const MOST_PASSES_IN_A_ROW = 60
const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export interface RunOptions {
  /** The faults stop after so many events, and no event comes any more. */
  readonly stop?: { readonly after: number; readonly stays: Staying }
  readonly crash?: CrashPoint
  readonly log?: Log
  readonly onEvent?: (event: WorldEvent, atUs: number) => void
  /** Called before anything happens to it. */
  readonly onWorld?: (world: SimWorld) => void
  /** Called at each start of the agent: sees its passes. */
  readonly observe?: (world: SimWorld) => PassObserver
}

export async function runSchedule(schedule: Schedule, options: RunOptions = {}): Promise<Settled> {
  const world = new SimWorld(schedule.seed, { ...PLAIN_NODE, ...schedule.node })
  world.crashAt = options.crash
  options.onWorld?.(world)
  const invariants = new Invariants(world)
  const run = new Run(world, invariants, options, schedule.seed)
  for (const { afterSeconds, event } of schedule.events.slice(0, options.stop?.after)) {
    await run.liveFor(afterSeconds * 1e6)
    options.onEvent?.(event, world.nowUs)
    world.happenings += 1
    if (!ORDINARY.has(event.kind)) for (const text of [world.unit.process?.text, world.nextText()]) world.doubts.add(text ?? '')
    applyEvent(world, event)
  }
  // A config that waits for a drained node gets one at last.
  world.drained = 'for good'
  const end = options.stop && (await run.stopFaults(options.stop.stays))
  await run.settle()
  if (end !== undefined) return { ...describeEnd(world), end }
  const settled = checkSettled(world, invariants.isPaused())
  if (isWell(world, settled)) invariants.checkConditionAtRest()
  return settled
}

class Run {
  readonly #world: SimWorld
  readonly #invariants: Invariants
  readonly #log: Log
  readonly #observe: RunOptions['observe']
  readonly #ownSlownessUs: number
  #agent: Loop | undefined
  #wakeAtUs = 0
  #doze: Doze | undefined
  #lastSnapshot: Snapshot | undefined
  #lastWait: Wait | undefined
  /** Other than waiting. */
  #steps = 0

  constructor(world: SimWorld, invariants: Invariants, { log = SILENT, observe }: RunOptions, seed: number) {
    this.#ownSlownessUs = SLOWNESS_US[seed % SLOWNESS_US.length] ?? 0
    this.#world = world
    world.lookUs = Math.max(this.#ownSlownessUs, world.policy.toleranceUs / 3)
    this.#invariants = invariants
    this.#log = log
    this.#observe = observe
    world.onRequest = (request) => this.#writeRequest(request)
  }

  /**
   * Lives until neither the agent nor kubelet has done anything for long, and nothing is to come.
   */
  async settle(): Promise<void> {
    const { unit } = this.#world
    for (let round = 1; ; round += 1) {
      const [steps, exits] = [this.#steps, unit.exits]
      await this.liveFor(CALM_US)
      if (this.#world.isDisturbed()) continue
      const isQuiet = this.#steps === steps && unit.exits === exits
      if (this.#isTrying ? round >= MOST_ROUNDS : isQuiet || round >= ROUNDS) return
    }
  }

  /** A config that failed is tried again, or will be. */
  get #isTrying(): boolean {
    const { unit, nowUs } = this.#world
    const isIll = !unit.isStoppedByOperator && !unit.isHealthy()
    // A config that is being tried at this moment may fail, too.
    const isYoung = unit.process !== undefined && nowUs - unit.process.startedAtUs < 60e6
    const isRetrial = (this.#lastSnapshot?.suspendedVerdicts.size ?? 0) > 0
    return isIll || isYoung || isRetrial || this.#lastWait?.detail.includes('is tried again') === true
  }

  async liveFor(us: number): Promise<void> {
    const world = this.#world
    let leftUs = us
    for (;;) {
      await this.#letAgentAct()
      const from = world.nowUs
      const worldUs = Math.min(from + leftUs, world.nextUs(), world.resetUs)
      // The clock ticks in whole microseconds: the rest of a pause could be a fraction too small to
      // advance the time.
      const next = Math.ceil(Math.min(worldUs, this.#agent === undefined ? Number.POSITIVE_INFINITY : this.#wakeAtUs))
      leftUs -= Math.max(0, next - from)
      const isAsked = world.unit.runtime.isAsked
      world.advanceTo(Math.max(next, from))
      // The agent hears the answer of the container runtime.
      if (isAsked) await setImmediate()
      world.resetIfDue()
      if (this.#doze?.goesOn(world) === false) this.#endDoze()
      this.#invariants.check()
      if (leftUs <= 0) {
        await this.#letAgentAct()
        this.#endDoze()
        return
      }
    }
  }

  /** @returns why what is wanted runs, or does not */
  async stopFaults(stays: Staying): Promise<string> {
    const world = this.#world
    world.heal()
    if (stays === 'api-down') world.cluster.goDown(world.nowUs, FOR_EVER_SECONDS)
    await this.liveFor(livenessUs(world))
    for (let passes = 0; ; passes += 1) {
      const [snapshot, wait] = [this.#lastSnapshot, this.#lastWait]
      const end = snapshot && wait && explainEnd(world, snapshot, wait, stays)
      if (end !== undefined) return end
      assert(
        passes < 3,
        `invariant 16: ${wait?.phase}: ${wait?.detail}: kubelet is ${world.unit.activity}, with ${world.unit.process?.text}`,
      )
      await this.liveFor(2 * world.lookUs)
    }
  }

  get #slownessUs(): number {
    return this.#world.troubles.has('starved') ? STARVED_US : this.#ownSlownessUs
  }

  async #letAgentAct(): Promise<void> {
    const world = this.#world
    if (world.agentDead) {
      this.#agent = undefined
      this.#doze = undefined
      world.agentDead = false
      world.lostStamp ||= hasLostStamp(world, world.nextConfigPath())
      this.#invariants.agentDied()
      world.finishCrash()
      world.agentDead = false
      world.cluster.forget(world.nowUs)
    }
    if (world.nowUs < world.agentFromUs) return
    try {
      if (this.#agent === undefined) {
        const also = this.#observe?.(world)
        const decided = (snapshot: Snapshot, step: Step) => {
          this.#decided(snapshot, step)
          also?.decided(snapshot, step)
        }
        this.#agent = startAgent(world, { decided, turned: (step, snapshot) => also?.turned?.(step, snapshot) }, this.#log)
        world.woken = true
        world.assignment.startAgent()
      }
      if (world.nowUs < this.#wakeAtUs && (!world.woken || world.troubles.has('starved'))) return
      this.#endDoze()
      world.woken = false
      for (let passes = 0; ; passes += 1) {
        assert(passes < MOST_PASSES_IN_A_ROW, 'livelock: the agent never waits')
        // The config of a process that runs from a fixed file is told by the time: the process was
        // started before or after the file was replaced, never in the same microsecond.
        if (world.kind.activation !== 'env' && world.unit.lastStartedAtUs === world.nowUs) world.advanceTo(world.nowUs + 1)
        world.faults.agentActs = true
        this.#lastSnapshot = undefined
        const { failedReads } = world.faults
        const step = await this.#agent.pass()
        world.faults.agentActs = false
        if (world.agentDead) return
        this.#noteSeen(world.faults.failedReads === failedReads)
        this.#invariants.passed(step)
        this.#invariants.check()
        if (step.kind !== 'wait') this.#steps += 1
        else {
          assert(step.untilUs > world.nowUs, `livelock: the agent waits until a time in the past: ${step.detail}`)
          this.#wakeAtUs = Math.max(step.untilUs, world.nowUs + this.#slownessUs)
          this.#lastWait = step
          // A change that the agent hears of during a pass, it looks at next.
          if (this.#lastSnapshot !== undefined && !world.woken)
            this.#doze = Doze.begin(world, this.#lastSnapshot, step, this.#wakeAtUs, this.#slownessUs)
          this.#wakeAtUs = this.#doze?.untilUs ?? this.#wakeAtUs
          return
        }
      }
    } catch (error) {
      world.faults.agentActs = false
      if (error instanceof Crash) return
      // The agent failed to start on a failing disk: systemd starts it again.
      if (this.#agent !== undefined || !(error instanceof FileError)) throw error
      world.agentFromUs = world.nowUs + 5e6
      this.#invariants.agentDied()
    } finally {
      // Others still use the disk on which the agent died.
      if (world.agentDead) world.disk.restart()
    }
  }

  /** While systemd does not answer, the agent sees no process. */
  #noteSeen(hasReadAll: boolean): void {
    const { unit, runtimeUp } = this.#lastSnapshot ?? {}
    if (unit?.kind !== 'known') return
    this.#world.seenInvocation = unit.invocationId
    if (runtimeUp !== false) this.#world.unit.runtime.seenUp()
    if (hasReadAll && unit.process.kind !== 'none') this.#world.portSeenOf = unit.invocationId
  }

  #decided(snapshot: Snapshot, step: Step): void {
    this.#lastSnapshot = snapshot
    this.#invariants.decided(snapshot, step)
  }

  /** The next look is the one that would have been next. */
  #endDoze(): void {
    if (this.#doze === undefined) return
    this.#wakeAtUs = this.#doze.catchUp(this.#world)
    this.#doze = undefined
  }

  /**
   * Writes a request as an operator's command does, on the same disk but with no crash. Returns
   * whether the command succeeded.
   */
  #writeRequest(request: 'rollback' | 'retry' | 'resume' | 'paused' | 'local'): boolean {
    const { onStep } = this.#world.disk
    this.#world.disk.onStep = undefined
    try {
      const files = new DurableFiles(this.#world.disk)
      const isPaused = this.#invariants.isPaused()
      const writer = new RequestWriter(files, LAYOUT)
      if (request === 'retry') writer.requestRetry()
      else if (request === 'resume') writer.clearHold()
      else if (request === 'rollback') {
        const content = this.#findNextContent(files)
        if (content === undefined) return true
        writer.requestRollback(content)
      } else writer.requestHold(request)
      if (request !== 'paused' && !(request === 'resume' && isPaused)) this.#world.freshStarts += 1
      return true
    } catch (error) {
      // The disk is full or fails: the operator sees the error, and there is no request.
      if (!(error instanceof Error && 'code' in error)) throw error
      return false
    } finally {
      this.#world.disk.onStep = onStep
    }
  }

  /** Of what kubelet starts with next. undefined: that is local. */
  #findNextContent(files: DurableFiles): ContentHash | undefined {
    const state = activationOn(this.#world, files).read(this.#world.unit.wiring)
    if (state.kind !== 'checkpoint') return undefined
    const faults = faultsOver()
    const alike = new SameContents({ files, layout: LAYOUT, log: SILENT, faults, runtimeDir: RUNTIME_DIRECTORY })
    return new FileCheckpoints(files, LAYOUT, () => {}, faults, alike).content(state.source)
  }
}

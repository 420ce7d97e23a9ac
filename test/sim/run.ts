/**
 * Runs one schedule: agent and world take turns on a fake clock until all events have happened. A
 * long calm follows, in which the agent must settle. With a crash point, the agent or the machine
 * dies at that operation.
 */
import assert from 'node:assert/strict'
import type { Loop } from '../../src/agent/loop.ts'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { FileError } from '../../src/checkpoint/file-error.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { RequestWriter } from '../../src/checkpoint/request-writer.ts'
import type { ContentHash } from '../../src/decision/config-source.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, Wait } from '../../src/decision/step.ts'
import type { Log } from '../../src/ports/log.ts'
import { faultsOver } from '../checkpoint/faults.ts'
import { Crash, type CrashPoint } from './crash.ts'
import { Invariants } from './invariants.ts'
import { PLAIN_NODE } from './node-kind.ts'
import { DIRECTORY } from './paths.ts'
import { POLICY } from './policy.ts'
import type { Schedule, WorldEvent } from './schedule.ts'
import { checkSettled, isWell, type Settled } from './settled.ts'
import { activationOn, startAgent } from './sim-agent.ts'
import { applyEvent } from './sim-events.ts'
import { SimWorld } from './sim-world.ts'

// The simulated disk throws an error for every file that does not exist, and stacks are expensive.
Error.stackTraceLimit = 0

const LAYOUT = layoutOf(DIRECTORY)
/** A config that had proved itself is tried again up to seven hours after it failed. */
const CALM_US = 9 * 3600e6
/** What happens to every node, and takes nothing from the evidence about a process. */
const ORDINARY: ReadonlySet<WorldEvent['kind']> = new Set(['edit', 'assign', 'unassign', 'touch-metadata', 'switch-key', 'edit-overlay'])
/** Longer than the real read takes: most of what an agent does first comes before it. */
const OVERLAY_READ_US = 3e6
/** An agent that is steady, as it counts that, and has nothing to wait for. */
const RESTFUL_US = 1.5 * POLICY.toleranceUs
/**
 * How late an agent looks on a busy node, well within the tolerance. Most nodes are busy: fewer looks
 * take less time to simulate.
 */
const SLOWNESS_US = [0, 3e6, 5e6, 5e6] as const
/** Its clocks may have been set back by more than a day. */
const MOST_ROUNDS = 5
/** Of an agent that waits for something that takes an hour, and of one that tries a config again after up to six. */
const NAP_US = 1200e6
const LONG_NAP_US = 3600e6
const MOST_PASSES_IN_A_ROW = 60
const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export interface RunOptions {
  readonly crash?: CrashPoint
  readonly log?: Log
  readonly onEvent?: (event: WorldEvent, atUs: number) => void
}

export async function runSchedule(schedule: Schedule, options: RunOptions = {}): Promise<Settled> {
  const world = new SimWorld(schedule.seed, { ...PLAIN_NODE, ...schedule.node })
  world.crashAt = options.crash
  const invariants = new Invariants(world)
  const run = new Run(world, invariants, options.log ?? SILENT, schedule.seed)
  for (const { afterSeconds, event } of schedule.events) {
    await run.liveFor(afterSeconds * 1e6)
    options.onEvent?.(event, world.nowUs)
    world.happenings += 1
    if (!ORDINARY.has(event.kind)) for (const text of [world.unit.process?.text, world.nextText()]) world.doubts.add(text ?? '')
    applyEvent(world, event)
  }
  // What waits for a drained node gets one at last.
  world.drained = true
  await run.liveFor(CALM_US)
  for (let round = 0; world.isDisturbed() || (run.isTrying && round < MOST_ROUNDS); round += 1) await run.liveFor(CALM_US)
  // The looks of a settled agent were left out, and with them what it knew of kubelet's health.
  await run.lookFor(1.5 * world.policy.trialUs)
  const settled = checkSettled(world)
  if (isWell(world, settled)) invariants.checkConditionAtRest()
  return settled
}

class Run {
  readonly #world: SimWorld
  readonly #invariants: Invariants
  readonly #log: Log
  readonly #slownessUs: number
  #agent: Loop | undefined
  #wakeAtUs = 0
  #restful = false
  #isRestless = false
  #lastWait: Wait | undefined
  #sameSinceUs = 0
  #napUntilUs = Number.POSITIVE_INFINITY
  /** A step failed, and is tried again after a while. */
  #isTroubled = false
  /** It looks for a while again after a nap, whatever ended it. */
  #looksAfterNap = false

  constructor(world: SimWorld, invariants: Invariants, log: Log, seed: number) {
    this.#slownessUs = SLOWNESS_US[seed % SLOWNESS_US.length] ?? 0
    this.#world = world
    this.#invariants = invariants
    this.#log = log
    world.onRequest = (request) => this.#writeRequest(request)
  }

  /** A config that failed is tried again, or will be. */
  get isTrying(): boolean {
    const { unit } = this.#world
    const isIll = unit.activity !== 'stopped' && !unit.isHealthy()
    return isIll || this.#lastWait?.detail.includes('is tried again') === true
  }

  /** Without leaving out a look, if the last one finds the node on trial. */
  async lookFor(us: number): Promise<void> {
    this.#world.woken = true
    await this.liveFor(1e6)
    if (this.#lastWait?.phase !== 'in-trial') return
    this.#isRestless = true
    await this.liveFor(us)
    this.#isRestless = false
  }

  async liveFor(us: number): Promise<void> {
    const world = this.#world
    let leftUs = us
    for (;;) {
      await this.#letAgentAct()
      const from = world.nowUs
      const worldUs = Math.min(from + leftUs, world.nextUs())
      // The looks of a settled agent find nothing, so they are left out. That also leaves gaps in
      // its samples. The clock ticks in whole microseconds: the rest of a pause could be a fraction
      // too small to advance the time.
      const lookUs = this.#agent === undefined ? Number.POSITIVE_INFINITY : this.#restful ? this.#restUntilUs() : this.#wakeAtUs
      const next = Math.ceil(Math.min(worldUs, lookUs))
      leftUs -= Math.max(0, next - from)
      world.advanceTo(Math.max(next, from))
      this.#invariants.check()
      if (leftUs <= 0) {
        await this.#letAgentAct()
        return
      }
    }
  }

  async #letAgentAct(): Promise<void> {
    const world = this.#world
    if (world.agentDead) {
      this.#agent = undefined
      world.agentDead = false
      this.#invariants.agentDied()
      world.finishCrash()
      world.agentDead = false
      world.cluster.forget(world.nowUs)
    }
    if (world.nowUs < world.agentFromUs) return
    try {
      if (this.#agent === undefined) {
        this.#agent = startAgent(world, { decided: (snapshot, step) => this.#decided(snapshot, step) }, this.#log)
        world.woken = true
        world.assignment.overlayFromUs = world.nowUs + OVERLAY_READ_US
      }
      if (!world.woken && world.nowUs < this.#wakeAtUs) return
      // A rest is a gap in what the agent knows of kubelet: its end may change the condition, and the
      // end of what follows.
      if (this.#restful) world.happenings += 2
      if (this.#restful && this.#looksAfterNap) this.#sameSinceUs = world.nowUs
      this.#restful = false
      world.woken = false
      for (let passes = 0; ; passes += 1) {
        assert(passes < MOST_PASSES_IN_A_ROW, 'livelock: the agent never waits')
        world.faults.agentActs = true
        const step = await this.#agent.pass()
        world.faults.agentActs = false
        if (world.agentDead) return
        world.seenInvocation = world.unit.invocationId
        this.#invariants.passed(step)
        this.#invariants.check()
        if (step.kind === 'wait') {
          assert(step.untilUs > world.nowUs, `livelock: the agent waits until a time in the past: ${step.detail}`)
          this.#wakeAtUs = Math.max(step.untilUs, world.nowUs + this.#slownessUs)
          this.#restful = this.#isRestful(step)
          return
        }
      }
    } catch (error) {
      world.faults.agentActs = false
      if (error instanceof Crash) return
      // The agent failed to start on a failing disk: systemd starts it again.
      if (this.#agent !== undefined || !(error instanceof FileError)) throw error
      world.agentFromUs = world.nowUs + 5e6
    } finally {
      // Others still use the disk on which the agent died.
      if (world.agentDead) world.disk.restart()
    }
  }

  #decided(snapshot: Snapshot, step: Step): void {
    this.#isTroubled = snapshot.troubles.length > 0
    this.#invariants.decided(snapshot, step)
  }

  /** Then kubelet loses its health, or a long wait of the agent's may have ended. */
  #restUntilUs(): number {
    const unhealthyFromUs = this.#world.unit.process?.unhealthyFromUs ?? Number.POSITIVE_INFINITY
    return Math.max(this.#wakeAtUs, Math.min(unhealthyFromUs, this.#napUntilUs))
  }

  /** The agent gives the same answer again and again, and no deadline can change it. */
  #isRestful(step: Wait): boolean {
    const same = this.#lastWait?.phase === step.phase && this.#lastWait.detail === step.detail
    this.#lastWait = step
    if (!same) this.#sameSinceUs = this.#world.nowUs
    const { unit } = this.#world
    const since = Math.max(this.#sameSinceUs, unit.process?.healthyFromUs ?? 0)
    const calm = unit.isHealthy() || unit.activity === 'stopped'
    const isOnTrial = step.phase === 'in-trial'
    const isRestful =
      calm &&
      !this.#isRestless &&
      !this.#isTroubled &&
      this.#world.nowUs - since > (isOnTrial ? 3 * this.#world.policy.trialUs : RESTFUL_US)
    const isTriedAgain = step.detail.includes('is tried again')
    const isAwaited = isOnTrial || step.phase === 'restart-limit' || isTriedAgain
    this.#napUntilUs = isAwaited ? this.#world.nowUs + (isTriedAgain ? LONG_NAP_US : NAP_US) : Number.POSITIVE_INFINITY
    this.#looksAfterNap = isAwaited && !isOnTrial
    return isRestful
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
      const writer = new RequestWriter(files, LAYOUT)
      if (request === 'retry') writer.requestRetry()
      else if (request === 'resume') writer.clearHold()
      else if (request === 'rollback') {
        const content = this.#findNextContent(files)
        if (content !== undefined) writer.requestRollback(content)
      } else writer.requestHold(request)
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
    return new FileCheckpoints(files, LAYOUT, () => {}, faultsOver()).content(state.source)
  }
}

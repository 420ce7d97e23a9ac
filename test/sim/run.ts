/**
 * Runs one schedule: agent and world take turns on a fake clock until everything has happened, then a long calm in which the agent must
 * settle. With a crash point the same run is repeated with the agent (or the machine) dying at that one operation.
 */
import assert from 'node:assert/strict'
import type { Loop } from '../../src/agent/loop.ts'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { contentHash } from '../../src/checkpoint/content.ts'
import { FileError } from '../../src/checkpoint/file-error.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { findFile, layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { RequestWriter } from '../../src/checkpoint/request-writer.ts'
import { parseSource } from '../../src/checkpoint/serialize.ts'
import type { ConfigMapData } from '../../src/decision/config-source.ts'
import type { FoundConfigMap } from '../../src/decision/desired.ts'
import type { Wait } from '../../src/decision/step.ts'
import { trialKey } from '../../src/decision/trial-key.ts'
import type { Log } from '../../src/ports/log.ts'
import { faultsOver } from '../checkpoint/faults.ts'
import { Invariants } from './invariants.ts'
import type { Schedule, WorldEvent } from './schedule.ts'
import { POLICY, startAgent } from './sim-agent.ts'
import { behaviourOf } from './sim-unit.ts'
import { Crash, type CrashPoint, DIRECTORY, SimWorld } from './sim-world.ts'

// The simulated disk answers with errors all the time (there is no such file); nobody reads their stacks.
Error.stackTraceLimit = 0

const CALM_US = 2 * 3600e6
/** Longer than it takes, and than most of what an agent does first. */
const OVERLAY_READ_US = 3e6
const MOST_PASSES_IN_A_ROW = 60
const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Where a node came to rest, by content: what can be compared between a run with a crash and one without. */
export interface Settled {
  readonly assigned: string
  readonly lastKnownGood: string
  readonly runs: string
  readonly operations: number
}

export interface RunOptions {
  readonly crash?: CrashPoint
  readonly log?: Log
  readonly onEvent?: (event: WorldEvent, atUs: number) => void
}

export async function runSchedule(schedule: Schedule, options: RunOptions = {}): Promise<Settled> {
  const world = new SimWorld(schedule.seed)
  world.crashAt = options.crash
  const invariants = new Invariants(world)
  const run = new Run(world, invariants, options.log ?? SILENT)
  for (const { afterSeconds, event } of schedule.events) {
    await run.liveFor(afterSeconds * 1e6)
    options.onEvent?.(event, world.nowUs)
    world.apply(event)
  }
  await run.liveFor(CALM_US)
  while (world.isDisturbed()) await run.liveFor(CALM_US)
  // The looks of a settled agent were left out: here is the last of them.
  world.woken = true
  await run.liveFor(1e6)
  const settled = settle(world, schedule)
  if (isWell(world, settled)) invariants.checkConditionAtRest(schedule.events.length)
  return settled
}

/** It runs what the cluster wants, and has proved it. */
function isWell(world: SimWorld, { runs, lastKnownGood, assigned }: Settled): boolean {
  const truth = world.truth()
  if (!world.unit.isHealthy()) return false
  if (truth.kind === 'local') return true
  if (truth.kind !== 'config-map' || truth.object.kind !== 'found') return false
  const wanted = dataOf(truth.object)[truth.ref.kubeletConfigKey]
  return wanted === runs && wanted === lastKnownGood && wanted === assigned
}

/** What kubelet is to start with: what the overlay makes of it, where there is one. */
function dataOf({ rendered, data }: FoundConfigMap): ConfigMapData {
  return rendered?.data ?? data
}

class Run {
  readonly #world: SimWorld
  readonly #invariants: Invariants
  readonly #log: Log
  #agent: Loop | undefined
  #wakeAtUs = 0
  #restful = false
  #lastWait: Wait | undefined
  #sameSinceUs = 0

  constructor(world: SimWorld, invariants: Invariants, log: Log) {
    this.#world = world
    this.#invariants = invariants
    this.#log = log
    world.onRequest = (request) => this.#ask(request)
  }

  async liveFor(us: number): Promise<void> {
    const world = this.#world
    let leftUs = us
    for (;;) {
      await this.#letAgentAct()
      const from = world.nowUs
      const worldUs = Math.min(from + leftUs, world.nextUs())
      // A settled agent looks and finds nothing: those looks are left out, which also leaves gaps in its samples.
      // The simulated clock ticks in whole microseconds: with fractions, what is left of a pause may be too little to add to the time.
      const next = Math.ceil(this.#agent === undefined || this.#restful ? worldUs : Math.min(worldUs, this.#wakeAtUs))
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
      this.#invariants.excuse()
      world.finishCrash()
      world.agentDead = false
      world.cluster.forget(world.nowUs)
    }
    if (world.nowUs < world.agentFromUs) return
    try {
      if (this.#agent === undefined) {
        this.#agent = startAgent(world, { decided: (snapshot, step) => this.#invariants.decided(snapshot, step) }, this.#log)
        world.woken = true
        world.overlayFromUs = world.nowUs + OVERLAY_READ_US
      }
      if (!world.woken && world.nowUs < this.#wakeAtUs) return
      this.#restful = false
      world.woken = false
      for (let passes = 0; ; passes += 1) {
        assert(passes < MOST_PASSES_IN_A_ROW, 'livelock: the agent never waits')
        world.agentActs = true
        const step = await this.#agent.pass()
        world.agentActs = false
        if (world.agentDead) return
        this.#invariants.check()
        if (step.kind === 'wait') {
          assert(step.untilUs > world.nowUs, `livelock: waits for ${step.detail} until a time that is past`)
          this.#wakeAtUs = step.untilUs
          this.#restful = this.#isRestful(step)
          return
        }
      }
    } catch (error) {
      world.agentActs = false
      if (error instanceof Crash) return
      // A start that the disk does not let through: systemd tries again.
      if (this.#agent !== undefined || !(error instanceof FileError)) throw error
      world.agentFromUs = world.nowUs + 5e6
    }
  }

  /** The same answer again and again, and no clock running towards another one. */
  #isRestful(step: Wait): boolean {
    const same = this.#lastWait?.phase === step.phase && this.#lastWait.detail === step.detail
    this.#lastWait = step
    if (!same) this.#sameSinceUs = this.#world.nowUs
    const { unit } = this.#world
    const since = Math.max(this.#sameSinceUs, unit.process?.healthyFromUs ?? 0)
    const calm = unit.isHealthy() ? unit.process?.unhealthyFromUs === Number.POSITIVE_INFINITY : unit.activity === 'stopped'
    return calm && this.#world.nowUs - since > 3 * POLICY.toleranceUs && step.phase !== 'in-trial' && step.phase !== 'restart-limit'
  }

  /** An operator at the node's command line; works on the same disk, but is no agent that crashes. Returns whether the command succeeded. */
  #ask(request: 'rollback' | 'retry' | 'resume' | 'paused' | 'local'): boolean {
    const { onStep } = this.#world.disk
    this.#world.disk.onStep = undefined
    try {
      const files = new DurableFiles(this.#world.disk)
      const layout = layoutOf(DIRECTORY)
      const asks = new RequestWriter(files, layout)
      if (request === 'retry') asks.requestRetry()
      else if (request === 'resume') asks.clearHold()
      else if (request === 'rollback') {
        const file = findFile(layout, this.#world.nextConfigPath() ?? '')
        if (file === undefined) return true
        const content = new FileCheckpoints(files, layout, () => {}, faultsOver()).content(file)
        if (content !== undefined) asks.requestRollback(content)
      } else asks.requestHold(request)
      return true
    } catch (error) {
      // A full disk: the operator is told so, and nothing was asked.
      if (!(error instanceof Error && 'code' in error)) throw error
      return false
    } finally {
      this.#world.disk.onStep = onStep
    }
  }
}

/** 7. Once nothing fails any more, the node is where it should be, without a person. */
function settle(world: SimWorld, schedule: Schedule): Settled {
  const { files, unit } = world
  const layout = layoutOf(DIRECTORY)
  const textOf = (name: 'assigned' | 'last-known-good') => {
    const parsed = parseSource(files.read(layout.record(name)) ?? Buffer.alloc(0))
    assert(parsed.ok, `invariant 7: ${name} is damaged at the end`)
    if (parsed.source === 'local') return 'local'
    const { uid, resourceVersion, kubeletConfigKey, overlay } = parsed.source
    return files.read(`${layout.checkpoint(uid, resourceVersion, overlay)}/${kubeletConfigKey}`)?.toString() ?? 'missing'
  }
  const process = unit.process
  const runs = process === undefined ? 'nothing' : findFile(layout, process.configPath) !== undefined ? process.text : 'local'
  const settled = { assigned: textOf('assigned'), lastKnownGood: textOf('last-known-good'), runs, operations: world.operations }
  const truth = world.truth()
  if (unit.activity === 'stopped') return settled
  assert(unit.isHealthy(), `invariant 7: kubelet is ${unit.activity} at the end, running ${runs}`)
  if (truth.kind === 'local') {
    assert.equal(settled.assigned, 'local', 'invariant 7: assigned is not local')
    assert.equal(runs, 'local', 'invariant 7: kubelet does not run its local config')
  }
  if (truth.kind === 'config-map' && truth.object.kind === 'found') {
    const data = dataOf(truth.object)
    const wanted = data[truth.ref.kubeletConfigKey] ?? ''
    const healthy =
      ['good', 'slow-start'].includes(behaviourOf(wanted)) || (behaviourOf(wanted) === 'good-until-upgrade' && unit.version === 1)
    assert(
      settled.assigned === wanted || ['syntax-error', 'invalid'].includes(behaviourOf(wanted)),
      'invariant 7: what the cluster wants is not assigned',
    )
    if (!healthy) assert.notEqual(runs, wanted, 'invariant 7: kubelet runs a config that fails')
    if (healthy && isCondemned(world, data, truth.ref.kubeletConfigKey)) {
      const excuses = ['node-fault', 'runtime-down', 'kill-kubelet', 'rollback']
      assert(
        schedule.events.some(({ event }) => excuses.includes(event.kind)),
        'invariant 7: a good config was condemned for nothing',
      )
    } else if (healthy) {
      assert.equal(runs, wanted, 'invariant 7: kubelet does not run what is wanted')
      assert.equal(settled.lastKnownGood, wanted, 'invariant 7: what is wanted was never promoted')
    }
  }
  return settled
}

function isCondemned(world: SimWorld, data: ConfigMapData, key: string): boolean {
  const records = new FileRecords({
    files: world.files,
    layout: layoutOf(DIRECTORY),
    log: SILENT,
    onSetAside: () => {},
    faults: faultsOver(),
  })
  return records.verdicts().has(trialKey(contentHash(data, key), `kubelet-${world.unit.version}`))
}

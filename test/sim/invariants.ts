/**
 * The invariants of the design, checked from outside: against the files on the simulated disk, the
 * config that kubelet runs, and the commands it gets. A broken invariant throws an Error with its
 * number.
 *
 *  1. A file under checkpoints/ or rendered/ never changes once its directory has its final name.
 *  2. kubelet.env is absent, or names an existing checkpoint that passed preflight.
 *  3. Last-known-good is local, or a source that passed a whole trial.
 *  4. From every crash, the agent settles where it would have settled without the crash (see
 *     sweep.ts).
 *  5. The agent restarts kubelet only if kubelet would start with other content than it runs. It
 *     never restarts a paused node, nor a kubelet that an operator stopped, and it never restarts
 *     endlessly.
 *  6. A config that fails is replaced by last-known-good, by the config before it or by local
 *     within the fallback budget.
 *  7. Once nothing fails any more, the node gets to the assigned config without an operator (see
 *     settled.ts).
 *  8. Status and condition say only what is true. On a node that is well, the condition becomes
 *     True (see
 *     report-invariant.ts).
 */
import assert from 'node:assert/strict'
import { basename, dirname } from 'node:path'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { parseSource } from '../../src/checkpoint/serialize.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { ReportInvariant, runsCheckpoint } from './report-invariant.ts'
import { POLICY } from './sim-agent.ts'
import { behaviourOf, type SimProcess } from './sim-unit.ts'
import { DIRECTORY, type SimWorld } from './sim-world.ts'

/**
 * The slowest fallback: the config misses its start deadline, then last-known-good and the config
 * before it miss theirs. One of them had proved itself and is started once more. And one start.
 */
const FALLBACK_BUDGET_US = 4 * POLICY.startDeadlineUs + 30e6
/** How long the agent rests after everything has failed. */
const REST_US = 3 * POLICY.trialUs

export class Invariants {
  readonly #world: SimWorld
  readonly #layout = layoutOf(DIRECTORY)
  #checkpoints = new Map<string, string>()
  #seenOperations = -1
  #lastKnownGood = ''
  /** The texts with which kubelet was healthy for a whole trial without a break. */
  readonly #proven = new Set<string>()
  #restarts: { atUs: number; boot: string; fallback: boolean; failed: boolean }[] = []
  #lastRestartWasFallback = false
  #failedSinceUs: number | undefined
  #violation: unknown
  /** Everything has failed, and the agent rests before it tries again. */
  #rested = false
  #lastStep: Step | undefined
  readonly #reports: ReportInvariant

  constructor(world: SimWorld) {
    this.#world = world
    this.#reports = new ReportInvariant(world, (text) => this.#proven.has(text))
    world.checkRestart.push(() => this.#noteViolation(() => this.#checkRestart()))
  }

  /** The agent has decided on a step. A restart is checked when it is carried out. */
  decided(snapshot: Snapshot, step: Step): void {
    this.#lastStep = step
    if (step.kind === 'restart') this.#lastRestartWasFallback = step.record.fallback || step.record.exempt === true
    if (step.kind === 'try-again') this.#lastRestartWasFallback = true
    // An operator who requests a retry has the whole limit for it.
    if (step.kind === 'forgive' && step.requested) this.#restarts = this.#restarts.map((one) => ({ ...one, fallback: true }))
    this.#reports.decided(snapshot, step)
  }

  checkConditionAtRest(worldEvents: number): void {
    this.#reports.checkConditionAtRest(worldEvents)
  }

  /** Called after every step and after every change of the world. */
  check(): void {
    if (this.#violation !== undefined) throw this.#violation
    this.#noteProven()
    this.#checkFallback()
    if (this.#seenOperations === this.#world.operations) return
    this.#seenOperations = this.#world.operations
    this.#checkImmutable()
    this.#checkEnvFile()
    this.#checkLastKnownGood()
  }

  /**
   * For checks within a step: the agent takes an error there for a failed step, so `check` throws
   * it again.
   */
  #noteViolation(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#violation ??= error
      throw error
    }
  }

  /**
   * After a reboot or a restart of the agent, the fallback budget starts anew: no agent was there
   * to act.
   */
  excuse(): void {
    this.#failedSinceUs = undefined
  }

  /** Invariant 1. */
  #checkImmutable(): void {
    const now = new Map<string, string>()
    const { files } = this.#world
    for (const uid of files.list(this.#layout.checkpoints) ?? []) {
      for (const version of files.list(`${this.#layout.checkpoints}/${uid}`) ?? []) {
        this.#readInto(now, `${this.#layout.checkpoints}/${uid}/${version}`)
      }
    }
    for (const uid of files.list(this.#layout.rendered) ?? []) {
      for (const version of files.list(`${this.#layout.rendered}/${uid}`) ?? []) {
        const overlays = `${this.#layout.rendered}/${uid}/${version}`
        for (const overlay of files.list(overlays) ?? []) this.#readInto(now, `${overlays}/${overlay}`)
      }
    }
    for (const [path, text] of this.#checkpoints) {
      const found = now.get(path)
      if (found === undefined || found === text) continue
      assert(path.includes('~') || this.#wasSetAside(path), `invariant 1: ${path} changed`)
    }
    this.#checkpoints = now
  }

  #readInto(now: Map<string, string>, directory: string): void {
    const { files } = this.#world
    for (const key of files.list(directory) ?? []) now.set(`${directory}/${key}`, files.read(`${directory}/${key}`)?.toString() ?? '')
  }

  /** Invariant 2. */
  #checkEnvFile(): void {
    const path = this.#world.nextConfigPath()
    if (path === undefined) return
    const text = this.#world.files.read(path)?.toString()
    // To replace a version that came back with other content takes two renames. After a crash
    // between them, the next agent repairs it before it waits. On a failing disk, a half-done
    // replacement cannot be undone.
    const cutShort = this.#world.nowUs <= this.#world.agentFromUs || this.#world.diskFails
    if (text === undefined && cutShort && this.#wasSetAside(path)) return
    assert(text !== undefined, `invariant 2: kubelet.env names ${path}, which does not exist`)
    assert(
      !['syntax-error', 'invalid'].includes(behaviourOf(text)),
      `invariant 2: kubelet.env names ${path}, which preflight rejects: ${text}`,
    )
  }

  /** A version is replaced only after a restore of etcd, and its old content is set aside. */
  #wasSetAside(path: string): boolean {
    if (!this.#world.wasRestored) return false
    const version = dirname(path)
    return (this.#world.files.list(dirname(version)) ?? []).some((name) => name.startsWith(`${basename(version)}~set-aside`))
  }

  /** Invariant 3. */
  #checkLastKnownGood(): void {
    const bytes = this.#world.files.read(this.#layout.record('last-known-good'))
    const found = bytes?.toString() ?? ''
    if (found === this.#lastKnownGood) return
    this.#lastKnownGood = found
    const parsed = parseSource(Buffer.from(found))
    assert(parsed.ok, `invariant 3: last-known-good cannot be parsed: ${found}`)
    if (parsed.source === 'local') return
    const { uid, resourceVersion, kubeletConfigKey, overlay } = parsed.source
    const text = this.#world.files.read(`${this.#layout.checkpoint(uid, resourceVersion, overlay)}/${kubeletConfigKey}`)?.toString()
    assert(text !== undefined && this.#proven.has(text), `invariant 3: promoted without a whole trial: ${text}`)
  }

  #noteProven(): void {
    const { process } = this.#world.unit
    if (process !== undefined && healthyForUs(process, this.#world.nowUs) >= POLICY.trialUs) this.#proven.add(process.text)
  }

  /** Invariant 5. */
  #checkRestart(): void {
    const { unit, files } = this.#world
    const { bootId, monotonicUs } = this.#world.now()
    assert(this.#lastStep?.kind === 'restart' || this.#lastStep?.kind === 'try-again', 'invariant 5: a restart without a decision')
    assert(!this.#isPaused(), 'invariant 5: a restart of a paused node')
    assert(
      unit.activity !== 'stopped' || this.#lastStep.record?.failed === true,
      'invariant 5: a restart of a kubelet that an operator stopped',
    )
    const next = this.#world.nextConfigPath()
    const nextText = next === undefined ? 'local' : files.read(next)?.toString()
    const runs = unit.process && (runsCheckpoint(unit.process) ? unit.process.text : 'local')
    // What has failed is tried once more, and a kubelet that hangs may have been upgraded on disk.
    assert(nextText !== runs || !unit.isHealthy(), `invariant 5: a restart with the content that kubelet runs: ${runs}`)
    this.#restarts.push({
      atUs: monotonicUs,
      boot: bootId,
      fallback: this.#lastRestartWasFallback,
      failed: this.#lastStep.record?.failed === true,
    })
    this.#restarts = this.#restarts.filter(({ atUs, boot }) => boot === bootId && monotonicUs - atUs < 3600e6)
    const own = this.#restarts.filter(({ fallback, failed }) => !fallback && !failed).length
    const starts = this.#restarts.filter(({ fallback, failed }) => !fallback && failed).map(({ atUs }) => atUs)
    // In the long run at most one every five minutes; the first few come faster.
    assert(starts.length <= 18, `invariant 5: ${starts.length} starts within an hour of a kubelet that systemd gave up`)
    // A crash between the command and its record cannot add one: the record comes first.
    assert(own <= POLICY.restartsPerHour, `invariant 5: ${own} restarts within an hour`)
    assert(
      this.#restarts.length <= 5 * POLICY.restartsPerHour,
      `invariant 5: ${this.#restarts.length} restarts within an hour, with fallbacks`,
    )
  }

  /**
   * As far as the agent can know: by a request on the node, by its copy of the cluster, or by the
   * record of that.
   */
  #isPaused(): boolean {
    const { files } = this.#world
    const hold = files.read(`${this.#layout.requests}/hold`)?.toString() ?? ''
    if (hold !== '') return hold.includes('paused')
    const { channelState } = this.#world.desired()
    if (channelState !== undefined) return channelState.paused !== undefined
    return (files.read(this.#layout.channelState)?.toString() ?? '').includes('"paused"')
  }

  /** Invariant 6. */
  #checkFallback(): void {
    const { unit, nowUs } = this.#world
    const excused = this.#isPaused() || !unit.isNodeWell() || unit.activity === 'stopped' || nowUs < this.#world.agentFromUs
    const { process } = unit
    // A kubelet that starts slowly but will be healthy is not failing.
    const fails =
      !unit.isHealthy() && !(process !== undefined && process.healthyFromUs < process.exitsAtUs && process.healthyFromUs >= nowUs)
    if (!fails || excused) {
      this.#failedSinceUs = undefined
      this.#rested = false
      return
    }
    this.#rested ||= this.#lastStep?.kind === 'wait' && this.#lastStep.phase === 'node-at-fault'
    this.#failedSinceUs ??= nowUs
    const failedForUs = nowUs - this.#failedSinceUs
    assert(
      failedForUs <= FALLBACK_BUDGET_US + (this.#rested ? REST_US : 0),
      `invariant 6: kubelet (${unit.activity}) has failed for ${Math.round(failedForUs / 1e6)} s: ${process?.text}`,
    )
  }
}

function healthyForUs(process: SimProcess, nowUs: number): number {
  if (nowUs < process.healthyFromUs || nowUs >= process.unhealthyFromUs) return 0
  return nowUs - Math.max(process.startedAtUs, process.healthyFromUs)
}

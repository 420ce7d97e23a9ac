/**
 * The invariants of the design, asserted from outside: over what is on the simulated disk, what kubelet runs and what it was asked to do.
 * Each throws an Error that says which one was broken and how.
 */
import assert from 'node:assert/strict'
import { basename, dirname } from 'node:path'
import { findFile, layoutOf } from '../../src/checkpoint/layout.ts'
import { parseSource } from '../../src/checkpoint/serialize.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { type Condition, describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { describeStatus } from '../../src/report/status.ts'
import { POLICY } from './sim-agent.ts'
import { behaviourOf, type SimProcess } from './sim-unit.ts'
import { DIRECTORY, type SimWorld } from './sim-world.ts'

/** The slowest way back: never healthy until the start deadline, then once more with last-known-good and previous, and a start. */
const FALLBACK_BUDGET_US = 3 * POLICY.startDeadlineUs + 30e6
const REST_US = 3 * POLICY.trialUs

export class Invariants {
  readonly #world: SimWorld
  readonly #layout = layoutOf(DIRECTORY)
  #checkpoints = new Map<string, string>()
  #seenOperations = -1
  #lastKnownGood = ''
  /** Texts that ran healthily for a whole trial without a break. */
  readonly #proven = new Set<string>()
  #restarts: { atUs: number; boot: string; fallback: boolean; failed: boolean }[] = []
  #lastRestartWasFallback = false
  #badSinceUs: number | undefined
  #violation: unknown
  /** Everything failed, and the agent rests: it may take until it tries again. */
  #rested = false
  #lastStep: Step | undefined
  #condition: Condition | undefined
  #conditionChanges = 0
  #steps = 0
  #unitSeen = ''
  #unitChanges = 0

  constructor(world: SimWorld) {
    this.#world = world
    world.checkRestart.push(() => this.#noteViolation(() => this.#checkRestart()))
  }

  /** The agent decided: what it is about to do is checked when it does it. */
  decided(snapshot: Snapshot, step: Step): void {
    this.#lastStep = step
    if (step.kind === 'restart') this.#lastRestartWasFallback = step.record.fallback
    this.#checkStatus(snapshot, step)
    this.#checkCondition(snapshot, step)
  }

  /** 8. Once nothing fails any more, whoever waits for the condition has not waited in vain; and it was written no more often than things happened. */
  checkConditionAtRest(worldEvents: number): void {
    const [condition, changes] = [this.#condition, this.#conditionChanges]
    assert.equal(
      condition?.status,
      'True',
      `invariant 8: the condition says ${condition?.reason} of a node that is well: ${condition?.message}`,
    )
    const causes = this.#steps + this.#unitChanges + worldEvents
    assert(changes <= causes + 1, `invariant 8: the condition changed ${changes} times, and ${causes} things happened`)
  }

  /** After every step, and after every change of the world. */
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

  /** Within a step, the agent would take what is thrown for a step that failed. */
  #noteViolation(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#violation ??= error
      throw error
    }
  }

  /** A new boot, or an agent that was away: the budget starts when somebody is there to act. */
  excuse(): void {
    this.#badSinceUs = undefined
  }

  /** 1. A file under checkpoints/ or rendered/ never changes once its directory has its final name. */
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

  /** 2. kubelet.env is absent or names an existing checkpoint that passed preflight. */
  #checkEnvFile(): void {
    const path = this.#world.nextConfigPath()
    if (path === undefined) return
    const text = this.#world.files.read(path)?.toString()
    // A crash between the two renames of a replacement (the same version with other content): the next agent mends it before it rests.
    // Nor can one that failed halfway be taken back on a disk that fails.
    const cutShort = this.#world.nowUs <= this.#world.agentFromUs || this.#world.diskFails
    if (text === undefined && cutShort && this.#wasSetAside(path)) return
    assert(text !== undefined, `invariant 2: kubelet.env names ${path}, which does not exist`)
    assert(
      !['syntax-error', 'invalid'].includes(behaviourOf(text)),
      `invariant 2: kubelet.env names ${path}, which preflight refuses: ${text}`,
    )
  }

  /** Whoever replaces a version keeps what it was; and nobody does but for a restored etcd. */
  #wasSetAside(path: string): boolean {
    if (!this.#world.wasRestored) return false
    const version = dirname(path)
    return (this.#world.files.list(dirname(version)) ?? []).some((name) => name.startsWith(`${basename(version)}~set-aside`))
  }

  /** 3. LKG is local or a source that passed a whole trial. */
  #checkLastKnownGood(): void {
    const bytes = this.#world.files.read(this.#layout.record('last-known-good'))
    const found = bytes?.toString() ?? ''
    if (found === this.#lastKnownGood) return
    this.#lastKnownGood = found
    const parsed = parseSource(Buffer.from(found))
    assert(parsed.ok, `invariant 3: last-known-good is torn: ${found}`)
    if (parsed.source === 'local') return
    const { uid, resourceVersion, kubeletConfigKey, overlay } = parsed.source
    const text = this.#world.files.read(`${this.#layout.checkpoint(uid, resourceVersion, overlay)}/${kubeletConfigKey}`)?.toString()
    assert(text !== undefined && this.#proven.has(text), `invariant 3: promoted without a whole trial: ${text}`)
  }

  #isOurs({ configPath }: SimProcess): boolean {
    return findFile(this.#layout, configPath) !== undefined
  }

  #noteProven(): void {
    const { process } = this.#world.unit
    if (process !== undefined && healthyForUs(process, this.#world.nowUs) >= POLICY.trialUs) this.#proven.add(process.text)
  }

  /** 5. kubelet is restarted only when what it would start with differs from what it runs; never paused, stopped, or endlessly. */
  #checkRestart(): void {
    const { unit, files } = this.#world
    const { bootId, monotonicUs } = this.#world.now()
    assert(this.#lastStep?.kind === 'restart', 'invariant 5: a restart that was not decided')
    assert(!this.#isPaused(), 'invariant 5: restart while paused')
    assert(unit.activity !== 'stopped' || this.#lastStep.record.failed, 'invariant 5: restart of a kubelet that a person stopped')
    const next = this.#world.nextConfigPath()
    const nextText = next === undefined ? 'local' : files.read(next)?.toString()
    const runs = unit.process && (this.#isOurs(unit.process) ? unit.process.text : 'local')
    assert(nextText !== runs, `invariant 5: restart although kubelet runs just that: ${runs}`)
    this.#restarts.push({ atUs: monotonicUs, boot: bootId, fallback: this.#lastRestartWasFallback, failed: this.#lastStep.record.failed })
    this.#restarts = this.#restarts.filter(({ atUs, boot }) => boot === bootId && monotonicUs - atUs < 3600e6)
    const own = this.#restarts.filter(({ fallback, failed }) => !fallback && !failed).length
    const starts = this.#restarts.filter(({ fallback, failed }) => !fallback && failed).map(({ atUs }) => atUs)
    // At most every five minutes in the long run, after a few that come faster.
    assert(starts.length <= 18, `invariant 5: ${starts.length} starts of a kubelet that was given up within an hour`)
    // One more for a crash between the command and its record is impossible: the record comes first.
    assert(own <= POLICY.restartsPerHour, `invariant 5: ${own} restarts within an hour`)
    assert(
      this.#restarts.length <= 5 * POLICY.restartsPerHour,
      `invariant 5: ${this.#restarts.length} restarts within an hour, fallbacks included`,
    )
  }

  /** As the agent can know it: by a request on the node, by what it has heard, or by what it wrote down of that. */
  #isPaused(): boolean {
    const { files } = this.#world
    const hold = files.read(`${this.#layout.requests}/hold`)?.toString() ?? ''
    if (hold !== '') return hold.includes('paused')
    const { channelState } = this.#world.desired()
    if (channelState !== undefined) return channelState.paused !== undefined
    return (files.read(this.#layout.channelState)?.toString() ?? '').includes('"paused"')
  }

  /** 6. A failing config leaves the node on LKG, previous or local within the fallback budget. */
  #checkFallback(): void {
    const { unit, nowUs } = this.#world
    const excused = this.#isPaused() || !unit.isNodeWell() || unit.activity === 'stopped' || nowUs < this.#world.agentFromUs
    const { process } = unit
    // A kubelet that is still within a start that will succeed is not failing.
    const bad = !unit.isHealthy() && !(process !== undefined && process.healthyFromUs < process.exitsAtUs && process.healthyFromUs >= nowUs)
    if (!bad || excused) {
      this.#badSinceUs = undefined
      this.#rested = false
      return
    }
    this.#rested ||= this.#lastStep?.kind === 'wait' && this.#lastStep.phase === 'node-at-fault'
    this.#badSinceUs ??= nowUs
    const badForUs = nowUs - this.#badSinceUs
    assert(
      badForUs <= FALLBACK_BUDGET_US + (this.#rested ? REST_US : 0),
      `invariant 6: kubelet (${unit.activity}) has been failing for ${Math.round(badForUs / 1e6)} s: ${process?.text}`,
    )
  }

  /** 8. Nothing is published that was not true. */
  #checkStatus(snapshot: Snapshot, step: Step): void {
    const status = describeStatus(snapshot, step.kind === 'wait' ? step.phase : undefined)
    const { process } = this.#world.unit
    if (status.active === undefined || process === undefined) return
    // By name; after a restored etcd the same name may have other bytes than the process was started with.
    if (
      status.active !== 'local' &&
      process.configPath.startsWith(`${this.#layout.checkpoint(status.active.uid, status.active.resourceVersion, status.active.overlay)}/`)
    )
      return
    const named =
      status.active === 'local'
        ? 'local'
        : this.#world.files
            .read(
              `${this.#layout.checkpoint(status.active.uid, status.active.resourceVersion, status.active.overlay)}/${status.active.kubeletConfigKey}`,
            )
            ?.toString()
    const runs = this.#isOurs(process) ? process.text : 'local'
    assert(named === undefined || named === runs, `invariant 8: status says ${named}, kubelet runs ${runs}`)
  }

  /** 8. The condition is True of nothing but a config that is proved here and runs. */
  #checkCondition(snapshot: Snapshot, step: Step): void {
    const { activity } = this.#world.unit
    const unit = `${activity} ${this.#world.unit.process?.startedAtUs}`
    if (unit !== this.#unitSeen) this.#unitChanges += 1
    this.#unitSeen = unit
    if (step.kind !== 'wait') {
      this.#steps += 1
      return
    }
    const condition = describeCondition(snapshot, step, NO_DEADLINES)
    const { status, reason, message } = condition
    if (`${status}${reason}${message}` !== `${this.#condition?.status}${this.#condition?.reason}${this.#condition?.message}`)
      this.#conditionChanges += 1
    this.#condition = condition
    const { process } = this.#world.unit
    if (status !== 'True' || process === undefined) return
    const local = !this.#isOurs(process)
    assert(local === (reason === 'Local'), `invariant 8: the condition says ${reason}, kubelet runs ${process.configPath}`)
    assert(local || this.#proven.has(process.text), `invariant 8: the condition says ${reason} of what was never proved: ${process.text}`)
  }
}

function healthyForUs(process: SimProcess, nowUs: number): number {
  if (nowUs < process.healthyFromUs || nowUs >= process.unhealthyFromUs) return 0
  return nowUs - Math.max(process.startedAtUs, process.healthyFromUs)
}

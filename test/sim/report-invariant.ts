// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 8: status and condition say only what is true. On a node that is well, the condition
 * becomes True.
 */
import assert from 'node:assert/strict'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { resolveDesired } from '../../src/decision/desired.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, StepOf } from '../../src/decision/step.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import type { Condition, ConditionReason } from '../../src/report/reasons.ts'
import { findSlot, type Slot } from '../../src/report/slot.ts'
import { describeStatus } from '../../src/report/status.ts'
import { sameSource } from '../../src/subject/config-source.ts'
import { isLocalText, meaningOf, type SimProcess } from './behaviour.ts'
import { DIRECTORY } from './paths.ts'
import type { SimWorld } from './sim-world.ts'
import { isOriginLost } from './unseen.ts'

/** On a node that is alone with its config. */
const FAILURES: readonly ConditionReason[] = ['Restarting', 'InTrial', 'RolledBack', 'Unhealthy', 'NodeAtFault', 'RuntimeDown']
const LAYOUT = layoutOf(DIRECTORY)

export function runsCheckpoint({ text }: SimProcess): boolean {
  return !isLocalText(text)
}

export class ReportInvariant {
  readonly #world: SimWorld
  /** Whether kubelet was healthy with this text for a whole trial. */
  readonly #isProven: (text: string) => boolean
  #condition: Condition | undefined
  #conditionChanges = 0
  /** `sinceUs`: since when the node has had something to tell. undefined: it has told all. */
  #told: { readonly bootId: string; readonly slot: Slot; readonly sinceUs: number | undefined } | undefined
  /**
   * The agent has restarted kubelet into what the node is to run, and nothing has failed before.
   */
  #isOwnTurn = false
  #steps = 0
  #unitSeen = ''
  #unitChanges = 0

  constructor(world: SimWorld, isProven: (text: string) => boolean) {
    this.#world = world
    this.#isProven = isProven
  }

  decided(snapshot: Snapshot, step: Step): void {
    // A pass that waits for the container runtime takes a while, in which kubelet may end.
    const isStale = snapshot.unit.kind === 'known' && snapshot.unit.invocationId !== this.#world.unit.invocationId
    if (!isStale) this.#checkStatus(snapshot, step)
    this.#checkCondition(snapshot, step, isStale)
  }

  /**
   * On a node that is well the condition is True, and it has changed no more often
   * than something has happened.
   */
  checkConditionAtRest(): void {
    const [condition, changes] = [this.#condition, this.#conditionChanges]
    // A kubelet that exited so often within a day is worth a look, however well it is.
    const hasExited = condition?.reason === 'Unhealthy' && condition.message.includes('within 24 hours') && this.#world.unit.exits >= 5
    assert(
      condition?.status === 'True' || hasExited,
      `invariant 8: the node is well, and the condition says ${condition?.reason}: ${condition?.message}`,
    )
    const causes = this.#steps + this.#unitChanges + this.#world.happenings
    assert(changes <= causes + 1, `invariant 8: the condition changed ${changes} times, with only ${causes} causes`)
  }

  /** The published status names the config that kubelet runs. */
  #checkStatus(snapshot: Snapshot, step: Step): void {
    const { active } = describeStatus(snapshot, step.kind === 'wait' ? step.phase : undefined)
    const { process } = this.#world.unit
    if (active === undefined || process === undefined) return
    const directory = active === 'local' ? undefined : LAYOUT.checkpoint(active.uid, active.resourceVersion, active.overlay)
    // Compared by name: after a restore of etcd, the file may hold other content than the process
    // was started with.
    if (directory !== undefined && process.configPath.startsWith(`${directory}/`)) return
    // Nor does a file that is always the same one say which content the process was started with:
    // only the records in /run do.
    const { kind, wasRestored, hasLostRuntime } = this.#world
    if (kind.activation !== 'env' && (wasRestored || hasLostRuntime)) return
    const named = active === 'local' ? 'local' : this.#world.files.read(`${directory}/${active.kubeletConfigKey}`)?.toString()
    const runs = runsCheckpoint(process) ? process.text : 'local'
    assert(named === undefined || meaningOf(named) === runs, `invariant 8: the status says ${named}, and kubelet runs ${runs}`)
  }

  /**
   * The condition is True only for a config that kubelet runs and that passed its
   * trial here.
   */
  #checkCondition(snapshot: Snapshot, step: Step, isStale: boolean): void {
    const { activity } = this.#world.unit
    const unit = `${activity} ${this.#world.unit.process?.startedAtUs}`
    if (unit !== this.#unitSeen) this.#unitChanges += 1
    this.#unitSeen = unit
    if (step.kind !== 'wait') {
      if (step.kind === 'restart') this.#isOwnTurn = !step.record.fallback && this.#condition?.reason !== 'Restarting'
      this.#steps += 1
      return
    }
    const condition = describeCondition(snapshot, step, NO_DEADLINES)
    const { status, reason, message } = condition
    if (`${status}${reason}${message}` !== `${this.#condition?.status}${this.#condition?.reason}${this.#condition?.message}`)
      this.#conditionChanges += 1
    this.#condition = condition
    this.#checkSlot(snapshot, step, condition)
    const { process } = this.#world.unit
    if (status !== 'True' || process === undefined || isStale) return
    if (isOriginLost(this.#world)) return
    const local = !runsCheckpoint(process)
    assert(local === (reason === 'Local'), `invariant 8: the condition says ${reason}, and kubelet runs ${process.configPath}`)
    assert(
      local || this.#isProven(process.text),
      `invariant 8: the condition says ${reason} for a config without a whole trial: ${process.text}`,
    )
  }

  /**
   * Whatever a node has to tell, a refusal too, is told within half a minute, however often
   * something else comes between. At once is told what an operator of the node did, a start in the
   * node's own turn, and what was set on this Node alone, until that is promoted.
   */
  #checkSlot(snapshot: Snapshot, { phase }: StepOf<'wait'>, condition: Condition): void {
    const { now, desired, policy, spread, lastKnownGood } = snapshot
    const { reason } = condition
    const isStart = reason === 'Restarting'
    const wanted = resolveDesired(desired)
    const before = this.#told?.bootId === now.bootId ? this.#told : undefined
    const slot = findSlot(snapshot, phase, wanted, condition, before?.slot)
    const { atUs } = slot
    const isTold = atUs === undefined || atUs <= now.monotonicUs
    // The slot of before has come meanwhile, and what there was then was told in it.
    const wasTold = (before?.slot.atUs ?? 0) <= now.monotonicUs
    const sinceUs = isTold ? undefined : wasTold ? now.monotonicUs : (before?.sinceUs ?? now.monotonicUs)
    this.#told = { bootId: now.bootId, slot, sinceUs }
    const isOwnStart = isStart && this.#isOwnTurn
    if (!isStart) this.#isOwnTurn = false
    if (isTold) return
    const lateUs = atUs - (sinceUs ?? now.monotonicUs)
    assert(lateUs <= Math.min(30e6, policy.spreadUs), `invariant 8: ${reason} is told ${lateUs / 1e6} s after it was so`)
    // The slot was taken while nodes shared this: a reset on the node may come before the slot.
    const isTaken = before?.slot.condition === slot.condition
    const isAlone = spread?.own === true && wanted !== undefined && !sameSource(lastKnownGood.source, wanted)
    const isOwn = isOwnStart || reason === 'HeldLocal' || (isAlone && FAILURES.includes(reason))
    assert(isTaken || !isOwn, `invariant 8: ${reason} is of this node alone, and waits for its slot`)
  }
}

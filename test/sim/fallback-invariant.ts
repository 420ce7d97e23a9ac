// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 6: a kubelet that fails with its config is on another one within the fallback budget,
 * whatever else is down, as long as any config works on this node.
 */
import assert from 'node:assert/strict'
import { NOTHING_LEFT } from '../../src/decision/resting.ts'
import type { Step } from '../../src/decision/step.ts'
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import { meaningOf } from './behaviour.ts'
import { POLICY } from './policy.ts'
import { STARVED_US } from './sim-troubles.ts'
import type { SimWorld } from './sim-world.ts'
import { DIFFERENT_KUBELETS, moreWaitUs } from './times.ts'
import { isUnseen } from './unseen.ts'

/**
 * The slowest fallback: the config misses its start deadline, then last-known-good and the config
 * before it miss theirs. One of them had proved itself and is started once more. And the starts.
 */
const SLOWEST_CONFIGS = 4
const FALLBACK_BUDGET_US = SLOWEST_CONFIGS * POLICY.startDeadlineUs + 60e6
/** A runtime that the config killed excuses it for a while, and comes back some time after that. */
const RUNTIME_BUDGET_US = RUNTIME_EXCUSE_US + 60e6
/** A unit that is left down is started again at growing intervals, up to this. */
const START_AGAIN_US = 300e6
/**
 * A config that was left is tried again on another kubelet, of which no verdict tells: its
 * preflight and the restarts, beside its start deadline.
 */
const OTHER_KUBELET_US = POLICY.startDeadlineUs + 30e6
/** How long the agent rests after everything has failed. */
const REST_TRIALS = 3

export class FallbackInvariant {
  readonly #world: SimWorld
  readonly #isPaused: () => boolean
  #failedSinceUs: number | undefined
  /** Everything has failed, and the agent rests before it tries again. */
  #rested = false
  /**
   * Configs that took the runtime down, one after the other: the agent cannot know that of any at
   * once.
   */
  #killers: ReadonlySet<string> = new Set()
  /** What was left, on which kubelet: a verdict says nothing of another one, but for the third. */
  #left: readonly { readonly text: string | undefined; readonly identity: string }[] = []
  #wasLeftDown = false
  #wish: string | undefined
  /** The wanted config has been the one that kubelet starts with next, at least once. */
  #isWishActive = false
  #suspensions = 0
  #lastStep: Step | undefined

  constructor(world: SimWorld, isPaused: () => boolean) {
    this.#world = world
    this.#isPaused = isPaused
  }

  /** The agent has made a pass. */
  passed(step: Step): void {
    this.#lastStep = step
    if (step.kind === 'condemn') this.#left = [...this.#left, { text: this.#world.nextText(), identity: this.#world.unit.identity }]
  }

  /** No agent was there to act: the budget starts anew. */
  forget(): void {
    this.#failedSinceUs = undefined
    this.#rested = false
    this.#killers = new Set()
    this.#left = []
    this.#wasLeftDown = false
  }

  check(): void {
    const { unit, nowUs, kind, policy } = this.#world
    if (!this.#fails() || this.#isExcused()) {
      this.forget()
      return
    }
    const last = this.#lastStep
    this.#rested ||= last?.kind === 'wait' && (last.phase === 'node-at-fault' || last.detail.includes(NOTHING_LEFT))
    const { killer } = unit.runtime
    if (killer !== undefined) this.#killers = new Set([...this.#killers, `${this.#countLeft(killer)} ${killer}`])
    this.#wasLeftDown ||= unit.isLeftDown
    this.#failedSinceUs ??= nowUs
    const failedForUs = nowUs - this.#failedSinceUs
    const waitUs = moreWaitUs(kind, policy)
    assert(
      failedForUs <=
        FALLBACK_BUDGET_US +
          SLOWEST_CONFIGS * waitUs +
          (this.#rested ? REST_TRIALS * policy.trialUs : 0) +
          (this.#wasLeftDown ? START_AGAIN_US : 0) +
          this.#countTriesAgain() * (OTHER_KUBELET_US + waitUs) +
          this.#killers.size * RUNTIME_BUDGET_US,
      `invariant 6: kubelet (${unit.activity}) has failed for ${Math.round(failedForUs / 1e6)} s: ${unit.process?.text}`,
    )
  }

  /** How often configs were left that had been left on another kubelet. */
  #countTriesAgain(): number {
    const texts = [...new Set(this.#left.map(({ text }) => text))]
    const kubeletsOf = (text: string | undefined) =>
      new Set(this.#left.filter((each) => each.text === text).map(({ identity }) => identity))
    return texts.reduce((sum, text) => sum + Math.min(kubeletsOf(text).size, DIFFERENT_KUBELETS) - 1, 0)
  }

  /** How often a config was left that is back on another kubelet. */
  #countLeft(killer: string): number {
    if (this.#world.nextText() !== killer) return 0
    const { identity } = this.#world.unit
    const others = this.#left.filter((each) => each.text === killer && each.identity !== identity)
    return Math.min(others.length, DIFFERENT_KUBELETS - 1)
  }

  /** A kubelet that starts slowly but will be healthy is not failing. */
  #fails(): boolean {
    const { unit, nowUs } = this.#world
    const { process } = unit
    const becomesHealthy = process !== undefined && process.healthyFromUs < process.exitsAtUs && process.healthyFromUs >= nowUs
    return !unit.isHealthy() && !becomesHealthy
  }

  #isExcused(): boolean {
    const { unit, nowUs, agentFromUs, faults } = this.#world
    if (!unit.isNodeWell() || unit.isStoppedByOperator || nowUs < agentFromUs) return true
    // The table of times has what late looks make of it.
    if (nowUs < this.#world.starvedUntilUs + 3 * STARVED_US) return true
    // None starts either.
    if (unit.isDependencyFailing) return true
    // No fallback works until a person has deleted what the config left.
    if (unit.leavings.isKilling) return true
    // Without systemctl no restart is possible, and where the config cannot be changed none helps.
    if (unit.systemctl.refuses || faults.readOnly) return true
    // A machine that was suspended misses no deadline.
    if (this.#suspensions !== this.#world.clock.suspensions) {
      this.#suspensions = this.#world.clock.suspensions
      return true
    }
    // Another config is wanted, another kubelet is there, an operator wants all tried anew, or the
    // agent has to replace the file of kubelet anew, and restarts it: that has a start deadline of
    // its own.
    const wish = `${unit.version} ${this.#world.assignment.wish()} ${this.#world.freshStarts} ${this.#world.replacedEdits}`
    if (wish !== this.#wish) {
      this.#wish = wish
      this.#isWishActive = false
      return true
    }
    // The deadline of the wanted config begins when kubelet gets it, which a preflight that fails
    // delays.
    if (!this.#isWishActive && this.#activatesWish()) {
      this.#isWishActive = true
      return true
    }
    return this.#isBlind() || this.#isFull() || isUnseen(this.#world) || this.#isPaused()
  }

  /**
   * The local config was edited while a copy of it ran, and there is no room for another copy of
   * what kubelet has to start with.
   */
  #isFull(): boolean {
    const { kind, replacedEdits, disk } = this.#world
    if (kind.activation !== 'file' || replacedEdits === 0 || !disk.full) return false
    return this.#lastStep?.kind === 'wait' && this.#lastStep.detail.includes('could not be activated')
  }

  #activatesWish(): boolean {
    const { assignment } = this.#world
    const wanted = assignment.wantedText()
    return wanted !== undefined && this.#world.nextText() === meaningOf(wanted)
  }

  /**
   * While a disk returns nothing, nothing can be decided. What was not seen is not charged to a
   * config, so that its start deadline begins anew.
   */
  #isBlind(): boolean {
    return this.#world.faults.readsFail && this.#lastStep?.kind === 'wait' && this.#lastStep.phase === 'unknown'
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Looks of an agent that would find nothing new. Most looks are such: nothing happens to the node,
 * and answer and condition stay the same until a deadline. They are computed instead of made, since
 * both the decision and the record of kubelet's health are pure functions. The next look that is
 * made is the first one whose answer would differ, or the first one after something has happened to
 * the node.
 */

import { findNodePause } from '../../src/decision/find-pause.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Wait } from '../../src/decision/step.ts'
import { isJudged } from '../../src/evidence/judge.ts'
import { dueEvidence, findCandidateOfBaseline } from '../../src/evidence/schedule.ts'
import { forgetIllness, type HealthRecord, recordSample } from '../../src/health/fold.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { basisAt } from './sim-agent.ts'
import type { SimWorld } from './sim-world.ts'

/** Some hours. */
const MOST_LOOKS = 5000

export class Doze {
  readonly #snapshot: Snapshot
  readonly #health: HealthRecord
  readonly #everyUs: number
  /** How many looks are left out at most. */
  readonly #looks: number
  readonly #happenings: number
  readonly #process: unknown

  private constructor(world: SimWorld, snapshot: Snapshot, health: HealthRecord, everyUs: number, looks: number) {
    this.#snapshot = snapshot
    this.#health = health
    this.#everyUs = everyUs
    this.#looks = looks
    this.#happenings = world.happenings
    this.#process = world.unit.process
  }

  /**
   * @param wakeAtUs when the agent looks again
   * @param slownessUs how late it looks at least
   * @returns undefined: no look can be left out
   */
  static begin(world: SimWorld, snapshot: Snapshot, step: Wait, wakeAtUs: number, slownessUs: number): Doze | undefined {
    const { health, now } = snapshot
    if (health === undefined || !isCalm(world, snapshot)) return undefined
    const everyUs = wakeAtUs - now.monotonicUs
    const most = Math.min(MOST_LOOKS, Math.floor((world.calmUntilUs() - now.monotonicUs) / everyUs))
    const report = describe(snapshot, step)
    const isSame = (looks: number): boolean => {
      const later = shift(world, snapshot, health, looks, everyUs)
      const answer = nextStep(later)
      if (answer.kind !== 'wait' || answer.phase !== step.phase || answer.detail !== step.detail) return false
      const isNextSame = Math.max(answer.untilUs - later.now.monotonicUs, slownessUs) === everyUs
      // What is judged no more at the end of a trial was asked about until then.
      return isNextSame && isJudged(later) === isJudged(snapshot) && !isAsking(later) && describe(later, answer) === report
    }
    if (most < 1 || isAsking(snapshot) || !isSame(1)) return undefined
    return new Doze(world, snapshot, health, everyUs, findLast(isSame, most))
  }

  /** When the agent looks again, if nothing happens to the node until then. */
  get untilUs(): number {
    return this.#timeOf(this.#looks + 1)
  }

  /** Nothing has happened to the node. */
  goesOn(world: SimWorld): boolean {
    const { unit } = world
    const isWell = unit.process === undefined ? unit.activity === 'stopped' : unit.isHealthy()
    return !world.woken && world.happenings === this.#happenings && unit.process === this.#process && isWell
  }

  /** Records the looks until now. Returns when the next one is due. */
  catchUp(world: SimWorld): number {
    const looks = Math.min(this.#looks, Math.ceil((world.nowUs - this.#snapshot.now.monotonicUs) / this.#everyUs) - 1)
    if (looks > 0) {
      const { health } = shift(world, this.#snapshot, this.#health, looks, this.#everyUs)
      if (health !== undefined) world.runtime.put('health', health)
    }
    return this.#timeOf(Math.max(0, looks) + 1)
  }

  #timeOf(looks: number): number {
    return this.#snapshot.now.monotonicUs + looks * this.#everyUs
  }
}

/** Nothing on this node fails, and nothing but the clock and the world's events can change it. */
function isCalm(world: SimWorld, { troubles, preflightPending, unit: seen }: Snapshot): boolean {
  const { unit, faults } = world
  // While kubelet is only probed, what is known of its unit may be a minute old.
  if (seen.kind === 'unknown' || seen.activity !== unit.activity) return false
  const isRunning = unit.activity === 'running' && unit.isHealthy()
  if (!isRunning && unit.activity !== 'stopped') return false
  if (faults.readsFail || !unit.isNodeWell() || unit.systemctl.fault !== undefined) return false
  return troubles.length === 0 && preflightPending.size === 0
}

function describe(snapshot: Snapshot, step: Wait): string {
  const { status, reason, message } = describeCondition(snapshot, step, NO_DEADLINES)
  return `${status} ${reason} ${message}`
}

/** Evidence is asked for, and the answers are to come. */
function isAsking(snapshot: Snapshot): boolean {
  if (findCandidateOfBaseline(snapshot) !== undefined) return true
  const { questions, write } = dueEvidence(snapshot, undefined)
  return write || questions.length > 0
}

/** The same node after so many looks. One sample more of the same leaves the same record. */
function shift(world: SimWorld, snapshot: Snapshot, health: HealthRecord, looks: number, everyUs: number): Snapshot {
  const { now, unit, running, healthz, runtimeUp, changesRuntime, policy } = snapshot
  const aheadUs = looks * everyUs
  const at = { bootId: now.bootId, monotonicUs: now.monotonicUs + aheadUs, wallMs: now.wallMs + aheadUs / 1000 }
  const before = { ...health, lastSampleUs: at.monotonicUs - everyUs }
  const after = recordSample(before, { at, unit, running, healthz, runtimeUp, changesRuntime }, health.subject, policy)
  const isPaused = findNodePause(snapshot) !== undefined
  const kept = after && (isPaused ? forgetIllness(after) : { ...after, pausedExits: undefined })
  return { ...snapshot, now: at, health: kept, basis: basisAt(world, at.monotonicUs) }
}

/**
 * The last of 1..most for which it holds. It holds for 1, and no more after the first for which it
 * does not.
 */
function findLast(holds: (count: number) => boolean, most: number): number {
  if (holds(most)) return most
  // Most deadlines are near.
  let last = 1
  while (last * 4 < most && holds(last * 4)) last *= 4
  let first = Math.min(last * 4, most)
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (holds(middle)) last = middle
    else first = middle
  }
  return last
}

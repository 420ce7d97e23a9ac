// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 15: a config with which kubelet exits, hangs or never gets healthy is left within the
 * table of times of docs/concepts.md, wherever the agent looks. What keeps the agent from looking,
 * or excuses kubelet, starts the times anew, and ends nothing else.
 */
import assert from 'node:assert/strict'
import { isOutOfReach } from '../../src/decision/condemn-failure.ts'
import type { Policy, Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { assess } from '../../src/decision/target.ts'
import { LOCAL_CONTENT } from '../../src/subject/config-source.ts'
import { contentOfKey } from '../../src/subject/trial-key.ts'
import { isLocalText, type SimProcess } from './behaviour.ts'
import { CONTAINERD } from './sim-runtime.ts'
import { STARVED_US } from './sim-troubles.ts'
import type { KubeletObserver, SimWorld } from './sim-world.ts'
import { areAlike, DIFFERENT_KUBELETS, type Failing, lateUs, limitUs, RECURRING_EXITS, RECURRING_WITHIN_US, type SimExit } from './times.ts'
import { isUnseen } from './unseen.ts'

interface Exit extends SimExit {
  /**
   * A part of the identity that differs at each start makes another kubelet, with exits of its own.
   */
  readonly identity: string
}

interface Due {
  readonly failing: Failing
  readonly sinceUs: number
}

/** A question that a silent runtime leaves without an answer takes so long (`RECENT_US`). */
const ASK_TAKES_US = 10e6
/** With one of these the agent has answered a failure, or forgotten what failed. */
const ANSWERS: readonly Step['kind'][] = ['condemn', 'try-again', 'forgive', 'retry-failed', 'activate']

export class TimesInvariant implements KubeletObserver {
  readonly #world: SimWorld
  readonly #isPaused: () => boolean
  /**
   * The content that kubelet starts with next, on which kubelet, and in which look at the world.
   */
  #about = ''
  #exits: readonly Exit[] = []
  /** Those from before the last trial that passed, too. */
  #recurring: readonly Exit[] = []
  #exitsDueUs: number | undefined
  #alikeDueUs: number | undefined
  #givenUpSinceUs: number | undefined
  #illSinceUs: number | undefined
  /** Of the kubelet that is ill: another one has its time again. */
  #identity = ''
  #lastUs = 0
  /** The latest look found the runtime silent. */
  #sawSilence = false
  /**
   * A look found the process that runs, or ran last, healthy, and the records in /run that say so
   * were not lost since.
   */
  #wasHealthy = false
  #lostRuntimes = 0
  /** The content that the process was started with. */
  #started: string | undefined
  /** The node's runtime did not answer when it was started, for all that looks could tell. */
  #beganSilent = false
  /**
   * The content that starts next has a verdict already: the agent rests on it, since
   * last-known-good and local have failed too, or nothing better can be put in place.
   */
  #isCondemned = false
  /**
   * The disk or systemd returned nothing, or the agent was away, and no look has been made since:
   * the next one is like the first.
   */
  #isBlind = false

  constructor(world: SimWorld, isPaused: () => boolean) {
    this.#world = world
    this.#isPaused = isPaused
    world.onKubelet.push(this)
  }

  started({ startedBy, text }: SimProcess): void {
    const { nowUs, unit } = this.#world
    const { runtime } = unit
    // A process that begins without its runtime exits, also where that answers by then.
    const isAfterSilent = this.#beganSilent && !this.#wasHealthy
    this.#wasHealthy = false
    this.#started = text
    const { backUs } = runtime
    // Also where a machine that was suspended restarts kubelet before the next look.
    const isUpUnseen = backUs > 0 && (nowUs - backUs < this.#lookUs() + ASK_TAKES_US || this.#sawSilence)
    this.#beganSilent = runtime.isUsedBy(text) && (!runtime.isUp(CONTAINERD) || isUpUnseen)
    if (isAfterSilent) this.#illSinceUs = undefined
    if (startedBy !== 'systemd') this.#forget()
  }

  exited(process: SimProcess, said: string | undefined): void {
    const { nowUs, unit, policy } = this.#world
    const { text, startedAtUs, version } = process
    if (this.#isProven(process)) this.#beginAnew()
    if (text !== this.#world.nextText() || version !== unit.version || this.#isExcused() || this.#isForRuntime(process)) return
    // Between late looks it may be healthy, and was so at them for all that the agent knows.
    if (this.#lookUs() > policy.toleranceUs) return
    const { identity } = unit
    const exit: Exit = { startedAtUs, atUs: nowUs, said, restartSeconds: this.#world.kind.restartSeconds, identity }
    this.#exits = [...this.#exits, exit]
    this.#recurring = [...this.#recurring, exit].filter((each) => each.identity === identity && nowUs - each.atUs < RECURRING_WITHIN_US)
    if (isLoop(this.#exits, policy) || this.#recurring.length >= RECURRING_EXITS) this.#exitsDueUs ??= nowUs
    const ofOneKubelet = this.#exits.slice(this.#exits.findLastIndex((each) => each.identity !== identity) + 1)
    if (this.#world.kind.journal && areAlike(ofOneKubelet)) this.#alikeDueUs ??= nowUs
  }

  decided(snapshot: Snapshot, step: Step): void {
    const { nextStart, verdicts, unit } = snapshot
    this.#sawSilence = snapshot.runtimeUp === false
    this.#isBlind = this.#world.faults.readsFail || unit.kind === 'unknown'
    this.#followRecords()
    if (unit.kind === 'known' && this.#isStarted() && this.#world.unit.isHealthy()) this.#wasHealthy = true
    const content = nextStart.kind === 'known' ? nextStart.held.content : undefined
    const failed = new Set([...verdicts.keys()].map(contentOfKey))
    const isLeft = [snapshot.lastKnownGood.content, LOCAL_CONTENT].every((each) => each === undefined || failed.has(each))
    const { target } = assess(snapshot)
    const isStuck = isLeft || target === undefined || isOutOfReach(snapshot, target)
    this.#isCondemned = unit.kind === 'known' && content !== undefined && failed.has(content) && isStuck
    // With a damaged record, verdicts may be lost. Nobody knows whether one of them has answered
    // these exits.
    const isAnswerLost = step.kind === 'assign' && snapshot.assigned.kind === 'damaged'
    if (ANSWERS.includes(step.kind) || isAnswerLost) this.#forget()
  }

  agentDied(): void {
    this.#forget()
  }

  check(): void {
    const { unit, nowUs, clock, lostRuntimes, freshStarts, faults, agentFromUs } = this.#world
    this.#isBlind ||= faults.readsFail || unit.systemctl.fault === 'down' || nowUs < agentFromUs
    const about = `${unit.version} ${clock.suspensions} ${lostRuntimes} ${freshStarts} ${this.#world.nextText()}`
    if (about !== this.#about) this.#forget()
    this.#about = about
    this.#followRecords()
    this.#follow()
    // Last: the excuse lasts until the next check, which may be when the agent comes back.
    if (this.#isExcused()) this.#forget()
    for (const { failing, sinceUs } of this.#listDue()) {
      const lateForUs = nowUs - sinceUs - limitUs(failing, this.#world.policy)
      assert(
        lateForUs <= lateUs(failing, this.#lookUs(), this.#world.policy),
        `invariant 15: ${failing}: kubelet (${unit.activity}) is left ${Math.round(lateForUs / 1e6)} s too late: ${this.#world.nextText()}`,
      )
    }
  }

  /** Also of the looks that were made lately. */
  #lookUs(): number {
    const { nowUs, lookUs, starvedUntilUs } = this.#world
    return nowUs < starvedUntilUs + 3 * STARVED_US ? STARVED_US : lookUs
  }

  #forget(): void {
    this.#beginAnew()
    this.#recurring = []
  }

  /** After a whole trial. */
  #beginAnew(): void {
    this.#exits = []
    this.#exitsDueUs = undefined
    this.#alikeDueUs = undefined
    this.#givenUpSinceUs = undefined
    this.#illSinceUs = undefined
  }

  /** Without its records, the agent takes a kubelet that is ill for one that was never healthy. */
  #followRecords(): void {
    const { lostRuntimes } = this.#world
    if (lostRuntimes !== this.#lostRuntimes) this.#wasHealthy = false
    this.#lostRuntimes = lostRuntimes
  }

  #follow(): void {
    const { unit, nowUs } = this.#world
    // Nothing ails a kubelet that systemd is to restart in a while.
    const waitedUs = unit.activity === 'auto-restart' ? nowUs - this.#lastUs : 0
    this.#lastUs = nowUs
    if (unit.identity !== this.#identity) this.#illSinceUs = undefined
    else if (this.#illSinceUs !== undefined) this.#illSinceUs += waitedUs
    this.#identity = unit.identity
    const { process } = unit
    if (unit.activity === 'failed' && this.#exits.length > 0) this.#givenUpSinceUs ??= nowUs
    if (process !== undefined && this.#isStarted() && unit.isHealthy()) {
      this.#illSinceUs = undefined
      if (this.#isProven(process)) this.#beginAnew()
      return
    }
    // Another config runs, or ran last: a restart is due, which systemd may refuse for long.
    if (!this.#isStarted()) this.#illSinceUs = undefined
    else this.#illSinceUs ??= nowUs
  }

  /** Kubelet was started with what it starts with next. */
  #isStarted(): boolean {
    return this.#started === this.#world.nextText()
  }

  /**
   * No look tells why a kubelet exits that was started without its runtime, even if that is back by
   * then, until one has shown that kubelet is up.
   */
  #isForRuntime({ healthyFromUs }: SimProcess): boolean {
    const { nowUs, policy } = this.#world
    return this.#beganSilent && nowUs - healthyFromUs <= policy.toleranceUs + this.#lookUs()
  }

  /** After a whole trial it starts again at zero. */
  #isProven({ startedAtUs, healthyFromUs, unhealthyFromUs }: SimProcess): boolean {
    const { nowUs, policy } = this.#world
    return Math.min(nowUs, unhealthyFromUs) - Math.max(startedAtUs, healthyFromUs) >= policy.trialUs
  }

  #listDue(): readonly Due[] {
    const due = (failing: Failing, sinceUs: number | undefined): readonly Due[] => (sinceUs === undefined ? [] : [{ failing, sinceUs }])
    const isHung = this.#wasHealthy && this.#world.unit.process !== undefined
    return [
      ...due('exits', this.#exitsDueUs),
      ...due('same words', this.#alikeDueUs),
      ...due('given up', this.#givenUpSinceUs),
      ...due(isHung ? 'no more healthy' : 'never healthy', this.#illSinceUs),
    ]
  }

  /** For the time being. */
  #isExcused(): boolean {
    const { unit, nowUs, agentFromUs, agentDead, faults } = this.#world
    const text = this.#world.nextText()
    // Local is the last that there is, and the administrator's.
    if (text === undefined || isLocalText(text) || this.#isCondemned) return true
    if (agentDead || nowUs < agentFromUs || unit.isStoppedByOperator || unit.isLeftDown || this.#isPaused()) return true
    if (this.#isBlind || unit.systemctl.fault === 'down' || faults.readsFail || faults.writesFail || isUnseen(this.#world)) return true
    // What is down can be left for nothing else before systemd starts something again.
    if (unit.systemctl.hasRefusedLately && unit.process === undefined) return true
    const { runtime } = unit
    return runtime.endpointOf(text) === CONTAINERD && !runtime.isUp(CONTAINERD)
  }
}

/** Of one kubelet, or in a row as so many different ones as no upgrades make. */
function isLoop(exits: readonly Exit[], { crashLimit, trialUs }: Policy): boolean {
  const { identity } = exits.at(-1) ?? {}
  const own = exits.slice(exits.findLastIndex((exit) => exit.identity !== identity) + 1)
  const isNext = ({ atUs }: Exit, index: number) => (exits[index + 1]?.atUs ?? atUs) - atUs < trialUs
  const inARow = exits.slice(exits.findLastIndex((exit, index) => !isNext(exit, index)) + 1)
  const kubelets = new Set(inARow.map((exit) => exit.identity)).size
  return own.length >= crashLimit || (inARow.length >= crashLimit && kubelets >= DIFFERENT_KUBELETS)
}

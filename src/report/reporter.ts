// SPDX-License-Identifier: Apache-2.0
/**
 * Reports the result of each pass of the loop: the Node status and gauges when the agent waits,
 * counters when it acts, and a log line when the phase has changed. Remembers the last report;
 * decides nothing.
 */

import { resolveDesired } from '../decision/desired.ts'
import { PHASES, type Phase } from '../decision/phases.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Step, Wait } from '../decision/step.ts'
import { measureTrial } from '../decision/trial.ts'
import { spreadDelayUs } from '../decision/wait.ts'
import { listObserved } from '../evidence/judge.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { type ConfigSource, LOCAL_CONTENT, sameSource } from '../subject/config-source.ts'
import { hasPassed } from '../subject/trial-key.ts'
import type { AcceptedWarnings } from './accepted-warnings.ts'
import { describeInAnnotation } from './annotation.ts'
import { describeCondition, isAssignmentKnown, isTransient, NODE_UNREADABLE } from './condition.ts'
import type { Counters } from './counters.ts'
import { findDeadlines, NO_DEADLINES } from './deadlines.ts'
import { type NodeSummary, START_GRACE_US } from './publisher.ts'
import type { Condition } from './reasons.ts'
import type { ProbeResult } from './server.ts'
import { findSlot, type Slot } from './slot.ts'
import { type ConfigStatus, describeStatus } from './status.ts'
import type { SyncFaults } from './sync-faults.ts'
import { NOT_TIMED, type TrialTimer, timeApply, timeTrial } from './timers.ts'
import { answersOf, reportRollout, type ShownEvidence, showEvidence, type TrialReport } from './trial-report.ts'

interface ReporterOptions {
  readonly clock: Clock
  readonly log: Log
  readonly counters: Counters
  readonly agentVersion: string
  /**
   * `summary`: undefined at first, until the assignment is known: what was published last stays.
   */
  readonly publish: (status: ConfigStatus, trial: TrialReport, summary: NodeSummary | undefined) => void
  /** Told of each condition, before it is kept back for a while. */
  readonly syncFaults: Pick<SyncFaults, 'see'>
  /** Told of each snapshot; returns what preflight warned of in what is assigned. */
  readonly warnings: Pick<AcceptedWarnings, 'see' | 'otherwise'>
  /** Publishes the condition alone, if nothing else is known. */
  readonly publishCondition: (condition: Condition) => void
}

interface LastSummary {
  readonly summary: NodeSummary
  readonly slot: Slot
  readonly wanted: ConfigSource | undefined
  readonly phase: Phase
}

/**
 * The loop turns at least every 20 s, and one turn may wait some ten seconds for systemd and
 * kubelet.
 */
const LONGEST_TURN_US = 120e6
/** For this long, a True condition stays during a short disturbance. */
const TRANSIENT_US = 30e6

export class Reporter {
  readonly #options: ReporterOptions
  #applyTimer = NOT_TIMED
  #trialTimer: TrialTimer
  #loggedPhase = ''
  #lastTurnUs: number
  #isDesiredKnown = false
  /** Since the agent started. */
  #hasReadAssignment = false
  #firstLookUs: number | undefined
  #transientSinceUs: number | undefined
  #unreadableSinceUs: number | undefined
  #last: LastSummary | undefined
  /** When this node tells of the progress of a rollout. */
  #slotUs: number | undefined
  #deadlines = NO_DEADLINES
  #shown: ShownEvidence | undefined

  constructor(options: ReporterOptions) {
    this.#options = options
    this.#lastTurnUs = options.clock.now().monotonicUs
  }

  decided(snapshot: Snapshot, step: Step): void {
    const { counters, publish } = this.#options
    this.#isDesiredKnown = snapshot.desired.kind !== 'unknown'
    const { timer, appliedSeconds } = timeApply(this.#applyTimer, snapshot)
    this.#applyTimer = timer
    if (appliedSeconds !== undefined) counters.applied(appliedSeconds)
    const trialTime = timeTrial(this.#trialTimer, snapshot)
    this.#trialTimer = trialTime.timer
    if (trialTime.passedSeconds !== undefined) counters.trialPassed(trialTime.passedSeconds)
    if (step.kind === 'restart') counters.restarted()
    if (step.kind === 'condemn') counters.rolledBack(step.verdict.reason)
    if (step.kind !== 'wait') return
    this.#logPhase(step)
    const status = describeStatus(snapshot, step.phase)
    const remainingSeconds = trialRemainingSeconds(snapshot)
    const trial = { remainingSeconds, evidence: answersOf(listObserved(snapshot)), rollout: reportRollout(snapshot) }
    publish(status, trial, this.#findSummary(snapshot, step, status))
  }

  #findSummary(snapshot: Snapshot, wait: Wait, status: ConfigStatus): NodeSummary | undefined {
    const { syncFaults, warnings, agentVersion } = this.#options
    const nowUs = snapshot.now.monotonicUs
    this.#hasReadAssignment ||= isAssignmentKnown(snapshot)
    this.#firstLookUs ??= nowUs
    if (!this.#hasReadAssignment && nowUs - this.#firstLookUs < START_GRACE_US) return undefined
    this.#deadlines = findDeadlines(snapshot, wait.phase, this.#deadlines)
    const seenWarnings = warnings.see(snapshot)
    const condition = describeCondition(snapshot, wait, this.#deadlines, warnings.otherwise(snapshot))
    syncFaults.see(snapshot, condition)
    const wanted = resolveDesired(snapshot.desired)
    if (!isTransient(condition, wait, snapshot)) this.#transientSinceUs = undefined
    else if (this.#keepsLast(wanted, nowUs)) return this.#last?.summary
    if (this.#awaitsSlot(snapshot, wait, condition, wanted)) return this.#last?.summary
    this.#shown = showEvidence(snapshot, this.#shown)
    const annotation = describeInAnnotation(snapshot, status, this.#deadlines, agentVersion, this.#shown?.answers, seenWarnings)
    const slot = findSlot(snapshot, wait.phase, wanted, condition, this.#last?.slot)
    const summary = { condition, annotation, slotUs: slot.atUs, eventSlotUs: slot.eventsAtUs }
    this.#last = { summary, slot, wanted, phase: wait.phase }
    return this.#last.summary
  }

  /**
   * Whether the last report stays for now: a True about the same config, or the report of the agent
   * before its restart.
   */
  #keepsLast(wanted: ConfigSource | undefined, nowUs: number): boolean {
    this.#transientSinceUs ??= nowUs
    if (nowUs - this.#transientSinceUs >= TRANSIENT_US) return false
    if (this.#last === undefined) return true
    const { summary, wanted: before } = this.#last
    return summary.condition.status === 'True' && wanted !== undefined && before !== undefined && sameSource(wanted, before)
  }

  /**
   * All nodes that wait for a rollout see its progress at the same moment. Each tells of it at a
   * time of its own, so that one write to the record does not make thousands to the Nodes.
   */
  #awaitsSlot({ now, nodeName, policy }: Snapshot, { phase }: Wait, condition: Condition, wanted: ConfigSource | undefined): boolean {
    const last = this.#last
    const isProgress =
      phase === 'rollout' &&
      last?.phase === 'rollout' &&
      last.summary.condition.message !== condition.message &&
      wanted !== undefined &&
      last.wanted !== undefined &&
      sameSource(wanted, last.wanted)
    if (!isProgress) {
      this.#slotUs = undefined
      return false
    }
    this.#slotUs ??= now.monotonicUs + spreadDelayUs(nodeName, 'local', policy.spreadUs)
    if (now.monotonicUs < this.#slotUs) return true
    this.#slotUs = undefined
    return false
  }

  /** Without a snapshot for a while, the published condition may be wrong. */
  turned(_step: Step, snapshot: Snapshot | undefined): void {
    const nowUs = this.#options.clock.now().monotonicUs
    this.#lastTurnUs = nowUs
    if (snapshot !== undefined) this.#unreadableSinceUs = undefined
    else this.#unreadableSinceUs ??= nowUs
    if (this.#unreadableSinceUs !== undefined && nowUs - this.#unreadableSinceUs >= TRANSIENT_US)
      this.#options.publishCondition(NODE_UNREADABLE)
  }

  isAlive(): ProbeResult {
    const stalledUs = this.#options.clock.now().monotonicUs - this.#lastTurnUs
    return stalledUs < LONGEST_TURN_US
      ? { ok: true, detail: 'ok' }
      : { ok: false, detail: `the loop has been stuck for ${Math.round(stalledUs / 1e6)} s` }
  }

  isReady(): ProbeResult {
    return this.#isDesiredKnown ? { ok: true, detail: 'ok' } : { ok: false, detail: 'the assignment of this node is not known yet' }
  }

  #logPhase({ phase, detail }: Wait): void {
    const text = `${phase}: ${detail}`
    if (text === this.#loggedPhase) return
    this.#loggedPhase = text
    this.#options.log[PHASES[phase].log](text)
  }
}

function trialRemainingSeconds(snapshot: Snapshot): number {
  const { running } = snapshot
  if (running.kind !== 'known' || running.content === LOCAL_CONTENT || hasPassed(snapshot, running.key)) return 0
  return (measureTrial(snapshot, running.key)?.remainingUs ?? snapshot.policy.trialUs) / 1e6
}

/**
 * What a pass of the loop tells the world: the Node status and the gauges when the agent comes to rest, the counters when it acts, and a log
 * line whenever what it waits for has changed. Holds what was said last; decides nothing.
 */

import type { ConfigSource } from '../decision/config-source.ts'
import { sameSource } from '../decision/config-source.ts'
import { resolveDesired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Phase, Step, Wait } from '../decision/step.ts'
import { measureTrial } from '../decision/trial.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { PassObserver } from '../ports/pass-observer.ts'
import { describeInAnnotation } from './annotation.ts'
import { NOT_TIMED, timeApply } from './apply-time.ts'
import { BLIND, type Condition, describeCondition, isAssignmentKnown, isPassing } from './condition.ts'
import type { Counters } from './counters.ts'
import { findDeadlines, NO_DEADLINES } from './deadlines.ts'
import type { Standing } from './publisher.ts'
import type { ProbeResult } from './server.ts'
import { type ConfigStatus, describeStatus } from './status.ts'

export interface ReporterOptions {
  readonly clock: Clock
  readonly log: Log
  readonly counters: Counters
  readonly agentVersion: string
  /** `standing`: undefined while it is not known what the cluster wants now, for the first while: what was published last stands. */
  readonly publish: (status: ConfigStatus, trialRemainingSeconds: number, standing: Standing | undefined) => void
  /** Where nothing else is known. */
  readonly publishBlind: (condition: Condition) => void
}

/** The loop looks at least every quarter of a minute, and one look may wait for systemd and kubelet for some ten seconds. */
const LONGEST_TURN_US = 120e6
/** For how long an agent that has not heard what is assigned does not say so: at each of its starts it is about to. */
const HEARING_US = 60e6
/** For how long what was True stays so while nobody can tell. */
const PASSING_US = 30e6

export class Reporter implements PassObserver {
  readonly #options: ReporterOptions
  #applyTimer = NOT_TIMED
  #said = ''
  #turnedAtUs: number
  #known = false
  /** In this life of the agent. */
  #hasHeard = false
  #lookingSinceUs: number | undefined
  #passingSinceUs: number | undefined
  #blindSinceUs: number | undefined
  #last: { readonly standing: Standing; readonly wanted: ConfigSource | undefined } | undefined
  #deadlines = NO_DEADLINES

  constructor(options: ReporterOptions) {
    this.#options = options
    this.#turnedAtUs = options.clock.now().monotonicUs
  }

  decided(snapshot: Snapshot, step: Step): void {
    const { counters, publish } = this.#options
    this.#turnedAtUs = snapshot.now.monotonicUs
    this.#known = snapshot.desired.kind !== 'unknown'
    const { timer, appliedSeconds } = timeApply(this.#applyTimer, snapshot)
    this.#applyTimer = timer
    if (appliedSeconds !== undefined) counters.applied(appliedSeconds)
    if (step.kind === 'restart') counters.restarted()
    if (step.kind === 'condemn') counters.rolledBack(step.verdict.reason)
    if (step.kind !== 'wait') return
    this.#sayPhase(step)
    const status = describeStatus(snapshot, step.phase)
    publish(status, trialRemainingSeconds(snapshot), this.#findStanding(snapshot, step, status))
  }

  #findStanding(snapshot: Snapshot, wait: Wait, status: ConfigStatus): Standing | undefined {
    const nowUs = snapshot.now.monotonicUs
    this.#hasHeard ||= isAssignmentKnown(snapshot)
    this.#lookingSinceUs ??= nowUs
    if (!this.#hasHeard && nowUs - this.#lookingSinceUs < HEARING_US) return undefined
    this.#deadlines = findDeadlines(snapshot, wait.phase, this.#deadlines)
    const condition = describeCondition(snapshot, wait, this.#deadlines)
    const wanted = resolveDesired(snapshot.desired)
    if (!isPassing(condition, wait)) this.#passingSinceUs = undefined
    else if (this.#holds(wanted, nowUs)) return this.#last?.standing
    const annotation = describeInAnnotation(snapshot, status, this.#deadlines, this.#options.agentVersion)
    this.#last = { standing: { condition, annotation }, wanted }
    return this.#last.standing
  }

  /** What was True of just what is wanted now stands for a while; so does what an agent before this one said. */
  #holds(wanted: ConfigSource | undefined, nowUs: number): boolean {
    this.#passingSinceUs ??= nowUs
    if (nowUs - this.#passingSinceUs >= PASSING_US) return false
    if (this.#last === undefined) return true
    const { standing, wanted: before } = this.#last
    return standing.condition.status === 'True' && wanted !== undefined && before !== undefined && sameSource(wanted, before)
  }

  /** A look that shows nothing leaves nothing to decide; for long, it leaves nothing to vouch for. */
  turned(_step: Step, snapshot: Snapshot | undefined): void {
    const nowUs = this.#options.clock.now().monotonicUs
    if (snapshot !== undefined) this.#blindSinceUs = undefined
    else this.#blindSinceUs ??= nowUs
    if (this.#blindSinceUs !== undefined && nowUs - this.#blindSinceUs >= PASSING_US) this.#options.publishBlind(BLIND)
  }

  isAlive(): ProbeResult {
    const stalledUs = this.#options.clock.now().monotonicUs - this.#turnedAtUs
    return stalledUs < LONGEST_TURN_US
      ? { ok: true, detail: 'ok' }
      : { ok: false, detail: `the loop has not turned for ${Math.round(stalledUs / 1e6)} s` }
  }

  isReady(): ProbeResult {
    return this.#known ? { ok: true, detail: 'ok' } : { ok: false, detail: 'what is assigned to this node is not known yet' }
  }

  #sayPhase({ phase, detail }: Wait): void {
    const said = `${phase}: ${detail}`
    if (said === this.#said) return
    this.#said = said
    if (isTrouble(phase)) this.#options.log.warn(said)
    else this.#options.log.info(said)
  }
}

function trialRemainingSeconds(snapshot: Snapshot): number {
  const { running } = snapshot
  if (running.kind !== 'known' || running.content === 'local' || running.key === snapshot.proven) return 0
  return (measureTrial(snapshot, running.key)?.remainingUs ?? snapshot.policy.trialUs) / 1e6
}

function isTrouble(phase: Phase): boolean {
  switch (phase) {
    case 'settled':
    case 'in-trial':
    case 'preflight':
    case 'spread':
    case 'restarting':
    case 'paused':
      return false
    case 'drain':
    case 'fallen-back':
    case 'kubelet-stopped':
    case 'runtime-down':
    case 'restart-limit':
    case 'ineffective':
    case 'blocked':
    case 'node-at-fault':
    case 'unknown':
      return true
  }
}

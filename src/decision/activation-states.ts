// SPDX-License-Identifier: Apache-2.0
/**
 * The way from "this should run" to "kubelet runs it": preflight, the node's turn, activation,
 * restart. Each state is a function that yields a step, a wait, or the next state; a state that
 * yields a step that failed lately goes on to the next one instead. Pure.
 *
 * ```
 *   ┌────────────────────── (paused) ──────────────────────┐
 *   │                                                      ▼
 * start ──► check ──► activate ──► restartInto(target) ──► restOn
 *   │         │           │                  ▲
 *   └─────────┴──► leave ◄┘  (out of reach)  │
 *                    └─── what starts next ──┘
 * ```
 *
 * While the assigned config waits for its turn in a rollout, the way to the target comes first.
 * Once there is only waiting left on it, the assigned config goes the same way as far as
 * `activate`, and is checked.
 */

import { awaitsBaseline, startsWithContent } from '../evidence/schedule.ts'
import { needsStart } from '../health/sample.ts'
import { describeSource, sameSource } from '../subject/config-source.ts'
import type { ReadyWiring } from '../subject/unit-state.ts'
import { isAccepted, listUndrained, needsNoCheck } from './acceptance.ts'
import { asCandidate, assessHealth } from './condemn-failure.ts'
import { describePause, findNodePause } from './find-pause.ts'
import { lastRunSource } from './held-sources.ts'
import { PHASES, type Phase } from './phases.ts'
import { findRefuge, isRunning, mustLeaveProcess } from './refuge.ts'
import { awaitsStart, decideRestart, type RestartDecision } from './restarts.ts'
import { findLeftInPlace, findRunOn, restingPhase, restOn } from './resting.ts'
import { describeStartWait, findStartWait, hasRolloutTurn } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import { hasSameHash } from './staging.ts'
import type { Action, Step, Wait } from './step.ts'
import { isPutBack, nextAfter, standsIn, type Target, type TargetSituation } from './target.ts'
import { findVerdict, isOfFailure } from './verdict.ts'
import { failedLately, findSpreadTurn, type SpreadTurn, wait } from './wait.ts'
import { describeStay, findStartObstacle } from './why-down.ts'
import { isWellAgain, isWorthKeeping } from './worth-keeping.ts'

/** For how long preflight is asked about local where it cannot judge. */
const UNJUDGED_US = 600e6

type State = (situation: TargetSituation) => Action | Wait | State

/** The rule that makes the target what kubelet starts with, then what it runs. */
export function reachTarget(situation: TargetSituation): Step | undefined {
  const steps = [run(start, situation), prepareAwaitingTurn(situation)]
  return steps.find((step) => step !== undefined && step.kind !== 'wait')
}

/** The rule that waits: for what stands in the way of the target, or until something changes. */
export function restOnTarget(situation: TargetSituation): Step {
  const step = run(start, situation)
  const awaiting = prepareAwaitingTurn(situation)
  if (step.kind !== 'wait' || awaiting?.kind !== 'wait') return step
  const untilUs = Math.min(step.untilUs, awaiting.untilUs)
  // The target only stands in: the node waits for the assigned config.
  if (situation.target.goesOn && PHASES[step.phase].rests === true) return { ...awaiting, untilUs }
  return { ...step, detail: `${step.detail}; ${awaiting.detail}`, untilUs }
}

/** The steps that can be done already for a config that waits for its turn in a rollout. */
function prepareAwaitingTurn(situation: TargetSituation): Action | Wait | undefined {
  const { awaitingTurn } = situation
  return awaitingTurn && run(start, { ...situation, target: awaitingTurn })
}

function run(state: State, situation: TargetSituation): Action | Wait {
  const result = state(situation)
  return typeof result === 'function' ? run(result, situation) : result
}

/** The step, or the next state if the step failed lately. */
function stepOr(situation: TargetSituation, step: Action, next: State): Action | State {
  return failedLately(situation.snapshot, step) ? next : step
}

const isActivated = ({ snapshot: { nextStart }, target }: TargetSituation) =>
  nextStart.kind === 'known' && sameSource(nextStart.held.source, target.source)
/** Not merely unreadable at present. */
const isNextStartLost = ({ nextStart }: Snapshot) =>
  nextStart.kind === 'known' && nextStart.held.content === undefined && nextStart.held.unreadable !== true

/**
 * Transitions:
 * - wait: the unit does not take its config from the agent, or the node is paused
 * - restOn: the node is paused, and kubelet runs and starts with these bytes
 * - leave: the node is paused, and kubelet could not start again
 * - check: otherwise
 */
function start(situation: TargetSituation): ReturnType<State> {
  const { snapshot, unit, target } = situation
  const { wiring } = unit
  if (wiring.kind === 'broken') return wait(snapshot, isRunning(situation) ? restingPhase(situation) : 'blocked', wiring.detail)
  const pause = findNodePause(snapshot)
  if (pause === undefined) return check(wiring)
  if (isRunning(situation) && startsWithContent(snapshot.nextStart, target.key)) return restOn(situation)
  const why = `${describePause(pause)}; wanted is ${describeSource(target.source)}`
  // A pause keeps what runs. It must not keep kubelet from starting again.
  return isNextStartLost(snapshot) ? leave(wiring, 'paused', why) : wait(snapshot, 'paused', why)
}

/**
 * Transitions:
 * - step: preflight
 * - leave: preflight is still running, or could not be carried out lately
 * - activate: preflight is not needed, has accepted the target, or could not be carried out lately
 *   for a fallback, which has run before, or for long for local
 */
function check(wiring: ReadyWiring): State {
  return (situation) => {
    const { snapshot, unit, target } = situation
    const { source, key, fallback } = target
    if (isRunning(situation) || isAccepted(snapshot, target, isActivated(situation))) return activate(wiring)
    if (source === 'local' && (needsNoCheck(snapshot, unit) || isRefused(snapshot, target))) return activate(wiring)
    const what = describeSource(source)
    if (!fallback && snapshot.preflightPending.has(key))
      return leave(wiring, 'preflight', `${what} is being checked before kubelet gets it`)
    const obstacle = findStartObstacle(snapshot)
    const unchecked: State =
      obstacle === undefined
        ? leave(wiring, 'unknown', `preflight of ${what} could not be carried out`)
        : leave(wiring, 'node-at-fault', obstacle)
    const goes = fallback || (source === 'local' && snapshot.cannotStart === undefined && isLongUnjudged(snapshot))
    const next = goes ? activate(wiring) : unchecked
    return stepOr(situation, { kind: 'preflight', source, key, data: undefined, fallback }, next)
  }
}

/**
 * Nothing else can be started, so local is what starts next. The running config goes on: see
 * `findRunOn`.
 */
function isRefused({ verdicts }: Snapshot, { key }: Target): boolean {
  return verdicts.get(key)?.state === 'refused'
}

/**
 * For so long that the return to local goes on without preflight. Local belongs to the
 * administrator, and the node goes back where kubelet fails with it.
 */
function isLongUnjudged({ troubles, now }: Snapshot): boolean {
  const trouble = troubles.find(({ step, about }) => step === 'preflight' && about === 'local')
  return trouble !== undefined && now.monotonicUs - (trouble.sinceUs ?? now.monotonicUs) >= UNJUDGED_US
}

/**
 * Transitions:
 * - restartInto: the target is what kubelet starts with, and does not wait for its turn in a
 *   rollout
 * - wait: it is not this node's turn; or what is in place for kubelet is unknown, and has to stay
 * - step: activate
 * - leave: the node is not drained, the target's rollout has not come to this node, or the target
 *   could not be activated lately
 */
function activate(wiring: ReadyWiring): State {
  return (situation) => {
    const { snapshot, target } = situation
    const what = describeSource(target.source)
    const startWait = findStartWait(snapshot, target)
    if (isActivated(situation) && startWait === undefined) return restartInto(target)
    const unknown = findLeftInPlace(situation)
    if (unknown !== undefined) return unknown
    // A new version of the content that runs changes nothing.
    const drain = isRunning(situation) ? [] : listUndrained(snapshot, target)
    if (drain.length > 0) return leave(wiring, 'drain', describeDrain(snapshot, target))
    if (startWait !== undefined)
      return leave(wiring, startWait.isPaused === true ? 'paused' : 'rollout', describeStartWait(what, startWait))
    const turn = spreadTurnOf(situation)
    if (turn.kind === 'wait-until') {
      const why = turn.isOfFacts === true ? `waits to use ${what}` : `waits for its turn to use ${what}`
      return wait(snapshot, 'spread', `${why}: ${turn.detail}`, turn.atUs)
    }
    const after = standsIn(target) ? undefined : nextAfter(situation, target)?.source
    const fallback = standsIn(target) || target.source === 'local' ? after : (after ?? 'local')
    const next = leave(wiring, 'unknown', `${what} could not be activated`)
    return stepOr(situation, { kind: 'activate', target: target.source, fallback, wiring }, next)
  }
}

/**
 * The target is out of reach for now. A config that was condemned, or lost, must be left all the
 * same, for whatever can be had. So must a process that hangs; and what is down is started again.
 *
 * Transitions:
 * - step: activate a refuge, if what is in place was condemned, its checkpoint is lost, somebody
 *   has put local back, or it is wanted no longer
 * - restartInto: what is in place, if the process has to be left, or nothing else starts kubelet
 * - wait: otherwise, and for what waits for its turn in a rollout
 *
 * @param phase what the node waits for
 */
function leave(wiring: ReadyWiring, phase: Phase, why: string): State {
  return (situation) => {
    const { snapshot, unit, target, candidates, awaitingTurn } = situation
    const { nextStart, running } = snapshot
    if (nextStart.kind === 'unknown' || target === awaitingTurn) return wait(snapshot, phase, why)
    const next = asCandidate(nextStart.held, unit)
    const verdict = findVerdict(snapshot, next.content, unit)
    const isLost = nextStart.held.content === undefined
    const mustLeave = mustLeaveProcess(situation, next)
    // The running config is put in place again in a moment.
    const isLocals = isPutBack(snapshot, unit) && (mustLeave || !isRunning(situation))
    // A config that waited for its restart, and is wanted no longer, may never have run.
    const isOther = running.kind === 'known' && running.content !== next.content
    const isCandidate = candidates.some(({ content }) => content === next.content)
    const isWithdrawn = mustLeave && isOther && !isCandidate
    const refuge = verdict !== undefined || isLost || isLocals || isWithdrawn ? findRefuge(situation, wiring, next) : undefined
    if (refuge !== undefined) return refuge
    // As a stand-in for what is assigned, local is not the administrator's alone.
    const fallback = mustLeave || next.source === 'local'
    // Only a candidate can be a fallback. Any other config goes on, also in a later pause.
    const goesOn = target.goesOn || (!isCandidate && verdict === undefined)
    const inPlace = { ...target, ...next, verdict, fallback, goesOn }
    // Kubelet could not start from a checkpoint that is lost.
    if (isLost || findStartWait(snapshot, next) !== undefined) return wait(snapshot, phase, why)
    const decision = decideRestart(snapshot, unit, inPlace)
    if (!mustLeave && !awaitsStart(unit, decision)) return wait(snapshot, phase, why)
    // After an activation that failed, this may be local: see the effect `activate`.
    const start = run(restartInto(inPlace, decision), situation)
    return start.kind === 'wait' ? { ...start, detail: `${start.detail}; ${why}` } : start
  }
}

/**
 * Transitions:
 * - step: restart
 * - wait: a restart is not due, not possible, or not allowed now; or the node is not drained any
 *   more
 */
function restartInto(target: Target, decided?: RestartDecision): State {
  return (situation) => {
    const { snapshot, unit } = situation
    const what = describeSource(target.source)
    const runsOn = findRunOn({ ...situation, target })
    if (runsOn !== undefined) return runsOn
    const decision = decided ?? decideRestart(snapshot, unit, target)
    switch (decision.kind) {
      case 'restart': {
        // The node may have been taken back since the activation: a restart can wait for an hour.
        if ((isWorthKeeping(snapshot) || isWellAgain(snapshot)) && listUndrained(snapshot, target).length > 0)
          return wait(snapshot, 'drain', describeDrain(snapshot, target))
        if (!target.fallback && awaitsBaseline(snapshot, target.key))
          return wait(snapshot, 'restarting', `recording the state of the node before kubelet is restarted with ${what}`)
        const unrecorded: State = () => wait(snapshot, 'unknown', 'the restart of kubelet could not be recorded')
        const step = { kind: 'restart', record: decision.record, from: lastRunSource(snapshot), to: target.source } as const
        return stepOr(situation, step, unrecorded)
      }
      case 'stays-down':
        return wait(snapshot, 'kubelet-stopped', describeStay(unit, what))
      case 'runtime-down':
        return wait(
          snapshot,
          'runtime-down',
          `the container runtime does not answer: kubelet is restarted with ${what} when it does, or after 10 minutes`,
        )
      case 'under-way':
        return wait(snapshot, 'restarting', decision.detail, decision.untilUs)
      case 'ineffective':
        return wait(snapshot, 'ineffective', decision.detail)
      case 'limit':
        return wait(
          snapshot,
          'restart-limit',
          `kubelet was restarted ${snapshot.policy.restartsPerHour} times within an hour`,
          decision.untilUs,
        )
      case 'not-due':
        return restOn({ ...situation, target })
    }
  }
}

function describeDrain(snapshot: Snapshot, target: Target): string {
  const { drained, exclusives, accepted } = snapshot
  const what = describeSource(target.source)
  const waiting = listUndrained(snapshot, target)
  const drain = accepted.get(target.key)?.drain ?? []
  if (drained !== true && drain.length > 0)
    return `${what} waits until the node is drained: it changes ${waiting.join(', ')}${drained === undefined ? '; whether it is drained is not known' : ''}`
  const unknown = `whether one has is not known${exclusives?.kind === 'unknown' ? `: ${exclusives.why}` : ''}`
  const who = exclusives?.kind === 'held' ? exclusives.by : unknown
  return `${what} waits until no pod has CPUs, memory or devices to lose: it changes ${waiting.join(', ')}; ${who}; the condition Drained of its Node settles it`
}

const GO = { kind: 'go' } as const

/**
 * The spread is for changes that nodes share, and for what is computed, on a healthy node. A
 * fallback, a new version of the same content, what replaces a config that has failed, a kubelet
 * that is left down, and a reset on the node never wait.
 */
function spreadTurnOf(situation: TargetSituation): SpreadTurn {
  const { snapshot, unit, target } = situation
  const { nextStart, running, health } = snapshot
  if (target.fallback || snapshot.requests.hold === 'local' || isRunning(situation) || needsStart(unit.activity)) return GO
  if (nextStart.kind !== 'known' || nextStart.held.content === target.content) return GO
  const replaced = [asCandidate(nextStart.held, unit), ...(running.kind === 'known' ? [running] : [])]
  if (replaced.some(({ content }) => isOfFailure(findVerdict(snapshot, content, unit)))) return GO
  if (health !== undefined && assessHealth(snapshot, health, unit) !== undefined) return GO
  const turn = findSpreadTurn(snapshot, target.source)
  if (turn.kind === 'go' || turn.isOfFacts === true) return turn
  // A rollout spreads its nodes by itself. It knows nothing of overlays.
  return hasRolloutTurn(snapshot, target) && !hasSameHash(snapshot, target) ? GO : turn
}

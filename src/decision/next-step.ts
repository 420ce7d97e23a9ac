/**
 * The decision: one Snapshot in, one Step out. Pure, so that every crash, every order of events and every outage ends in the same place:
 * the next pass looks again and goes on from what it sees.
 *
 * The rooms below are asked in order; the first that has something to do wins. An earlier room never waits for a later one. A step that
 * failed lately is passed over until its time comes, so that a full disk cannot keep a node from falling back.
 */

import { isAccepted, listUndrained, recheckRefusal } from './acceptance.ts'
import { cadenceUs } from './cadence.ts'
import type { HeldSource } from './config-source.ts'
import { describeSource, sameSource } from './config-source.ts'
import { describePause, findPause } from './find-pause.ts'
import { followAssignment, recordChannelState } from './follow-assignment.ts'
import type { HealthRecord } from './health.ts'
import { findFailure, type HealthFailure } from './health-record.ts'
import { choosePrunable } from './prunable.ts'
import { decideRestart, lastRunSource } from './restarts.ts'
import type { Snapshot } from './snapshot.ts'
import { askTurn, type Turn } from './spread.ts'
import { aboutOf, type Phase, type Step, type Wait } from './step.ts'
import { type Candidate, chooseTarget, isLocalWanted, listCandidates, nextAfter, type Target } from './target.ts'
import { describeTrial, isSteady, measureTrial } from './trial.ts'
import { trialKey } from './trial-key.ts'
import type { KnownUnit, ReadyWiring } from './unit-state.ts'
import type { Verdict } from './verdict.ts'

/** How long a node rests before its configs are tried again. */
const REST_IN_TRIALS = 3
const ASSIGNED_DAMAGED = 'meta/assigned was damaged, and the assignment has not been read anew'

export function nextStep(snapshot: Snapshot): Step {
  const rooms = askRooms(snapshot)
  for (;;) {
    const answer = rooms.next()
    if (answer.done === true) return answer.value
    if (answer.value !== undefined && !isHeldBack(snapshot, answer.value)) return answer.value
  }
}

/** Yields what each room would do, in the order of urgency, evaluated only as far as needed; returns what is left: to wait. */
function* askRooms(snapshot: Snapshot): Generator<Step | undefined, Wait, undefined> {
  const { unit } = snapshot
  if (unit.kind === 'unknown') {
    yield followAssignment(snapshot)
    yield recordChannelState(snapshot)
    return wait(snapshot, 'unknown', unit.detail)
  }
  if (unit.wiring.kind === 'broken' && unit.wiring.reason === 'dynamic-config-dir') return wait(snapshot, 'blocked', unit.wiring.detail)
  if (unit.activity === 'stopping') return wait(snapshot, 'restarting', `kubelet is ${unit.summary}`)

  const target = chooseTarget(snapshot, unit)
  if (target !== undefined) {
    yield answerRequests(snapshot, unit, target)
    yield condemnFailure(snapshot, unit, target)
  }
  yield followAssignment(snapshot)
  yield recordChannelState(snapshot)
  if (target === undefined) return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  yield forgetLostFallback(snapshot)
  yield learnFromFallback(snapshot, unit, target)
  yield leaveRest(snapshot, unit, target)
  yield recheckRefusal(snapshot, unit)
  yield promote(snapshot, target)
  const rest = yield* runTarget(snapshot, unit, target)
  yield prune(snapshot)
  return rest
}

function isHeldBack(snapshot: Snapshot, step: Step): boolean {
  const { troubles, now } = snapshot
  return troubles.some(({ step: kind, about, retryAtUs }) => kind === step.kind && about === aboutOf(step) && now.monotonicUs < retryAtUs)
}

/** What a person asked for on the node: forget verdicts, or roll back what runs. */
function answerRequests(snapshot: Snapshot, unit: KnownUnit, target: Target): Step | undefined {
  const { requests, verdicts } = snapshot
  if (requests.retry) return { kind: 'forgive', keys: [...verdicts.keys()], asked: true, why: 'retry was asked for on the node' }
  if (requests.rollback === undefined) return undefined
  if (requests.rollback.content !== target.content || target.source === 'local') return { kind: 'drop-rollback' }
  const verdict: Verdict = {
    key: target.key,
    state: 'confirmed',
    reason: 'requested',
    detail: 'rollback was asked for on the node',
    source: target.source,
    atWallMs: snapshot.now.wallMs,
  }
  return { kind: 'condemn', verdict, next: nextAfter(snapshot, unit, target)?.source, asked: true }
}

/**
 * Only what kubelet starts with next can fail. Where that is not what is wanted any more, what is wanted takes its place anyway; but when
 * that cannot be had (a full disk), kubelet must not be left in a crash loop.
 */
function condemnFailure(snapshot: Snapshot, unit: KnownUnit, target: Target): Step | undefined {
  const { health, nextStart } = snapshot
  if (findPause(snapshot) !== undefined || unit.wiring.kind === 'broken' || target.atFault) return undefined
  if (nextStart.kind !== 'known' || isLocalWanted(snapshot)) return undefined
  const failed = asCandidate(nextStart.held, unit)
  if (failed.content !== target.content && !isOutOfReach(snapshot, target)) return undefined
  if (health?.subject !== failed.key || snapshot.verdicts.has(failed.key)) return undefined
  const failure = assessHealth(snapshot, health, unit)
  if (failure === undefined) return undefined
  const verdict: Verdict = { key: failed.key, state: 'provisional', ...failure, source: failed.source, atWallMs: snapshot.now.wallMs }
  return { kind: 'condemn', verdict, next: nextAfter(snapshot, unit, failed)?.source, asked: false }
}

/** It could not be judged or activated lately, is still being judged, or waits for a drained node. */
function isOutOfReach(snapshot: Snapshot, target: Target): boolean {
  if (snapshot.preflightPending.has(target.key) || listUndrained(snapshot, target).length > 0) return true
  const about = describeSource(target.source)
  return snapshot.troubles.some((trouble) => (trouble.step === 'activate' || trouble.step === 'preflight') && trouble.about === about)
}

/** A fallback that works proves the config guilty. A kubelet that comes back after everything failed proves the node was. */
function learnFromFallback(snapshot: Snapshot, unit: KnownUnit, target: Target): Step | undefined {
  if (!isSteady(snapshot, target.key)) return undefined
  const candidates = listCandidates(snapshot, unit) ?? []
  if (target.fallback && !target.atFault) {
    // Guilty is what this one stands in for. Local never is: its file is the administrator's, and may have been changed since.
    const before = candidates.slice(
      0,
      candidates.findIndex(({ content }) => content === target.content),
    )
    const guilty = before.flatMap(({ verdict, source }) => (verdict?.state === 'provisional' && source !== 'local' ? [verdict] : []))
    return guilty.length === 0 ? undefined : { kind: 'confirm', verdicts: guilty }
  }
  // Where the node was at fault, it was so for every config: also for one that is assigned, and nobody knows so at the moment.
  const suspects = target.atFault ? [...snapshot.verdicts.values()] : candidates.flatMap(({ verdict }) => verdict ?? [])
  const provisional = suspects.filter(({ state }) => state === 'provisional')
  if (provisional.length === 0) return undefined
  const why = 'kubelet is healthy again after other configs had failed too: the node was at fault'
  return { kind: 'forgive', keys: provisional.map(({ key }) => key), asked: false, why }
}

/**
 * Where every config failed, the node rests on last-known-good until kubelet is healthy. If that has gone bad itself (a kubelet upgrade while the
 * node was at fault), it never will be: so now and then all are tried again.
 */
function leaveRest(snapshot: Snapshot, unit: KnownUnit, target: Target): Step | undefined {
  const { health, now, policy, runtimeUp } = snapshot
  if (!target.atFault || findPause(snapshot) !== undefined || runtimeUp === false || health?.subject !== target.key) return undefined
  if (now.monotonicUs - health.subjectSinceUs < REST_IN_TRIALS * policy.trialUs) return undefined
  const provisional = (listCandidates(snapshot, unit) ?? []).filter(({ verdict }) => verdict?.state === 'provisional')
  // Where there is nothing but what runs anyway, resting is all there is.
  if (provisional.every(({ key }) => key === target.key)) return undefined
  const why = 'every config has failed, and nothing has changed for long: all are tried again'
  return { kind: 'forgive', keys: provisional.map(({ key }) => key), asked: false, why }
}

/** Unless the cluster still has it: what is assigned is downloaded again. */
function forgetLostFallback(snapshot: Snapshot): Step | undefined {
  const { assigned } = snapshot
  // Nobody knows what is assigned: it may be just that.
  if (assigned.kind === 'damaged') return undefined
  const lost = (held: HeldSource) => held.content === undefined && held.unreadable !== true && !sameSource(assigned.source, held.source)
  if (lost(snapshot.lastKnownGood)) return { kind: 'forget-fallback', record: 'last-known-good', source: snapshot.lastKnownGood.source }
  if (lost(snapshot.previous)) return { kind: 'forget-fallback', record: 'previous', source: snapshot.previous.source }
  return undefined
}

function promote(snapshot: Snapshot, target: Target): Step | undefined {
  const { nextStart, lastKnownGood, proven } = snapshot
  if (target.source === 'local' || target.verdict !== undefined) return undefined
  if (target.fallback && target.content !== lastKnownGood.content) return undefined
  if (nextStart.kind !== 'known' || !sameSource(nextStart.held.source, target.source)) return undefined
  if (proven !== target.key) {
    const trial = measureTrial(snapshot, target.key)
    return trial?.remainingUs === 0 ? { kind: 'prove', key: target.key } : undefined
  }
  if (target.fallback || sameSource(lastKnownGood.source, target.source)) return undefined
  if (snapshot.running.kind !== 'known' || snapshot.running.key !== target.key) return undefined
  // A new version of the same content moves last-known-good along; what was good before it stays where it is.
  const previous = lastKnownGood.content === target.content ? undefined : lastKnownGood.source
  return { kind: 'promote', target: { source: target.source, content: target.content }, previous }
}

/** Make the target what kubelet starts with, then what it runs. */
function* runTarget(snapshot: Snapshot, unit: KnownUnit, target: Target): Generator<Step, Wait, undefined> {
  const { nextStart, running } = snapshot
  const { wiring } = unit
  const what = describeSource(target.source)
  const activated = nextStart.kind === 'known' && sameSource(nextStart.held.source, target.source)
  const runs = running.kind === 'known' && running.content === target.content

  if (wiring.kind === 'broken') return wait(snapshot, runs ? restingPhase(snapshot, target) : 'blocked', wiring.detail)
  const pause = findPause(snapshot)
  if (pause !== undefined && !(activated && runs)) return wait(snapshot, 'paused', `${describePause(pause)}; wanted is ${what}`)
  const unjudged = runs || target.source === 'local' || isAccepted(snapshot, target, activated) ? undefined : target.source
  if (unjudged !== undefined && !target.fallback && snapshot.preflightPending.has(target.key))
    return wait(snapshot, 'preflight', `${what} is being checked before kubelet gets it`)
  if (unjudged !== undefined) yield { kind: 'preflight', source: unjudged, key: target.key, data: undefined, fallback: target.fallback }
  // A fallback has run before: where preflight cannot be carried out, that has to do.
  if (unjudged !== undefined && !target.fallback)
    return yield* leaveFailure(snapshot, unit, target, wiring, 'unknown', `preflight of ${what} could not be carried out`)
  if (activated) return yield* restartInto(snapshot, unit, target)

  // A new version of what runs changes nothing.
  const drain = runs ? [] : listUndrained(snapshot, target)
  if (drain.length > 0) {
    const unseen = snapshot.drained === undefined ? '; whether it is cannot be told' : ''
    const why = `${what} waits until the node is drained: it changes ${drain.join(', ')}${unseen}`
    return yield* leaveFailure(snapshot, unit, target, wiring, 'drain', why)
  }
  const turn = decideActivationTurn(snapshot, unit, target)
  if (turn.kind === 'wait-until') return wait(snapshot, 'spread', `waits its turn to use ${what}: ${turn.detail}`, turn.atUs)
  if (turn.kind === 'halt') return wait(snapshot, 'spread', `the rollout of ${what} is halted: ${turn.detail}`)
  const fallback = target.fallback || target.source === 'local' ? undefined : (nextAfter(snapshot, unit, target)?.source ?? 'local')
  yield { kind: 'activate', target: target.source, fallback, wiring }
  return yield* leaveFailure(snapshot, unit, target, wiring, 'unknown', `${what} could not be activated`)
}

/** The target is out of reach for now (a full disk, a node that is not drained). What was condemned must be left all the same, for whatever can be had. */
function* leaveFailure(
  snapshot: Snapshot,
  unit: KnownUnit,
  target: Target,
  wiring: ReadyWiring,
  phase: Phase,
  why: string,
): Generator<Step, Wait, undefined> {
  const { nextStart, running, verdicts, health } = snapshot
  if (nextStart.kind === 'unknown') return wait(snapshot, phase, why)
  const next = asCandidate(nextStart.held, unit)
  const isLost = nextStart.held.content === undefined
  if (verdicts.has(next.key) || isLost) {
    const others = (listCandidates(snapshot, unit) ?? []).filter((candidate) => candidate.verdict === undefined)
    for (const refuge of others) {
      if (refuge.content !== target.content) yield { kind: 'activate', target: refuge.source, fallback: undefined, wiring }
    }
  }
  const content = running.kind === 'known' ? running.content : health?.lastProcess?.content
  const leaves = content !== undefined && verdicts.has(trialKey(content, unit.kubeletIdentity))
  // Into a checkpoint that is not there nobody restarts.
  if ((!leaves && !target.fallback) || isLost) return wait(snapshot, phase, why)
  // `perform` leaves local behind where a fallback could not be written.
  return yield* restartInto(snapshot, unit, { ...target, ...next, fallback: true })
}

function* restartInto(snapshot: Snapshot, unit: KnownUnit, target: Target): Generator<Step, Wait, undefined> {
  const what = describeSource(target.source)
  const decision = decideRestart(snapshot, unit, target)
  switch (decision.kind) {
    case 'restart':
      yield { kind: 'restart', record: decision.record, from: lastRunSource(snapshot), to: target.source }
      return wait(snapshot, 'unknown', 'the restart of kubelet could not be recorded')
    case 'stopped-by-person':
      return wait(snapshot, 'kubelet-stopped', `kubelet is stopped; its next start uses ${what}`)
    case 'runtime-down':
      return wait(snapshot, 'runtime-down', `the container runtime refuses connections: kubelet is restarted with ${what} when it is back`)
    case 'under-way':
      return wait(snapshot, 'restarting', decision.detail, decision.untilUs)
    case 'ineffective':
      return wait(snapshot, 'ineffective', decision.detail)
    case 'limit': {
      const detail = `kubelet was restarted ${snapshot.policy.restartsPerHour} times within an hour`
      return wait(snapshot, 'restart-limit', detail, decision.untilUs)
    }
    case 'not-due':
      return restOn(snapshot, target)
  }
}

function asCandidate({ source, content = `missing:${describeSource(source)}` }: HeldSource, unit: KnownUnit): Omit<Candidate, 'verdict'> {
  return { source, content, key: trialKey(content, unit.kubeletIdentity) }
}

/** The spread is for in-place edits of a healthy node: a fallback, a new version of the same content, or a failing kubelet never waits. */
function decideActivationTurn(snapshot: Snapshot, unit: KnownUnit, target: Target): Turn {
  const { nextStart, health } = snapshot
  if (target.fallback || target.source === 'local') return { kind: 'go' }
  if (nextStart.kind !== 'known' || nextStart.held.content === target.content) return { kind: 'go' }
  if (health !== undefined && assessHealth(snapshot, health, unit) !== undefined) return { kind: 'go' }
  return askTurn(snapshot, target.source)
}

function assessHealth(snapshot: Snapshot, health: HealthRecord, unit: KnownUnit): HealthFailure | undefined {
  return findFailure(health, { unit, at: snapshot.now, runtimeUp: snapshot.runtimeUp }, snapshot.policy)
}

/** The target runs, or is what systemd keeps starting. */
function restOn(snapshot: Snapshot, target: Target): Wait {
  if (snapshot.assigned.kind === 'damaged') return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  const phase = restingPhase(snapshot, target)
  const trial = measureTrial(snapshot, target.key)
  const what = describeSource(target.source)
  switch (phase) {
    case 'in-trial':
      return wait(snapshot, phase, describeTrial(snapshot, target), trial?.endsAtUs)
    case 'fallen-back':
      return wait(snapshot, phase, `${what} runs in place of what is assigned`)
    case 'node-at-fault':
      return wait(snapshot, phase, `every config failed, so the node is at fault; resting on ${what}`)
    default:
      return wait(snapshot, phase, what)
  }
}

function restingPhase(snapshot: Snapshot, target: Target): Phase {
  if (target.atFault) return 'node-at-fault'
  if (target.fallback) return 'fallen-back'
  if (target.source === 'local') return 'settled'
  return snapshot.proven === target.key ? 'settled' : 'in-trial'
}

function prune(snapshot: Snapshot): Step | undefined {
  const checkpoints = choosePrunable(snapshot)
  return checkpoints.length === 0 ? undefined : { kind: 'prune', checkpoints }
}

/** A time that is past is nothing to wait for (what was due then could not be done): look again at the usual pace. */
function wait(snapshot: Snapshot, phase: Phase, detail: string, atUs = Number.POSITIVE_INFINITY): Wait {
  const nowUs = snapshot.now.monotonicUs
  const ahead = [atUs, ...snapshot.troubles.map(({ retryAtUs }) => retryAtUs)].filter((time) => time > nowUs)
  return { kind: 'wait', phase, detail, untilUs: Math.min(...ahead, nowUs + cadenceUs(snapshot, phase)) }
}

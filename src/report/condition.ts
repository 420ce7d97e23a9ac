// SPDX-License-Identifier: Apache-2.0
/**
 * The Node condition `KubeletConfigReady`: whether the assigned config has proved itself on this
 * node. Pure. The timestamps of the condition are added when it is written.
 *
 * True: kubelet runs the assigned config, which has passed its trial on this node, or is local; so
 * `kubectl wait --for=condition=KubeletConfigReady` returns when a rollout is complete on the node.
 * Unknown: not decided yet, as in a trial. False: kubelet runs something else, because the config
 * has to wait or because of a fault. True never comes with an error.
 */
import { assessHealth } from '../decision/condemn-failure.ts'
import { resolveDesired } from '../decision/desired.ts'
import { describePause, findNodePause, findPause } from '../decision/find-pause.ts'
import { runningSource } from '../decision/held-sources.ts'
import { PHASES } from '../decision/phases.ts'
import { trialOf } from '../decision/promote.ts'
import { isNamed } from '../decision/records.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Wait } from '../decision/step.ts'
import { describeTrial } from '../decision/trial.ts'
import { areLate } from '../health/looks.ts'
import { countRecurringExits, describeRecurringExits } from '../health/recurring-exits.ts'
import { type ConfigSource, describeRef, describeSource, LOCAL_CONTENT, sameSource } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, trialKey } from '../subject/trial-key.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { type Deadlines, showTime } from './deadlines.ts'
import { findIll, findIllInPause, findSteadiness, findUnexecuted, findUpcoming, sayNoRollback } from './kubelet-state.ts'
import { type Condition, type ConditionReason, conditionOf } from './reasons.ts'
import { type Fault, findAssignedVerdict, findFault } from './status.ts'
import { describeReadFailure, describeStale, describeUnknown, isCutOff } from './unknown-assignment.ts'

const MESSAGE_BYTES = 1024

/**
 * For an agent that cannot read the state of the node: what it published before may be outdated.
 */
export const NODE_UNREADABLE = conditionOf('KubeletUnknown', 'the agent cannot read the state of this node and changes nothing')

/** Kubelet runs what is assigned, and may do something else with it. */
const OF_WHAT_RUNS: readonly ConditionReason[] = ['InTrial', 'Promoted']

/**
 * @param wait the wait in which the last pass of the loop ended
 * @param otherwise what kubelet does otherwise than the assigned config says
 */
export function describeCondition(
  snapshot: Snapshot,
  wait: Pick<Wait, 'phase' | 'detail'>,
  deadlines: Deadlines,
  otherwise?: string,
): Condition {
  const active = runningSource(snapshot)
  const fault = findFault(snapshot, active, wait.phase)
  const [reason, message] = describeReason(snapshot, wait, deadlines, fault, active)
  const remark = otherwise !== undefined && OF_WHAT_RUNS.includes(reason) ? `; ${otherwise}` : ''
  const condition = conditionOf(reason, cutToBytes(onOneLine(`${message}${remark}${sayLate(snapshot)}`), MESSAGE_BYTES))
  const isRequested = reason === 'RolledBack' && findAssignedVerdict(snapshot)?.reason === 'requested'
  if (isRequested) return { ...condition, deliberate: true }
  const isUnread = reason === 'AssignmentUnknown' || reason === 'DownloadFailed'
  return isUnread && isCutOff(snapshot) ? { ...condition, cutOff: true } : condition
}

function sayLate({ health }: Snapshot): string {
  return health !== undefined && areLate(health)
    ? '; the agent looks at kubelet too rarely to judge it in time: see whether the node is short of CPU or memory'
    : ''
}

/**
 * Whether the condition may be a short disturbance of systemd or of a busy kubelet, so a previous
 * True can stay. A kubelet that is down is neither.
 */
export function isTransient({ reason }: Condition, { phase }: Pick<Wait, 'phase'>, { running }: Pick<Snapshot, 'running'>): boolean {
  return phase === 'unknown' || reason === 'KubeletUnknown' || (reason === 'Unhealthy' && running.kind !== 'none')
}

/**
 * Whether the assignment has been read since the agent started; until then the records hold the
 * last one.
 */
export function isAssignmentKnown(snapshot: Pick<Snapshot, 'desired' | 'now'>): boolean {
  return describeUnknown(snapshot) === undefined
}

type ReasonAndMessage = readonly [ConditionReason, string]

/** An ill kubelet comes before the pause or the reset, which only keeps what is wrong. */
function describeReason(
  snapshot: Snapshot,
  wait: Pick<Wait, 'phase' | 'detail'>,
  deadlines: Deadlines,
  fault: Fault | undefined,
  active: ConfigSource | undefined,
): ReasonAndMessage {
  const isKnown = isAssignmentKnown(snapshot) && wait.phase !== 'unknown'
  const isKept = fault?.reason === 'Paused' || fault?.reason === 'HeldLocal'
  const ill = isKept ? findIll(snapshot) : fault === undefined && isKnown ? findIllInPause(snapshot) : undefined
  if (ill !== undefined) return ['Unhealthy', ill]
  return fault === undefined ? describePhase(snapshot, wait, deadlines) : describeFault(snapshot, fault, active, deadlines)
}

/** The condition if there is no fault. */
function describePhase(snapshot: Snapshot, { phase, detail }: Pick<Wait, 'phase' | 'detail'>, deadlines: Deadlines): ReasonAndMessage {
  const unknown = describeUnknown(snapshot)
  if (unknown !== undefined) return ['AssignmentUnknown', unknown]
  const stale = describeStale(snapshot)
  if (stale !== undefined) return stale
  switch (phase) {
    case 'paused':
      // Without a fault, what is wanted is in place.
      return findUpcoming(snapshot) === undefined ? ['Paused', detail] : describeRest(snapshot, deadlines)
    case 'restarting':
      return describeExits(snapshot) ?? restarting(snapshot)
    case 'blocked':
      return ['Wiring', `${describeWiring(snapshot)}; desired: ${nameDesired(snapshot)}`]
    case 'unknown':
      return ['KubeletUnknown', snapshot.unit.kind === 'known' ? detail : 'systemd does not report the state of kubelet']
    default: {
      const { reason, ends } = PHASES[phase]
      if (reason === undefined) return describeRest(snapshot, deadlines)
      return [reason, ends === true ? `${detail}${untilText(deadlines)}` : detail]
    }
  }
}

function describeRest(snapshot: Snapshot, { trial }: Deadlines): ReasonAndMessage {
  const { assigned, assignedContent, desiredContent, desired, running, requests } = snapshot
  const wanted = requests.hold === 'local' ? 'local' : resolveDesired(desired)
  const isFollowed = wanted !== undefined && isNamed(assigned, wanted)
  if (!isFollowed || (wanted !== 'local' && desiredContent !== assignedContent))
    return ['Waiting', `${nameDesired(snapshot)} is about to be applied`]
  if (running.kind !== 'known') return betweenStarts(snapshot, wanted)
  if (running.content !== assignedContent) return ['Ineffective', `kubelet runs a different config than ${describeSource(wanted)}`]
  const name = describeSource(wanted)
  const unclear = describeUnclear(snapshot)
  if (wanted === 'local' || hasPassed(snapshot, running.key)) {
    const steadiness = findSteadiness(snapshot)
    const exits = describeExits(snapshot)
    if (exits !== undefined) return exits
    if (unclear !== undefined) return ['KubeletUnknown', `kubelet runs ${name}, and it is not known whether it is healthy: ${unclear}`]
    if (steadiness === 'starting') return restarting(snapshot)
    if (steadiness === 'unhealthy') return ['Unhealthy', `kubelet runs ${name} and is not healthy${sayNoRollback(snapshot)}`]
    if (wanted === 'local') return ['Local', `nothing is assigned: kubelet runs its local config${pauseText(snapshot)}`]
    return ['Promoted', `${name} has passed its trial${pauseText(snapshot)}`]
  }
  const { unit } = snapshot
  const key = unit.kind === 'known' ? trialKey(running.content, unit.kubeletIdentity) : running.key
  const stranger = unclear ?? findServingTaken(snapshot, running.invocationId)
  const who = stranger === undefined ? '' : `; ${stranger}`
  const text = `${describeTrial(snapshot, { source: wanted, content: running.content, key })}${who}`
  const state = trialOf(snapshot, key)
  if (state.kind === 'over') return ['InTrial', `${text} ${state.but}${pauseText(snapshot)}`]
  return ['InTrial', `${text}${trial === undefined ? '' : ` until ${showTime(trial.untilMs)}`}${pauseText(snapshot)}`]
}

/** Why the answer of kubelet's health port says nothing of kubelet. */
function describeUnclear({ healthz }: Snapshot): string | undefined {
  return healthz?.ok === 'unknown' && healthz.isUnasked !== true ? healthz.detail : undefined
}

/** Who has kubelet's TLS port. */
function findServingTaken({ evidence }: Snapshot, invocationId: string): string | undefined {
  const process = evidence?.process
  return process?.invocationId === invocationId ? process.servingTaken : undefined
}

function betweenStarts(snapshot: Snapshot, wanted: ConfigSource): ReasonAndMessage {
  const { unit } = snapshot
  if (wanted === 'local' && unit.kind === 'known' && unit.activity === 'failed')
    return ['Unhealthy', 'systemd gave kubelet up; nothing is assigned, so the agent does not start it']
  return describeExits(snapshot) ?? restarting(snapshot)
}

/**
 * A kubelet that exits again and again with a config that has no trial. In a crash loop, the
 * condition does not change with each start: an alert on it could otherwise never become old
 * enough.
 */
function describeExits(snapshot: Snapshot): ReasonAndMessage | undefined {
  const { health, unit, nextStart, now } = snapshot
  if (health === undefined || unit.kind === 'unknown' || nextStart.kind === 'unknown') return undefined
  if (contentOfKey(health.subject) !== LOCAL_CONTENT && !hasPassed(snapshot, health.subject)) return undefined
  const unexecuted = findUnexecuted(snapshot)
  if (unexecuted !== undefined) return ['Unhealthy', `kubelet cannot start, since ${unexecuted}${sayNoRollback(snapshot)}`]
  const recurring = countRecurringExits(health, now.monotonicUs)
  const isLoop = assessHealth(snapshot, health, unit)?.reason === 'crash-loop'
  if (!isLoop && recurring === undefined) return undefined
  const what = isLoop || recurring === undefined ? 'kubelet exits again and again' : describeRecurringExits(recurring)
  return ['Unhealthy', `${what} with ${describeSource(nextStart.held.source)}${sayNoRollback(snapshot)}`]
}

function describeWiring({ unit }: Snapshot): string {
  const isMasked = unit.kind === 'known' && unit.wiring.kind === 'broken' && unit.wiring.reason === 'masked'
  return isMasked ? unit.wiring.detail : "kubelet's unit does not take its config from the agent"
}

/**
 * One text for all states of a restart: systemd's details would change the message every second.
 */
function restarting(snapshot: Snapshot): ReasonAndMessage {
  const obstacle = snapshot.portTaken ?? findUnexecuted(snapshot)
  if (obstacle !== undefined) return ['Restarting', `kubelet cannot start, since ${obstacle}; desired: ${nameDesired(snapshot)}`]
  return ['Restarting', `kubelet is starting or stopping; desired: ${nameDesired(snapshot)}${sayNoRollback(snapshot)}`]
}

function describeFault(
  snapshot: Snapshot,
  { reason, cause }: Fault,
  active: ConfigSource | undefined,
  deadlines: Deadlines,
): ReasonAndMessage {
  const name = nameDesired(snapshot)
  switch (reason) {
    case 'Refused':
    case 'RolledBack': {
      const verdict = findAssignedVerdict(snapshot)
      const source = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : 'local'
      const left = verdict?.reason === 'requested' ? 'was rolled back' : 'failed'
      const outcome = reason === 'Refused' ? 'was refused before a restart' : left
      const hasFallenBack = active !== undefined && !sameSource(active, source)
      const isKept = findNodePause(snapshot) !== undefined
      const fallback = hasFallenBack ? `${describeSource(active)} runs` : isKept ? 'not left yet' : 'falling back'
      const why = cutToBytes(verdict?.detail ?? cause, MESSAGE_BYTES / 2)
      return [reason, `${describeSource(source)} ${outcome}, ${fallback}: ${why}${hasFallenBack ? '' : sayNoRollback(snapshot)}`]
    }
    case 'DownloadFailed':
      return [reason, `${name} cannot be read: ${describeReadFailure(snapshot.desired)}`]
    case 'Paused':
    case 'HeldLocal':
      return [reason, `${cause}; desired: ${name}`]
    case 'RestartLimit':
      return [reason, `${name}: ${cause}${untilText(deadlines)}`]
    case 'Invalid':
      return [reason, `${cause}${pauseText(snapshot)}`]
    case 'InternalError':
    case 'CheckpointMissing':
    case 'NodeAtFault':
    case 'Wiring':
    case 'Ineffective':
      return [reason, `${name}: ${cause}`]
  }
}

/** The desired config, with its version if that is known. */
function nameDesired({ desired, assigned }: Snapshot): string {
  const wanted = resolveDesired(desired)
  if (wanted !== undefined) return describeSource(wanted)
  if (desired.kind === 'config-map') return describeRef(desired.ref)
  return assigned.kind === 'source' ? describeSource(assigned.source) : 'an unknown config'
}

function pauseText(snapshot: Snapshot): string {
  const pause = findPause(snapshot)
  return pause === undefined ? '' : `; ${describePause(pause)}`
}

function untilText({ waitUntilMs }: Deadlines): string {
  return waitUntilMs === undefined ? '' : `, until ${showTime(waitUntilMs)}`
}

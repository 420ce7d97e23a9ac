/**
 * The Node condition `KubeletConfigReady`: whether what the cluster wants has been proved on this node, in one word and one line. Pure, and without
 * the times of a condition, which belong to its writing.
 *
 * True: kubelet runs the assigned config, and that has passed its trial here, or is the local one; so `kubectl wait
 * --for=condition=KubeletConfigReady` returns when a rollout is over on this node. Unknown: nobody knows yet, as in a trial. False: kubelet runs
 * something else, because it is not this config's turn yet or because somebody has to look. True never comes with an error.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { describeRef, describeSource, sameSource } from '../decision/config-source.ts'
import { resolveDesired } from '../decision/desired.ts'
import { describePause, findPause } from '../decision/find-pause.ts'
import { runningSource } from '../decision/restarts.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Wait } from '../decision/step.ts'
import { describeTrial } from '../decision/trial.ts'
import { trialKey } from '../decision/trial-key.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { describeStale, describeUnheard, readFailure } from './assignment-doubts.ts'
import { type Deadlines, showTime } from './deadlines.ts'
import { FAULT_REASONS, type Fault, findAssignedVerdict, findFault } from './fault.ts'
import { findSteadiness } from './steadiness.ts'

export const CONDITION_TYPE = 'KubeletConfigReady'

export interface Condition {
  readonly status: ConditionStatus
  readonly reason: ConditionReason
  readonly message: string
}
export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** Stable: people and programs select by them. Each belongs to one status. */
export const CONDITION_REASONS = {
  True: ['Promoted', 'Local'],
  Unknown: ['InTrial', 'AssignmentUnknown', 'KubeletUnknown', 'NotPublished'],
  False: ['Waiting', 'Preflight', 'Draining', 'Restarting', 'Unhealthy', 'KubeletStopped', 'RuntimeDown', ...FAULT_REASONS],
} as const
export type ConditionReason = (typeof CONDITION_REASONS)[ConditionStatus][number]

const MESSAGE_BYTES = 1024

/** What an agent leaves that is told to publish it no longer. */
export const NOT_PUBLISHED: Condition = {
  status: 'Unknown',
  reason: 'NotPublished',
  message: 'kubelet-cfg-agent is set not to publish this condition',
}

/** While nothing can be seen at all: what was so before may no longer be. */
export const BLIND: Condition = {
  status: 'Unknown',
  reason: 'KubeletUnknown',
  message: 'the agent cannot read the state of this node, and changes nothing',
}

/** @param wait what the last pass of the loop came to rest in */
export function describeCondition(snapshot: Snapshot, wait: Pick<Wait, 'phase' | 'detail'>, deadlines: Deadlines): Condition {
  const active = runningSource(snapshot)
  const fault = findFault(snapshot, active, wait.phase)
  const [reason, message] = fault === undefined ? describePhase(snapshot, wait, deadlines) : tellFault(snapshot, fault, active, deadlines)
  return { status: statusOf(reason), reason, message: cutToBytes(onOneLine(message), MESSAGE_BYTES) }
}

/** What may be a hiccup of systemd or of a busy kubelet: it says nothing yet of what was True. */
export function isPassing({ reason }: Condition, { phase }: Pick<Wait, 'phase'>): boolean {
  return phase === 'unknown' || reason === 'KubeletUnknown' || reason === 'Unhealthy'
}

/** Whether the cluster has said what it wants, in this life of the agent: until then the records say what it wanted last. */
export function isAssignmentKnown({ desired }: Pick<Snapshot, 'desired'>): boolean {
  return describeUnheard(desired) === undefined
}

type Words = readonly [ConditionReason, string]

function statusOf(reason: ConditionReason): ConditionStatus {
  if (CONDITION_REASONS.True.some((one) => one === reason)) return 'True'
  return CONDITION_REASONS.Unknown.some((one) => one === reason) ? 'Unknown' : 'False'
}

/** Nothing is wrong. */
function describePhase(snapshot: Snapshot, { phase, detail }: Pick<Wait, 'phase' | 'detail'>, deadlines: Deadlines): Words {
  const unheard = describeUnheard(snapshot.desired)
  if (unheard !== undefined) return ['AssignmentUnknown', unheard]
  const stale = describeStale(snapshot)
  if (stale !== undefined) return stale
  switch (phase) {
    case 'settled':
    case 'in-trial':
    case 'fallen-back':
      return describeRest(snapshot, deadlines)
    case 'preflight':
      return ['Preflight', detail]
    case 'drain':
      return ['Draining', detail]
    case 'spread':
      return ['Waiting', `${detail}${untilText(deadlines)}`]
    case 'paused':
      return ['Paused', detail]
    case 'restarting':
      return restarting(snapshot)
    case 'kubelet-stopped':
      return ['KubeletStopped', detail]
    case 'runtime-down':
      return ['RuntimeDown', detail]
    case 'restart-limit':
      return ['RestartLimit', `${detail}${untilText(deadlines)}`]
    case 'ineffective':
      return ['Ineffective', detail]
    case 'blocked':
      return ['Wiring', `kubelet's unit does not take its config from the agent; wanted is ${nameWanted(snapshot)}`]
    case 'node-at-fault':
      return ['NodeAtFault', detail]
    case 'unknown':
      return ['KubeletUnknown', 'systemd does not say what kubelet does']
  }
}

function describeRest(snapshot: Snapshot, { trial }: Deadlines): Words {
  const { assigned, assignedContent, desiredContent, desired, running, requests } = snapshot
  const wanted = requests.hold === 'local' ? 'local' : resolveDesired(desired)
  const isFollowed = wanted !== undefined && assigned.kind === 'source' && sameSource(wanted, assigned.source)
  if (!isFollowed || (wanted !== 'local' && desiredContent !== assignedContent)) return ['Waiting', `${nameWanted(snapshot)} is on its way`]
  if (running.kind !== 'known') return restarting(snapshot)
  if (running.content !== assignedContent) return ['Ineffective', `kubelet runs another config than ${describeSource(wanted)}`]
  const what = describeSource(wanted)
  if (wanted === 'local' || snapshot.proven === running.key) {
    const steadiness = findSteadiness(snapshot)
    if (steadiness === 'starting') return restarting(snapshot)
    if (steadiness === 'unhealthy') return ['Unhealthy', `kubelet runs ${what} and is not healthy`]
    if (wanted === 'local') return ['Local', `nothing is assigned: kubelet runs its local config${pauseText(snapshot)}`]
    return ['Promoted', `${what} has passed its trial${pauseText(snapshot)}`]
  }
  const { unit } = snapshot
  const key = unit.kind === 'known' ? trialKey(running.content, unit.kubeletIdentity) : running.key
  const text = describeTrial(snapshot, { source: wanted, content: running.content, key })
  return ['InTrial', trial === undefined ? text : `${text} until ${showTime(trial.untilMs)}`]
}

/** One text for all of it: with what systemd says of each moment, it would be another message every second. */
function restarting(snapshot: Snapshot): Words {
  return ['Restarting', `kubelet is on its way up or down; wanted is ${nameWanted(snapshot)}`]
}

function tellFault(snapshot: Snapshot, { reason, error }: Fault, active: ConfigSource | undefined, deadlines: Deadlines): Words {
  const what = nameWanted(snapshot)
  switch (reason) {
    case 'Refused':
    case 'RolledBack': {
      const verdict = findAssignedVerdict(snapshot)
      const source = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : 'local'
      const how = reason === 'Refused' ? 'was refused before a restart' : 'failed'
      const isLeft = active !== undefined && !sameSource(active, source)
      const refuge = isLeft ? `${describeSource(active)} runs` : 'falling back'
      return [reason, `${describeSource(source)} ${how}, ${refuge}: ${cutToBytes(verdict?.detail ?? error, MESSAGE_BYTES / 2)}`]
    }
    case 'DownloadFailed':
      return [reason, `${what} cannot be read: ${readFailure(snapshot.desired)}`]
    case 'Paused':
    case 'HeldLocal':
      return [reason, `${error}; wanted is ${what}`]
    case 'RestartLimit':
      return [reason, `${what}: ${error}${untilText(deadlines)}`]
    case 'Invalid':
      return [reason, error]
    case 'InternalError':
    case 'CheckpointMissing':
    case 'NodeAtFault':
    case 'Wiring':
    case 'Ineffective':
      return [reason, `${what}: ${error}`]
  }
}

/** As the cluster says; with its version, where that is known. */
function nameWanted({ desired, assigned }: Snapshot): string {
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

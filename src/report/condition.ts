/**
 * The Node condition `KubeletConfigReady`: whether what the cluster wants has been proved on this node, in one word and one line. Pure, and without
 * the times of a condition, which belong to its writing.
 *
 * True: kubelet runs the assigned config, and that has passed its trial here, or is the local one; so `kubectl wait
 * --for=condition=KubeletConfigReady` returns when a rollout is over on this node. Unknown: nobody knows yet, as in a trial. False: kubelet runs
 * something else, because it is not this config's turn yet or because somebody has to look. True never comes with an error.
 */
import type { Desired } from '../agent/desired.ts'
import type { ConfigSource, Snapshot } from '../agent/model.ts'
import { describePause, findPause } from '../agent/pause.ts'
import { runningSource } from '../agent/restarts.ts'
import { describeSource, resolveDesired, sameSource } from '../agent/sources.ts'
import type { Wait } from '../agent/step.ts'
import { describeTrial } from '../agent/trial.ts'
import { trialKey } from '../agent/trial-key.ts'
import { cutToBytes, onOneLine } from './cut.ts'
import { type Deadlines, showTime } from './deadlines.ts'
import { FAULT_REASONS, type Fault, findAssignedVerdict, findFault } from './fault.ts'

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
  False: ['Waiting', 'Preflight', 'Draining', 'Restarting', 'KubeletStopped', 'RuntimeDown', ...FAULT_REASONS],
} as const
export type ConditionReason = (typeof CONDITION_REASONS)[ConditionStatus][number]

const MESSAGE_BYTES = 1024

/** What an agent leaves that is told to publish it no longer. */
export const NOT_PUBLISHED: Condition = {
  status: 'Unknown',
  reason: 'NotPublished',
  message: 'kubelet-cfg-agent is set not to publish this condition',
}

/** @param wait what the last pass of the loop came to rest in */
export function describeCondition(snapshot: Snapshot, wait: Pick<Wait, 'phase' | 'detail'>, deadlines: Deadlines): Condition {
  const active = runningSource(snapshot)
  const fault = findFault(snapshot, active, wait.phase)
  const [reason, message] = fault === undefined ? describePhase(snapshot, wait, deadlines) : tellFault(snapshot, fault, active, deadlines)
  return { status: statusOf(reason), reason, message: cutToBytes(onOneLine(message), MESSAGE_BYTES) }
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

function describeUnheard(desired: Desired): string | undefined {
  if (desired.kind === 'unknown') return `what is assigned to this node is not known: ${desired.detail}`
  if (desired.kind !== 'config-map' || desired.object.kind !== 'pending') return undefined
  const { namespace, name } = desired.ref
  return `ConfigMap ${namespace}/${name} has not been read yet`
}

/** Nothing is wrong. */
function describePhase(snapshot: Snapshot, { phase, detail }: Pick<Wait, 'phase' | 'detail'>, deadlines: Deadlines): Words {
  const unheard = describeUnheard(snapshot.desired)
  if (unheard !== undefined) return ['AssignmentUnknown', unheard]
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
    // What systemd says of each moment would be another message every second.
    case 'restarting':
      return ['Restarting', `kubelet is on its way up or down; wanted is ${nameWanted(snapshot)}`]
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
  if (running.kind !== 'known') return ['Restarting', `kubelet does not run; its next start uses ${describeSource(wanted)}`]
  if (running.content !== assignedContent) return ['Ineffective', `kubelet runs another config than ${describeSource(wanted)}`]
  if (wanted === 'local') return ['Local', `nothing is assigned: kubelet runs its local config${pauseText(snapshot)}`]
  const what = describeSource(wanted)
  if (snapshot.proven === running.key) return ['Promoted', `${what} has passed its trial${pauseText(snapshot)}`]
  const { unit } = snapshot
  const key = unit.kind === 'known' ? trialKey(running.content, unit.kubeletIdentity) : running.key
  const text = describeTrial(snapshot, { source: wanted, content: running.content, key })
  return ['InTrial', trial === undefined ? text : `${text} until ${showTime(trial.untilMs)}`]
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

function readFailure(desired: Desired): string {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'unavailable') return 'it has not been'
  switch (desired.object.reason) {
    case 'not-found':
      return 'there is none'
    case 'forbidden':
      return 'the API server forbids it'
    case 'unreachable':
      return 'the API server does not answer'
    case 'malformed':
      return 'it is malformed'
  }
}

/** As the cluster says; with its version, where that is known. */
function nameWanted({ desired, assigned }: Snapshot): string {
  const wanted = resolveDesired(desired)
  if (wanted !== undefined) return describeSource(wanted)
  if (desired.kind === 'config-map') return `${desired.ref.namespace}/${desired.ref.name}:${desired.ref.kubeletConfigKey}`
  return assigned.kind === 'source' ? describeSource(assigned.source) : 'an unknown config'
}

function pauseText(snapshot: Snapshot): string {
  const pause = findPause(snapshot)
  return pause === undefined ? '' : `; ${describePause(pause)}`
}

function untilText({ waitUntilMs }: Deadlines): string {
  return waitUntilMs === undefined ? '' : `, until ${showTime(waitUntilMs)}`
}

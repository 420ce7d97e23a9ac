// SPDX-License-Identifier: Apache-2.0
/**
 * The status of this node: assigned, active, last-known-good and one error, as in upstream's
 * `Node.status.config`. Pure; all reports (Node status, condition, annotation, gauges, commands)
 * use it. An undefined field is not known and stays as published last, since absent would mean
 * local.
 */

import { resolveDesired } from '../decision/desired.ts'
import { findPause } from '../decision/find-pause.ts'
import { runningSource } from '../decision/held-sources.ts'
import { isLocalRefused, listLeft } from '../decision/left.ts'
import type { Phase } from '../decision/phases.ts'
import { isNamed } from '../decision/records.ts'
import type { Snapshot, Trouble } from '../decision/snapshot.ts'
import * as texts from '../decision/status-texts.ts'
import type { Action } from '../decision/step.ts'
import { assess } from '../decision/target.ts'
import { findPresentVerdict, findVerdict, type Verdict } from '../decision/verdict.ts'
import { findStartObstacle } from '../decision/why-down.ts'
import { type ConfigSource, type HeldSource, LOCAL, sameSource } from '../subject/config-source.ts'
import { findUnexecuted, findUpcoming } from './kubelet-state.ts'
import type { FaultReason } from './reasons.ts'
import { describeReadFailure, isUnanswered } from './unknown-assignment.ts'

export interface ConfigStatus {
  /**
   * The config that the running kubelet was started with; of two versions with the same content,
   * the one for its next start.
   */
  readonly active: ConfigSource | undefined
  readonly assigned: ConfigSource | undefined
  /** See `findLastKnownGood`. */
  readonly lastKnownGood: ConfigSource | undefined
  /** Empty: none. */
  readonly error: string
  /** The same with the cause itself, for all reports but `Node.status.config`. Empty: none. */
  readonly cause?: string | undefined
}

/**
 * @param phase the phase in which the last pass of the loop ended; undefined while steps are left
 */
export function describeStatus(snapshot: Snapshot, phase: Phase | undefined): ConfigStatus {
  const controllerFault = findDynamicConfigDirFault(snapshot)
  // Kubelet's own controller writes these fields itself.
  if (controllerFault !== undefined)
    return { active: undefined, assigned: undefined, lastKnownGood: undefined, error: controllerFault.error, cause: controllerFault.cause }
  const active = runningSource(snapshot)
  const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
  const fault = findFault(snapshot, active, phase)
  const { source: lastKnownGood } = findLastKnownGood(snapshot)
  // Upstream reported the first failure at once.
  if (fault === undefined && isUnanswered(snapshot))
    return { active, assigned, lastKnownGood, error: texts.syncError(texts.DOWNLOAD_ERROR), cause: '' }
  return { active, assigned, lastKnownGood, error: fault?.error ?? '', cause: fault?.cause }
}

export interface Fault {
  readonly reason: FaultReason
  /** The text of `Node.status.config.error`. */
  readonly error: string
  /** The text of all other reports. It refers to no log. */
  readonly cause: string
}

/** @param why undefined: `error` says all that is known */
function fault(reason: FaultReason, error: string, why?: string): Fault {
  const said = texts.withoutLogHint(error)
  return { reason, error, cause: why === undefined || why === '' ? said : `${said}: ${why}` }
}

/**
 * The current fault as one reason and one text: `Node.status.config.error` and the reason of the
 * condition come from the same result, so they agree. Only a kubelet that is not well in a pause is
 * `Unhealthy` in the condition, beside the error of the pause. `Node.status.config.error` has
 * upstream's words and no detail of the node. All other reports have the cause itself. The order is
 * upstream's (`status.SetErrorOverride`): first what prevents the agent from following the cluster,
 * then what is wrong with the assigned config, then what prevents a good config from running.
 * @param active the running source, if it is known
 * @param phase the phase in which the last pass of the loop ended; undefined while steps are left
 */
export function findFault(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): Fault | undefined {
  return (
    findDynamicConfigDirFault(snapshot) ??
    findSyncFault(snapshot) ??
    findRunFault(snapshot, active, phase) ??
    findObstacle(snapshot, active, phase)
  )
}

/** Kubelet runs with --dynamic-config-dir, so its own controller chooses the config. */
export function findDynamicConfigDirFault({ unit }: Snapshot): Fault | undefined {
  const hasOwnController = unit.kind === 'known' && unit.wiring.kind === 'broken' && unit.wiring.reason === 'dynamic-config-dir'
  return hasOwnController ? fault('Wiring', texts.wiringError('dynamic-config-dir')) : undefined
}

function findSyncFault(snapshot: Snapshot): Fault | undefined {
  const { desired, recordedChannelState, troubles, assigned } = snapshot
  if (desired.kind === 'invalid') return fault('Invalid', texts.syncError(desired.detail), desired.cause)
  // The problem recorded last still applies while the assignment cannot be read.
  if (desired.kind === 'unknown' && recordedChannelState?.problem !== undefined)
    return fault('Invalid', texts.syncError(recordedChannelState.problem))
  if (desired.kind === 'config-map' && desired.object.kind === 'unavailable' && !isUnanswered(snapshot))
    return fault('DownloadFailed', texts.syncError(texts.DOWNLOAD_ERROR), describeReadFailure(desired))
  const unsynced = troubles.find(({ step }) => step === 'assign' || step === 'reset-to-local')
  if (unsynced !== undefined) return fault('InternalError', texts.syncError(texts.INTERNAL_ERROR), nameTrouble(unsynced))
  const obstacle = findStartObstacle(snapshot)
  if (obstacle !== undefined) return fault('NodeAtFault', texts.NODE_AT_FAULT_ERROR, obstacle)
  const blocking = troubles.find(({ step }) => !HOUSEKEEPING.has(step))
  if (blocking !== undefined) return fault('InternalError', texts.INTERNAL_ERROR, nameTrouble(blocking))
  return assigned.kind === 'damaged' ? fault('InternalError', texts.INTERNAL_ERROR, assigned.detail) : undefined
}

function nameTrouble({ step, detail }: Trouble): string {
  return `${step}: ${detail}`
}

/** Steps that do not affect what kubelet runs: their failures are only logged. */
const HOUSEKEEPING: ReadonlySet<Action['kind']> = new Set<Action['kind']>(['prune', 'record-channel', 'record-boot'])

/** The fault of the assigned config itself. */
function findRunFault(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): Fault | undefined {
  const { assigned, assignedContent } = snapshot
  if (assigned.kind === 'damaged') return undefined
  if (assignedContent === undefined) return fault('CheckpointMissing', texts.LOAD_ERROR, 'its checkpoint is missing or damaged')
  const verdict = findAssignedVerdict(snapshot)
  if (verdict === undefined) return undefined
  // Where local runs, or nothing else can, its verdict is of no consequence.
  if (assigned.source === 'local' && !isLocalGivenUp(snapshot, verdict)) return undefined
  // A kubelet that fails with every config is restarting for the same reason.
  const atFault = phase === 'node-at-fault' || (phase === 'restarting' && isAtFault(snapshot))
  if (atFault && (verdict.state === 'provisional' || verdict.reason === 'requested'))
    return fault('NodeAtFault', texts.NODE_AT_FAULT_ERROR, findUnexecuted(snapshot))
  const error = texts.failureError(verdict, findRefuge(snapshot, active, assigned.source))
  return fault(verdict.state === 'refused' ? 'Refused' : 'RolledBack', error, verdict.detail)
}

/** Something else runs, or is about to, since local was refused or kubelet failed with it. */
function isLocalGivenUp(snapshot: Snapshot, verdict: Verdict): boolean {
  if (verdict.state === 'refused') return isLocalRefused(snapshot, verdict) && assess(snapshot).target?.verdict === undefined
  return listLeft(snapshot).length > 0
}

function isAtFault(snapshot: Snapshot): boolean {
  return assess(snapshot).target?.atFault === true
}

/**
 * The verdict on the assigned config. After a restore of etcd, the same version may have been
 * refused with the content that it has now.
 */
export function findAssignedVerdict(snapshot: Snapshot): Verdict | undefined {
  const { assigned, assignedContent, desired, desiredContent } = snapshot
  if (assigned.kind === 'damaged' || assignedContent === undefined) return undefined
  const wanted = resolveDesired(desired)
  const currentContent = wanted !== undefined && sameSource(wanted, assigned.source) ? desiredContent : undefined
  return (
    findPresentVerdict(snapshot, assignedContent) ??
    (currentContent === undefined ? undefined : findPresentVerdict(snapshot, currentContent))
  )
}

function findRefuge(snapshot: Snapshot, active: ConfigSource | undefined, assigned: ConfigSource): texts.Refuge {
  if (active === undefined || sameSource(active, assigned)) return 'under-way'
  if (active === 'local') return 'local'
  if (assigned === 'local' || listLeft(snapshot).some(({ source }) => sameSource(source, active))) return 'left'
  if (sameSource(active, findLastKnownGood(snapshot).source)) return 'last-known-good'
  return sameSource(active, snapshot.previous.source) ? 'previous' : 'under-way'
}

/** Whether kubelet runs the content of `wanted` under another version, which is named active. */
function runsContentOf(snapshot: Snapshot, wanted: ConfigSource): boolean {
  const { assigned, assignedContent, running } = snapshot
  const content = running.kind === 'known' ? running.content : findUpcoming(snapshot)?.content
  return isNamed(assigned, wanted) && content !== undefined && content === assignedContent
}

/** The obstacle that keeps a good config from running. undefined: the desired config runs. */
function findObstacle(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): Fault | undefined {
  const { desired, assigned, requests, unit } = snapshot
  const wanted = resolveDesired(desired) ?? (assigned.kind === 'source' ? assigned.source : undefined)
  if (wanted === undefined || sameSource(active ?? findUpcoming(snapshot)?.source ?? 'local', wanted) || runsContentOf(snapshot, wanted))
    return undefined
  const pause = findPause(snapshot)
  if (pause !== undefined) return fault('Paused', pause.by === 'node' ? texts.PAUSED_ERROR : texts.pausedByCluster(pause.detail))
  if (requests.hold === 'local') return fault('HeldLocal', texts.HELD_LOCAL_ERROR)
  if (unit.kind === 'known' && unit.wiring.kind === 'broken')
    return fault('Wiring', texts.wiringError(unit.wiring.reason), unit.wiring.detail)
  switch (phase) {
    case 'ineffective':
      return fault('Ineffective', texts.INEFFECTIVE_ERROR)
    case 'restart-limit':
      return fault('RestartLimit', texts.RESTART_LIMIT_ERROR)
    case 'node-at-fault':
      return fault('NodeAtFault', texts.NODE_AT_FAULT_ERROR, findUnexecuted(snapshot))
    case 'fallen-back':
    case 'restarting':
      return restsOnFailed(snapshot) ? fault('NodeAtFault', texts.NODE_AT_FAULT_ERROR, findUnexecuted(snapshot)) : undefined
    default:
      return undefined
  }
}

/** The wanted config cannot be started now, and kubelet has failed with every other one. */
function restsOnFailed(snapshot: Snapshot): boolean {
  const { nextStart, unit } = snapshot
  if (nextStart.kind === 'unknown' || nextStart.held.content === undefined || unit.kind === 'unknown') return false
  return findVerdict(snapshot, nextStart.held.content, unit)?.state === 'provisional'
}

type Fallbacks = Pick<Snapshot, 'lastKnownGood' | 'previous' | 'verdicts' | 'proven' | 'unit'>

/**
 * Last-known-good as it is reported: what the node falls back to. The record keeps a config that
 * was given up after its promotion (a rollback that an operator requested, or a failure that was
 * confirmed) until another one is promoted, since a retry may bring it back. But nothing falls back
 * to it meanwhile.
 */
export function findLastKnownGood(snapshot: Fallbacks): HeldSource {
  const isGivenUp = ({ source, content }: HeldSource) =>
    source !== 'local' && content !== undefined && findPresentVerdict(snapshot, content)?.state === 'confirmed'
  return [snapshot.lastKnownGood, snapshot.previous].find((held) => !isGivenUp(held)) ?? LOCAL
}

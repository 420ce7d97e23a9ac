/**
 * What is wrong, as one reason and one text: `Node.status.config.error` and the reason of the condition come from the same finding, so that they
 * never disagree. Pure. Texts name no file, value or detail of the node; those are in the log and, of a verdict, in the events.
 *
 * The order is upstream's (`status.SetErrorOverride`): what keeps the agent from following the cluster comes before what is wrong with the
 * assigned config, and that before what keeps a sound one from running.
 */
import type { ConfigSource, ContentHash } from '../decision/config-source.ts'
import { sameSource } from '../decision/config-source.ts'
import { resolveDesired } from '../decision/desired.ts'
import { findPause } from '../decision/find-pause.ts'
import { assess } from '../decision/situation.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import * as texts from '../decision/status-texts.ts'
import type { Phase, Step } from '../decision/step.ts'
import { trialKey } from '../decision/trial-key.ts'
import type { Verdict } from '../decision/verdict.ts'

export const FAULT_REASONS = [
  'Invalid',
  'DownloadFailed',
  'InternalError',
  'CheckpointMissing',
  'Refused',
  'RolledBack',
  'NodeAtFault',
  'Paused',
  'HeldLocal',
  'Wiring',
  'Ineffective',
  'RestartLimit',
] as const
export type FaultReason = (typeof FAULT_REASONS)[number]

export interface Fault {
  readonly reason: FaultReason
  /** As in `Node.status.config.error`. */
  readonly error: string
}

/**
 * @param active what runs, as far as it is known
 * @param phase what the last pass of the loop came to rest in; undefined while it has something to do
 */
export function findFault(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): Fault | undefined {
  return findForeign(snapshot) ?? findSyncFault(snapshot) ?? findRunFault(snapshot, active, phase) ?? findObstacle(snapshot, active, phase)
}

/** Kubelet's own controller chooses what it runs. */
export function findForeign({ unit }: Snapshot): Fault | undefined {
  const isForeign = unit.kind === 'known' && unit.wiring.kind === 'broken' && unit.wiring.reason === 'dynamic-config-dir'
  return isForeign ? { reason: 'Wiring', error: texts.wiringError('dynamic-config-dir') } : undefined
}

function findSyncFault({ desired, recordedChannelState, troubles, assigned }: Snapshot): Fault | undefined {
  if (desired.kind === 'invalid') return { reason: 'Invalid', error: texts.syncError(desired.detail) }
  // As it was heard last: nobody has said that it was mended.
  if (desired.kind === 'unknown' && recordedChannelState?.problem !== undefined)
    return { reason: 'Invalid', error: texts.syncError(recordedChannelState.problem) }
  if (desired.kind === 'config-map' && desired.object.kind === 'unavailable')
    return { reason: 'DownloadFailed', error: texts.syncError(texts.DOWNLOAD_ERROR) }
  if (troubles.some(({ step }) => step === 'assign' || step === 'reset-to-local'))
    return { reason: 'InternalError', error: texts.syncError(texts.INTERNAL_ERROR) }
  const inTheWay = troubles.some(({ step }) => !HOUSEKEEPING.has(step))
  return inTheWay || assigned.kind === 'damaged' ? { reason: 'InternalError', error: texts.INTERNAL_ERROR } : undefined
}

/** Steps on the way to nothing: kubelet runs what is wanted, whether they succeed or not. They are in the log. */
const HOUSEKEEPING: ReadonlySet<string> = new Set<Step['kind']>(['prune', 'record-channel'])

/** What is wrong with the assigned config itself. */
function findRunFault(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): Fault | undefined {
  const { assigned, assignedContent } = snapshot
  if (assigned.kind === 'damaged' || assigned.source === 'local') return undefined
  if (assignedContent === undefined) return { reason: 'CheckpointMissing', error: texts.LOAD_ERROR }
  const verdict = findAssignedVerdict(snapshot)
  if (verdict === undefined) return undefined
  // On its way up and down again, a kubelet that fails with everything does so for no other reason.
  const atFault = phase === 'node-at-fault' || (phase === 'restarting' && isAtFault(snapshot))
  if (atFault && verdict.state === 'provisional') return { reason: 'NodeAtFault', error: texts.NODE_AT_FAULT_ERROR }
  const error = texts.failureError(verdict.reason, findRefuge(snapshot, active, assigned.source))
  return { reason: verdict.state === 'refused' ? 'Refused' : 'RolledBack', error }
}

function isAtFault(snapshot: Snapshot): boolean {
  return assess(snapshot).target?.atFault === true
}

/** What was found of the config that is assigned. After a restored etcd, its version may have been refused with the content it has now. */
export function findAssignedVerdict(snapshot: Snapshot): Verdict | undefined {
  const { assigned, assignedContent, desired, desiredContent } = snapshot
  if (assigned.kind === 'damaged' || assigned.source === 'local' || assignedContent === undefined) return undefined
  const wanted = resolveDesired(desired)
  const anew = wanted !== undefined && sameSource(wanted, assigned.source) ? desiredContent : undefined
  return findVerdict(snapshot, assignedContent) ?? (anew === undefined ? undefined : findVerdict(snapshot, anew))
}

/** While the unit cannot be read, a verdict on any kubelet counts: an error must not go and come with systemd's answers. */
function findVerdict({ unit, verdicts }: Snapshot, content: ContentHash): Verdict | undefined {
  if (unit.kind === 'known') return verdicts.get(trialKey(content, unit.kubeletIdentity))
  return [...verdicts.values()].find((verdict) => verdict.key.startsWith(trialKey(content, '')))
}

function findRefuge(snapshot: Snapshot, active: ConfigSource | undefined, assigned: ConfigSource): texts.Refuge {
  if (active === undefined || sameSource(active, assigned)) return 'under-way'
  if (active === 'local') return 'local'
  if (sameSource(active, snapshot.lastKnownGood.source)) return 'last-known-good'
  return sameSource(active, snapshot.previous.source) ? 'previous' : 'under-way'
}

/** What keeps a config that nothing is wrong with from running. Silent where what is wanted runs: then nothing is in its way. */
function findObstacle(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): Fault | undefined {
  const { desired, assigned, requests, unit } = snapshot
  const wanted = resolveDesired(desired) ?? (assigned.kind === 'source' ? assigned.source : undefined)
  if (wanted === undefined || sameSource(active ?? 'local', wanted)) return undefined
  const pause = findPause(snapshot)
  if (pause !== undefined)
    return { reason: 'Paused', error: pause.by === 'node' ? texts.PAUSED_ERROR : texts.pausedByCluster(pause.detail) }
  if (requests.hold === 'local') return { reason: 'HeldLocal', error: texts.HELD_LOCAL_ERROR }
  if (unit.kind === 'known' && unit.wiring.kind === 'broken') return { reason: 'Wiring', error: texts.wiringError(unit.wiring.reason) }
  switch (phase) {
    case 'ineffective':
      return { reason: 'Ineffective', error: texts.INEFFECTIVE_ERROR }
    case 'restart-limit':
      return { reason: 'RestartLimit', error: texts.RESTART_LIMIT_ERROR }
    case 'node-at-fault':
      return { reason: 'NodeAtFault', error: texts.NODE_AT_FAULT_ERROR }
    default:
      return undefined
  }
}

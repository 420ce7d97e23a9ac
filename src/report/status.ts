/**
 * What the agent says of this node: assigned, active, last-known-good and one error, as upstream's `Node.status.config`. Pure; every
 * channel (Node status, gauges, the command line) starts from here. It never says what is not known: a field that is undefined is left as
 * it was last published, since an absent one would read as "local".
 *
 * The order of errors is upstream's (`status.SetErrorOverride`): what keeps the agent from following the cluster comes before what is
 * wrong with the assigned config.
 */
import type { ConfigSource, ContentHash, Snapshot, Verdict } from '../agent/model.ts'
import { findPause } from '../agent/pause.ts'
import { runningSource } from '../agent/restarts.ts'
import { resolveDesired, sameSource } from '../agent/sources.ts'
import type { Phase } from '../agent/step.ts'
import { trialKey } from '../agent/trial-key.ts'
import * as texts from './texts.ts'

export interface ConfigStatus {
  /** What the running kubelet was started with; of two versions with the same content, the one its next start would use. */
  readonly active: ConfigSource | undefined
  readonly assigned: ConfigSource | undefined
  readonly lastKnownGood: ConfigSource | undefined
  /** Empty: none. */
  readonly error: string
}

/** `phase`: what the last pass of the loop came to rest in; undefined while it has something to do. */
export function describeStatus(snapshot: Snapshot, phase: Phase | undefined): ConfigStatus {
  // Kubelet's own controller chooses what it runs, and writes these fields itself.
  if (isForeign(snapshot)) {
    const error = texts.wiringError('dynamic-config-dir')
    return { active: undefined, assigned: undefined, lastKnownGood: undefined, error }
  }
  const active = runningSource(snapshot)
  const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
  const error = findSyncError(snapshot) ?? findRunError(snapshot, active, phase) ?? findObstacle(snapshot, active, phase) ?? ''
  return { active, assigned, lastKnownGood: snapshot.lastKnownGood.source, error }
}

function isForeign({ unit }: Snapshot): boolean {
  return unit.kind === 'known' && unit.wiring.kind === 'broken' && unit.wiring.reason === 'dynamic-config-dir'
}

function findSyncError({ desired, heard, troubles, assigned }: Snapshot): string | undefined {
  if (desired.kind === 'invalid') return texts.syncError(desired.detail)
  // As it was heard last: nobody has said that it was mended.
  if (desired.kind === 'unknown' && heard?.problem !== undefined) return texts.syncError(heard.problem)
  if (desired.kind === 'config-map' && desired.object.kind === 'unavailable') return texts.syncError(texts.DOWNLOAD_ERROR)
  if (troubles.some(({ step }) => step === 'assign' || step === 'reset-to-local')) return texts.syncError(texts.INTERNAL_ERROR)
  return troubles.length > 0 || assigned.kind === 'damaged' ? texts.INTERNAL_ERROR : undefined
}

/** What is wrong with the assigned config itself. */
function findRunError(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): string | undefined {
  const { assigned, assignedContent } = snapshot
  if (assigned.kind === 'damaged' || assigned.source === 'local') return undefined
  if (assignedContent === undefined) return texts.LOAD_ERROR
  // After a restored etcd, the version that is assigned may have been refused with the content it has now.
  const wanted = resolveDesired(snapshot.desired)
  const anew = wanted !== undefined && sameSource(wanted, assigned.source) ? snapshot.desiredContent : undefined
  const verdict = findVerdict(snapshot, assignedContent) ?? (anew === undefined ? undefined : findVerdict(snapshot, anew))
  if (verdict === undefined) return undefined
  if (phase === 'node-at-fault' && verdict.state === 'provisional') return texts.NODE_AT_FAULT_ERROR
  return texts.failureError(verdict.reason, findRefuge(snapshot, active, assigned.source))
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
function findObstacle(snapshot: Snapshot, active: ConfigSource | undefined, phase: Phase | undefined): string | undefined {
  const { desired, assigned, requests, unit } = snapshot
  const wanted = resolveDesired(desired) ?? (assigned.kind === 'source' ? assigned.source : undefined)
  if (wanted === undefined || sameSource(active ?? 'local', wanted)) return undefined
  const pause = findPause(snapshot)
  if (pause !== undefined) return pause.by === 'node' ? texts.PAUSED_ERROR : texts.pausedByCluster(pause.detail)
  if (requests.hold === 'local') return texts.HELD_LOCAL_ERROR
  if (unit.kind === 'known' && unit.wiring.kind === 'broken') return texts.wiringError(unit.wiring.reason)
  switch (phase) {
    case 'ineffective':
      return texts.INEFFECTIVE_ERROR
    case 'restart-limit':
      return texts.RESTART_LIMIT_ERROR
    case 'node-at-fault':
      return texts.NODE_AT_FAULT_ERROR
    default:
      return undefined
  }
}

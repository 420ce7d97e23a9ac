// SPDX-License-Identifier: Apache-2.0
/**
 * The rules that follow the cluster: what it assigns becomes `meta/assigned` here, with a
 * checkpoint on disk. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { type ConfigMapData, type ConfigMapSource, LOCAL, sameRef, sameSource, sameVersion } from '../subject/config-source.ts'
import { trialKey } from '../subject/trial-key.ts'
import { listWaiting } from './acceptance.ts'
import { type ChannelState, type Desired, type FoundConfigMap, resolveDesired, sourceOf } from './desired.ts'
import { findPause, isConfigMapKnown, latestChannelState } from './find-pause.ts'
import { isNamed } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import { stageAssigned } from './staging.ts'
import type { Step } from './step.ts'
import type { Situation } from './target.ts'

/** Applies whatever state kubelet is in. An unknown or invalid assignment changes nothing. */
export function followAssignment({ snapshot }: Situation): Step | undefined {
  const desired: Desired = snapshot.requests.hold === 'local' ? { kind: 'local' } : snapshot.desired
  const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
  switch (desired.kind) {
    case 'unknown':
    case 'invalid':
      return undefined
    case 'local': {
      const reset = assigned === 'local' && snapshot.lastKnownGood.source === 'local' && snapshot.previous.source === 'local'
      if (reset) return undefined
      const shared = assigned !== 'local' && snapshot.requests.hold !== 'local' && !mayNodeHaveChanged(snapshot)
      return { kind: 'reset-to-local', from: assigned, shared }
    }
    case 'config-map': {
      const { ref, object } = desired
      if (object.kind !== 'found') return undefined
      const source = sourceOf(ref, object)
      const known = assigned !== undefined && sameSource(assigned, source)
      // Without content, the checkpoint is gone or damaged: it is saved again while the cluster
      // still has it.
      if (known && snapshot.assignedContent === snapshot.desiredContent) return undefined
      const shared = isShared(snapshot, source)
      const { data, rendered } = object
      const assign: Step = { kind: 'assign', source, data, ...(rendered && { rendered: rendered.data }), shared }
      return checkReplacement(snapshot, source, rendered?.data ?? data, assign)
    }
  }
}

/**
 * Completes the record of rollouts with the entries that it lost, or that an earlier agent did not
 * write. A damaged record is written anew even where there is nothing to remember: from then on,
 * that is known.
 */
export function recordStaging({ snapshot }: Situation): Step | undefined {
  const { desired, assigned, stagings, stagingsDamaged } = snapshot
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || assigned.kind !== 'source') return undefined
  const source = sourceOf(desired.ref, desired.object)
  if (!sameSource(assigned.source, source)) return undefined
  const staged = stageAssigned(snapshot, source, desired.object)
  if (stagingsDamaged !== true && (staged === undefined || isDeepStrictEqual(staged, stagings))) return undefined
  return { kind: 'record-staging', source, object: desired.object }
}

/**
 * Whether the new assignment comes from something that nodes share, so that many of them see it at
 * once. An assignment that a person sets on this Node alone is followed without a wait.
 */
function isShared(snapshot: Snapshot, source: ConfigMapSource): boolean {
  const { assigned: record, recordedChannelState: before, desired } = snapshot
  if (record.kind !== 'source') return false
  const assigned = record.source
  if (assigned !== 'local' && sameRef(assigned, source)) return true
  // A selector's choice changes for many nodes at once, as an edit does.
  const bySelector = before?.channel === 'selector' && desired.channelState?.channel === 'selector'
  return (assigned !== 'local' && bySelector) || !mayNodeHaveChanged(snapshot)
}

/**
 * Whether labels, annotations or spec of the Node that take part in its assignment changed since it
 * was last followed. true if that is not known, so that the change is not delayed.
 */
export function mayNodeHaveChanged({ desired, recordedChannelState: before }: Pick<Snapshot, 'desired' | 'recordedChannelState'>): boolean {
  return before?.nodeHash === undefined || before.nodeHash !== desired.channelState?.nodeHash
}

/**
 * The record keeps what was read last while the cluster cannot be read. One that was damaged may
 * have held a pause, which stands until all is known that could hold it.
 */
export function recordChannelState({ snapshot }: Situation): Step | undefined {
  const { desired, recordedChannelState: before, channelStateDamaged } = snapshot
  const latest = latestChannelState(desired, before)
  if (latest === undefined || desired.kind === 'unknown') return undefined
  if (channelStateDamaged === true && !isConfigMapKnown(desired)) return undefined
  // In the order in which they lie on disk, and nothing else that a newer agent may have recorded.
  const { channel, paused, problem } = latest
  const channelState = { channel, paused, problem, nodeHash: nodeHashToRecord(snapshot), ...layersToRecord(snapshot) }
  const isKnown =
    channelStateDamaged !== true &&
    before?.channel === channelState.channel &&
    isDeepStrictEqual(before?.paused, channelState.paused) &&
    before?.problem === channelState.problem &&
    before?.nodeHash === channelState.nodeHash &&
    isDeepStrictEqual(before?.layers, channelState.layers) &&
    isDeepStrictEqual(before?.fields, channelState.fields) &&
    isDeepStrictEqual(before?.computed, channelState.computed)
  return isKnown ? undefined : { kind: 'record-channel', channelState }
}

/**
 * The hash of the Node as it was last followed: until a ConfigMap that it names is downloaded, that
 * is the hash from before. undefined during a reset on the node, so that its end is not taken for a
 * change that nodes share.
 */
function nodeHashToRecord({ desired, assigned, requests, recordedChannelState: before }: Snapshot): string | undefined {
  if (requests.hold === 'local') return undefined
  const wanted = resolveDesired(desired)
  const isFollowed = wanted !== undefined && isNamed(assigned, wanted)
  return isFollowed ? desired.channelState?.nodeHash : before?.nodeHash
}

/** For `status`, which asks nobody. While they are not known, those of what is assigned stand. */
function layersToRecord({ desired, recordedChannelState: before }: Snapshot): Pick<ChannelState, 'layers' | 'fields' | 'computed'> {
  const isFound = desired.kind === 'config-map' && desired.object.kind === 'found'
  const { mergedFrom: layers, fields, computed } = isFound ? desired.object : desired.kind === 'local' ? {} : asRecorded(before)
  return { ...(layers !== undefined && { layers }), ...(fields !== undefined && { fields }), ...(computed && { computed }) }
}

function asRecorded(before: ChannelState | undefined): Pick<FoundConfigMap, 'mergedFrom' | 'fields' | 'computed'> {
  return { mergedFrom: before?.layers, fields: before?.fields, computed: before?.computed }
}

/**
 * A restored etcd can give a version other content. Kubelet may start at any time from the
 * checkpoint that its next start names, so preflight checks the new content before it is stored
 * there.
 */
function checkReplacement(snapshot: Snapshot, source: ConfigMapSource, data: ConfigMapData, assign: Step): Step | undefined {
  const { unit, desiredContent, storedContent, nextStart, running } = snapshot
  if (storedContent === desiredContent || desiredContent === undefined) return assign
  if (nextStart.kind === 'known' && !sameVersion(nextStart.held.source, source)) return assign
  // Nothing is stored, and what kubelet starts with next is unknown: it cannot be this version.
  if (nextStart.kind === 'unknown' && storedContent === undefined) return assign
  if (unit.kind !== 'known' || nextStart.kind !== 'known') return undefined
  // The same as an activation: a pause keeps what kubelet starts with next.
  if (storedContent !== undefined && findPause(snapshot) !== undefined) return undefined
  // Kubelet runs it, and only its files were lost.
  if (storedContent === undefined && running.kind === 'known' && running.content === desiredContent) return assign
  const key = trialKey(desiredContent, unit.kubeletIdentity)
  const verdict = snapshot.verdicts.get(key)
  const isOpen = verdict?.state === 'refused' && snapshot.basis !== undefined && verdict.basis !== snapshot.basis
  if ((verdict !== undefined && !isOpen) || snapshot.preflightPending.has(key)) return undefined
  const acceptance = snapshot.accepted.get(key)
  if (acceptance === undefined) return { kind: 'preflight', source, key, data, fallback: false }
  return listWaiting(snapshot, acceptance).length > 0 ? undefined : assign
}

/**
 * The records of a node that nothing was assigned to yet: empty files, which mean local, so that
 * the directory shows them from the beginning. Upstream: `fsStore.Initialize` in Kubernetes 1.20
 * `pkg/kubelet/kubeletconfig/checkpoint/store/fsstore.go`. Only where kubelet runs its local config
 * and starts with it next: elsewhere the record was lost, and what is assigned is unknown until the
 * cluster says so.
 */
export function openRecords({ snapshot }: Situation): Step | undefined {
  const { assigned, running, nextStart, lastKnownGood, damagedFallbacks = [] } = snapshot
  if (assigned.kind !== 'source' || assigned.absent !== true || damagedFallbacks.length > 0) return undefined
  const isLocal =
    running.kind === 'known' && running.content === LOCAL.content && nextStart.kind === 'known' && nextStart.held.source === 'local'
  return isLocal ? { kind: 'open-records', lastKnownGood: lastKnownGood.source } : undefined
}

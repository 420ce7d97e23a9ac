/**
 * The rules that follow the cluster: what it assigns becomes `meta/assigned` here, with a
 * checkpoint on disk. Pure.
 */

import type { ConfigMapData, ConfigMapSource } from './config-source.ts'
import { sameRef, sameSource, sameVersion } from './config-source.ts'
import type { Desired } from './desired.ts'
import { sourceOf } from './desired.ts'
import { latestChannelState } from './find-pause.ts'
import type { Situation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { trialKey } from './trial-key.ts'

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
      return reset ? undefined : { kind: 'reset-to-local', from: assigned }
    }
    case 'config-map': {
      const { ref, object } = desired
      if (object.kind !== 'found') return undefined
      const source = sourceOf(ref, object)
      const known = assigned !== undefined && sameSource(assigned, source)
      // Without content, the checkpoint is gone or damaged: it is saved again while the cluster
      // still has it.
      if (known && snapshot.assignedContent !== undefined && snapshot.assignedContent === snapshot.desiredContent) return undefined
      // A selector's choice changes for many nodes at once, as an edit does.
      const bySelector = snapshot.recordedChannelState?.channel === 'selector' && desired.channelState?.channel === 'selector'
      const inPlace = assigned !== undefined && assigned !== 'local' && (sameRef(assigned, source) || bySelector)
      const { data, rendered } = object
      const assign: Step = { kind: 'assign', source, data, ...(rendered && { rendered: rendered.data }), inPlace }
      return checkReplacement(snapshot, source, rendered?.data ?? data, assign)
    }
  }
}

/** The record keeps what was read last while the cluster cannot be read. */
export function recordChannelState({ snapshot: { desired, recordedChannelState: before } }: Situation): Step | undefined {
  const channelState = latestChannelState(desired, before)
  if (channelState === undefined || desired.kind === 'unknown') return undefined
  const isKnown =
    before?.channel === channelState.channel && before?.paused?.by === channelState.paused?.by && before?.problem === channelState.problem
  return isKnown ? undefined : { kind: 'record-channel', channelState }
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
  // Kubelet runs it, and only its files were lost.
  if (storedContent === undefined && running.kind === 'known' && running.content === desiredContent) return assign
  const key = trialKey(desiredContent, unit.kubeletIdentity)
  const verdict = snapshot.verdicts.get(key)
  const isOpen = verdict?.state === 'refused' && snapshot.basis !== undefined && verdict.basis !== snapshot.basis
  if ((verdict !== undefined && !isOpen) || snapshot.preflightPending.has(key)) return undefined
  const acceptance = snapshot.accepted.get(key)
  if (acceptance === undefined) return { kind: 'preflight', source, key, data, fallback: false }
  return acceptance.drain.length > 0 && snapshot.drained !== true ? undefined : assign
}

// SPDX-License-Identifier: Apache-2.0
/** The changes that steps make to this node's memory of rollouts. Pure. */
import type { ConfigMapSource, ConfigSource, ContentHash } from '../subject/config-source.ts'
import { contentOfKey, type TrialKey } from '../subject/trial-key.ts'
import type { FoundConfigMap } from './desired.ts'
import { dropCharges, type Effect, history, log, type StateEffect } from './effects.ts'
import { put } from './record-table.ts'
import { isNamed } from './records.ts'
import { isOwnEdit } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import { configOf, findLatest, findStaging, latestContent, markContent, retryOf, stageAssigned } from './staging.ts'
import type { StagedContent, Staging } from './staging-state.ts'

/**
 * A version is assigned: whether it has a rollout, and the verdicts that `retry` of its plan lifts.
 */
export function stage(snapshot: Snapshot, source: ConfigMapSource, object: FoundConfigMap): readonly Effect[] {
  const stagings = stageAssigned(snapshot, source, object)
  if (stagings === undefined) return snapshot.stagingsDamaged === true ? [put('stagings', [])] : []
  const before = findStaging(snapshot, source)
  const after = findStaging({ stagings }, source)
  const ended = after === undefined ? [log('info', `ConfigMap ${configOf(source)} no longer has a rollout: its changes are spread`)] : []
  const begun =
    after !== undefined && before?.record !== after.record
      ? [log('info', `ConfigMap ${configOf(source)} has a rollout: the record is ${after.record}`)]
      : []
  const raised = before && after && findRaised(before, after)
  return [...(raised === undefined ? [] : lift(snapshot, raised.content)), put('stagings', stagings), ...begun, ...ended]
}

/** The content that is assigned, if the plan asks for it anew. */
function findRaised(before: Staging, after: Staging): StagedContent | undefined {
  const latest = latestContent(after)
  const known = before.contents.find(({ hash, content }) => hash === latest?.hash && content === latest.content)
  return latest !== undefined && known !== undefined && retryOf(latest) > retryOf(known) ? latest : undefined
}

function lift(snapshot: Snapshot, content: ContentHash): readonly Effect[] {
  const { verdicts, suspendedVerdicts, proven } = snapshot
  const keys = [...verdicts.keys(), ...suspendedVerdicts.keys()].filter((key) => contentOfKey(key) === content)
  if (keys.length === 0) return []
  return [
    history('retrying', undefined, undefined, 'retry was raised in the rollout plan'),
    // The content has a whole trial again, with all the evidence.
    ...(proven !== undefined && contentOfKey(proven) === content ? [put('proven', undefined)] : []),
    ...keys.map((key): Effect => ({ kind: 'remove-verdict', key })),
    ...dropCharges(snapshot),
  ]
}

export function mark({ stagings }: Snapshot, content: ContentHash, facts: Partial<StagedContent>): readonly StateEffect[] {
  const marked = markContent(stagings, content, facts)
  return marked === undefined ? [] : [put('stagings', marked)]
}

/** An operator dropped these verdicts: of the assigned content, if it is one of them. */
export function markRequested(snapshot: Snapshot, keys: readonly TrialKey[]): readonly StateEffect[] {
  const { assigned, assignedContent } = snapshot
  if (assigned.kind !== 'source' || assignedContent === undefined || findStaging(snapshot, assigned.source) === undefined) return []
  const isDropped = keys.some((key) => contentOfKey(key) === assignedContent)
  return isDropped ? mark(snapshot, assignedContent, { requested: true }) : []
}

/**
 * Marks the activated content as not started yet. The content waits for a turn once more. One that
 * comes back after it was last-known-good with this kubelet is not of this generation.
 */
export function markActivated(snapshot: Snapshot, target: ConfigSource): readonly StateEffect[] {
  const { stagings, assigned, assignedContent, running, rollout, unit } = snapshot
  if (!isNamed(assigned, target) || assignedContent === undefined || (running.kind === 'known' && running.content === assignedContent))
    return []
  const staged = findLatest(snapshot, target)?.staged
  const wasPromoted = staged?.promotedOn !== undefined && unit.kind === 'known' && staged.promotedOn === unit.kubeletIdentity
  const present = staged !== undefined && rollout?.hash === staged.hash ? rollout.progress?.generation : undefined
  const broughtIn = wasPromoted ? (staged.broughtIn ?? 0) : present
  const marked = markContent(stagings, assignedContent, { started: false, ownEdit: isOwnEdit(snapshot, target), broughtIn })
  return marked === undefined ? [] : [put('stagings', marked)]
}

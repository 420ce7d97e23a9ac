/**
 * What the steps change in what this node remembers of rollouts. Pure.
 */
import type { ConfigMapSource, ContentHash } from './config-source.ts'
import type { FoundConfigMap } from './desired.ts'
import { type Effect, history, log, type StateEffect } from './effects.ts'
import { forgetExits } from './health-record.ts'
import type { Snapshot } from './snapshot.ts'
import { findStaging, latestContent, markContent, stageAssigned } from './staging.ts'
import type { StagedContent } from './staging-state.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'

/** A version is assigned: whether it goes by a rollout, and the verdicts that `retry` of its plan lifts. */
export function stage(snapshot: Snapshot, source: ConfigMapSource, object: FoundConfigMap): readonly Effect[] {
  const stagings = stageAssigned(snapshot, source, object)
  if (stagings === undefined) return []
  const before = findStaging(snapshot, source)
  const after = findStaging({ stagings }, source)
  const ended = after === undefined ? [log('info', `the rollout of ${before?.config} is off: it is spread from now on`)] : []
  const begun =
    before === undefined && after !== undefined ? [log('info', `${after.config} goes by a rollout, with the record ${after.record}`)] : []
  const isRaised = before !== undefined && after !== undefined && after.retry > before.retry
  return [...(isRaised ? lift(snapshot, latestContent(after)?.content) : []), { kind: 'write-stagings', stagings }, ...begun, ...ended]
}

function lift({ verdicts, retrials, health }: Snapshot, content: ContentHash | undefined): readonly Effect[] {
  const keys = [...verdicts.keys(), ...retrials.keys()].filter((key) => contentOfKey(key) === content)
  if (keys.length === 0) return []
  return [
    history('retrying', undefined, undefined, 'retry was raised in the rollout plan'),
    ...keys.map((key): Effect => ({ kind: 'remove-verdict', key })),
    ...(health === undefined ? [] : [{ kind: 'write-health', health: forgetExits(health) } as const]),
  ]
}

export function mark({ stagings }: Snapshot, key: TrialKey, facts: Partial<StagedContent>): readonly StateEffect[] {
  const marked = markContent(stagings, contentOfKey(key), facts)
  return marked === undefined ? [] : [{ kind: 'write-stagings', stagings: marked }]
}

/** An operator dropped these verdicts: of the assigned content, if it is one of them. */
export function markRequested(snapshot: Snapshot, keys: readonly TrialKey[]): readonly StateEffect[] {
  const { assigned, assignedContent } = snapshot
  if (assigned.kind !== 'source' || findStaging(snapshot, assigned.source) === undefined) return []
  const key = keys.find((one) => contentOfKey(one) === assignedContent)
  return key === undefined ? [] : mark(snapshot, key, { requested: true })
}

/** Whether kubelet was restarted with this content since it was activated: over a reboot, nothing else tells. */
export function markStarted({ stagings }: Snapshot, content: ContentHash | undefined, started: boolean): readonly StateEffect[] {
  const isKnown = stagings?.some(({ contents }) => contents.some((one) => one.content === content && (one.started ?? false) !== started))
  const marked = content === undefined || isKnown !== true ? undefined : markContent(stagings, content, { started })
  return marked === undefined ? [] : [{ kind: 'write-stagings', stagings: marked }]
}

// SPDX-License-Identifier: Apache-2.0
/**
 * When a node tells of a change that nodes share. Pure. An edit reaches all nodes at the same
 * moment, and each would write to its Node several times within two seconds: that it checks the
 * config, and then that it waits, that it refuses it, or that it follows a new version of what it
 * runs. So each has a slot, a time of its own, at which it tells what it has come to by then. Of
 * 10,000 nodes, 300 tell in the first second, so that a person who waits sees how it goes. Where
 * content that nodes share fails, all of them may fail together, and tell of it in the same way.
 * How a trial in the node's own turn goes on, and what is set on its Node alone, is told at once.
 */

import { findConfigMapPause, findPause } from '../decision/find-pause.ts'
import { mayNodeHaveChanged } from '../decision/follow-assignment.ts'
import { PHASES, type Phase } from '../decision/phases.ts'
import { listOfBoot } from '../decision/records.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { findSharedSpread, spreadDelayUs } from '../decision/wait.ts'
import { type ConfigSource, sameSource } from '../subject/config-source.ts'
import { type Condition, type SharedKind, sharedKindOf } from './reasons.ts'

/** A True about the version before is outdated for no longer, or a minute if the server is busy. */
const LONGEST_US = 30e6

/** The condition that a node has to write, and when. */
export interface Slot {
  readonly condition: Condition
  /** CLOCK_MONOTONIC, as all times here. undefined, or in the past: at once. */
  readonly atUs: number | undefined
  /** Events come last: people and programs look at the Node first. */
  readonly eventsAtUs: number | undefined
  /** The condition that the Node shows until then. undefined: this agent has written none yet. */
  readonly shown: Condition | undefined
  /** When the condition was seen last. */
  readonly seenUs: number
  readonly pause: PausedBy
  /** Something has failed that nodes may share, and the node tells of what that comes to. */
  readonly isFalling: boolean
}

/** `own`: an operator of the node, or an annotation of its Node. */
type PausedBy = 'nobody' | 'ConfigMap' | 'own'

/**
 * @param wanted undefined: not known
 * @param before what was to be told last
 */
export function findSlot(
  snapshot: Snapshot,
  phase: Phase,
  wanted: ConfigSource | undefined,
  condition: Condition,
  before: Slot | undefined,
): Slot {
  const pause = findPausedBy(snapshot)
  const seenUs = snapshot.now.monotonicUs
  if (before !== undefined && isSame(before.condition, condition)) return { ...before, pause, seenUs }
  const shown = isAhead(before?.atUs, seenUs) ? before?.shown : before?.condition
  const isDeliberate = condition.deliberate === true || shown?.deliberate === true || isOf(condition, 'pause')
  const isFalling = !isDeliberate && isFall(snapshot, condition, before) && mayFallTogether(snapshot, wanted)
  const isPauseNew = isNewOfConfigMap(pause, before?.pause) && areOfRest(condition, shown)
  const isShared = !isDeliberate && mayAllTell(phase, condition, shown)
  const sharedUs = isShared ? findSharedSlot(snapshot, wanted, condition, shown) : undefined
  const atUs = isFalling || isPauseNew ? fromNowUs(snapshot) : sharedUs
  return {
    ...{ condition, shown, pause, seenUs, isFalling },
    atUs: keepEarlier(before?.atUs, atUs, seenUs),
    eventsAtUs: keepEarlier(before?.eventsAtUs, atUs === undefined ? undefined : atUs + longestUs(snapshot.policy), seenUs),
  }
}

/**
 * Each further edit begins the spread anew, and a kubelet that comes and goes tells of that anew.
 * Neither puts off what the node has not told yet.
 */
function keepEarlier(before: number | undefined, atUs: number | undefined, nowUs: number): number | undefined {
  return before !== undefined && atUs !== undefined && isAhead(before, nowUs) ? Math.min(before, atUs) : atUs
}

function isAhead(atUs: number | undefined, nowUs: number): boolean {
  return atUs !== undefined && atUs > nowUs
}

function isSame(a: Condition, b: Condition): boolean {
  return a.reason === b.reason && a.message === b.message
}

/**
 * Preflight may take longer than the slots, and its end is shared as well: the slot counts from
 * there. A change that is set on this Node alone is recorded as one whose spread is over. Nothing
 * is recorded of what cannot be used: that is shared where the Node and its overlay are as they
 * were.
 *
 * @returns undefined: no change that nodes share
 */
function findSharedSlot(
  snapshot: Snapshot,
  wanted: ConfigSource | undefined,
  condition: Condition,
  shown: Condition | undefined,
): number | undefined {
  const { now, desired } = snapshot
  const isOver = condition.status === 'True' && isOf(shown, 'unusable')
  if (isOver || isOf(condition, 'unusable')) {
    const isOwn = mayNodeHaveChanged(snapshot) || (desired.kind === 'invalid' && desired.isSeen === true)
    return isOwn ? undefined : fromNowUs(snapshot)
  }
  const spread = wanted && findSharedSpread(snapshot, wanted)
  if (spread === undefined) return undefined
  const atUs = spread.sinceUs + delayUs(snapshot)
  const isLate = atUs < now.monotonicUs && now.monotonicUs < spread.sinceUs + snapshot.policy.spreadUs
  return isLate ? fromNowUs(snapshot) : atUs
}

function findPausedBy(snapshot: Snapshot): PausedBy {
  if (findPause(snapshot) === undefined) return 'nobody'
  return findConfigMapPause(snapshot) === undefined ? 'own' : 'ConfigMap'
}

/** The ConfigMap's pause has begun or ended, and the node has none of its own. */
function isNewOfConfigMap(pause: PausedBy, before: PausedBy | undefined): boolean {
  return before !== undefined && before !== pause && pause !== 'own' && before !== 'own'
}

/**
 * Whether the condition tells of a failure, or of what follows on one that this agent has seen:
 * also that kubelet is well again, since that may come to all at once as well.
 */
function isFall(snapshot: Snapshot, condition: Condition, before: Slot | undefined): boolean {
  if (before === undefined) return false
  if (isOf(condition, 'fall', 'fallen')) return true
  if (isOf(condition, 'start') && !isOf(before.condition, 'start')) return !hasOwnTurn(snapshot, before)
  return before.isFalling && (isAhead(before.atUs, snapshot.now.monotonicUs) || isOf(before.condition, 'fall', 'fallen', 'start'))
}

/** Since the look before, the agent has restarted kubelet into what the node is to run. */
function hasOwnTurn({ restarts, now }: Snapshot, { seenUs }: Slot): boolean {
  const last = listOfBoot(restarts, now).at(-1)
  return last !== undefined && !last.fallback && last.atUs >= seenUs
}

/**
 * Nodes that run the same may fail together, as with a registry or a network that all of them use,
 * however long after the change. None of them knows of the others. What was set on this Node alone
 * fails in its trial on this node alone.
 */
function mayFallTogether(snapshot: Snapshot, wanted: ConfigSource | undefined): boolean {
  if (wanted === undefined) return false
  return sameSource(snapshot.lastKnownGood.source, wanted) || findSharedSpread(snapshot, wanted) !== undefined
}

/** Whether nothing but the pause is new: no trial has begun or ended. */
function areOfRest(condition: Condition, shown: Condition | undefined): boolean {
  return [condition, shown].every((each) => each?.reason === 'Paused' || isOfRest(each)) && !isOf(condition, 'fallen')
}

function fromNowUs(snapshot: Snapshot): number {
  return snapshot.now.monotonicUs + delayUs(snapshot)
}

/** By the name alone: the turn itself follows from the version as well. */
function delayUs({ nodeName, policy }: Snapshot): number {
  return spreadDelayUs(nodeName, 'local', longestUs(policy))
}

function longestUs({ spreadUs }: Snapshot['policy']): number {
  return Math.min(LONGEST_US, spreadUs)
}

/**
 * Whether all nodes may have this to tell at the same moment: before their turn, where they make
 * nothing of the change, and where it leaves or gives back the content that runs. A trial ends on
 * each node at a time of its own, so that is told at once.
 */
function mayAllTell(phase: Phase, condition: Condition, shown: Condition | undefined): boolean {
  if (phase === 'settled' && condition.status === 'True') return isOfRest(shown)
  return PHASES[phase].isBeforeTurn === true || isOf(condition, 'unusable', 'refused')
}

/** A node may show these whose content another change gives back, or leaves as it is. */
function isOfRest(condition: Condition | undefined): boolean {
  return isOf(condition, 'unusable', 'refused', 'fallen', 'rest')
}

function isOf(condition: Condition | undefined, ...kinds: readonly SharedKind[]): boolean {
  const kind = condition && sharedKindOf(condition.reason)
  return kind !== undefined && kinds.includes(kind)
}

// SPDX-License-Identifier: Apache-2.0
/**
 * When a node tells of a change that nodes share, before its own turn to follow it. Pure. An edit
 * reaches all nodes at the same moment, and each would write to its Node several times within two
 * seconds: that it checks the config, and then that it waits, or that it follows a new version of
 * what it runs. So each tells of that at a time of its own, and of what it has come to by then.
 * The events on the node in its own turn are told at once.
 */

import { PHASES, type Phase } from '../decision/phases.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { spreadDelayUs } from '../decision/wait.ts'
import { type ConfigSource, sameSource } from '../subject/config-source.ts'
import type { Condition } from './reasons.ts'

/** A True about the version before is outdated for no longer. */
const LONGEST_US = 30e6

/** The condition that a node has to write, and when. */
export interface Slot {
  readonly condition: Condition
  /** CLOCK_MONOTONIC. undefined, or in the past: at once. */
  readonly atUs: number | undefined
  /** The condition that the Node shows until then. undefined: this agent has written none yet. */
  readonly shown: Condition | undefined
}

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
  if (before !== undefined && isSame(before.condition, condition)) return before
  const beforeUs = before?.atUs ?? Number.NEGATIVE_INFINITY
  const isAhead = beforeUs > snapshot.now.monotonicUs
  const shown = isAhead ? before?.shown : before?.condition
  const atUs = isShared(phase, condition, shown) ? findSharedSlot(snapshot, wanted) : undefined
  // Each further edit begins the spread anew. It does not put off what the node has not told yet.
  return { condition, atUs: atUs !== undefined && isAhead ? Math.min(atUs, beforeUs) : atUs, shown }
}

function isSame(a: Condition, b: Condition): boolean {
  return a.reason === b.reason && a.message === b.message
}

/**
 * A change that is set on this Node alone is recorded as one whose spread is over.
 *
 * @returns undefined: no change that nodes share
 */
function findSharedSlot({ now, nodeName, policy, spread }: Snapshot, wanted: ConfigSource | undefined): number | undefined {
  if (wanted === undefined || spread === undefined) return undefined
  if (spread.bootId !== now.bootId || !sameSource(spread.source, wanted)) return undefined
  // By the name alone: the turn itself follows from the version as well.
  return spread.sinceUs + spreadDelayUs(nodeName, 'local', Math.min(LONGEST_US, policy.spreadUs))
}

/**
 * Whether all nodes may have this to tell at the same moment: before their turn, and where the
 * change leaves the content as it is. The running content was proven before then, and still is: a
 * promotion follows a trial, which is Unknown.
 */
function isShared(phase: Phase, condition: Condition, shown: Condition | undefined): boolean {
  if (phase === 'settled') return condition.status === 'True' && shown?.status === 'True'
  return PHASES[phase].isBeforeTurn === true
}

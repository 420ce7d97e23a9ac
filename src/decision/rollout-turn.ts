// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a new version may be activated here. It waits for the end of a pause of its ConfigMap,
 * and for its turn in a rollout, by what the worker for the record knows. A turn that was read
 * counts for a few seconds only: before a start, the record and then the config are read at their
 * newest (R3). Falling back, local and what an operator requests on the node never wait for it
 * (R5). docs/rollout.md, "The rules", has these. Pure.
 */
import type { RolloutTurn } from '../rollout/view.ts'
import { type ConfigSource, type ContentHash, sameSource } from '../subject/config-source.ts'
import { contentOfKey, hasPassed } from '../subject/trial-key.ts'
import { SECOND_US } from '../values/durations.ts'
import { sourceOf } from './desired.ts'
import { describePause, findConfigMapPause, isPauseUnknown } from './find-pause.ts'
import type { Ground, Snapshot } from './snapshot.ts'
import { findLatest, findStaging, hasWorkedOtherwise, isOfHash, ROLLOUT_OFF } from './staging.ts'

/** How long a turn counts after it was read. */
export const TURN_COUNTS_US = 10 * SECOND_US

const UNCONFIRMED: RolloutTurn = { kind: 'wait', detail: 'the agent confirms the turn with a fresh read of the record and the config' }
const UNREAD: RolloutTurn = { kind: 'wait', detail: 'the record of its rollout has not been read yet' }

/** @returns undefined: this config has no rollout */
export function findRolloutTurn(snapshot: Ground, source: ConfigSource, content: ContentHash): RolloutTurn | undefined {
  const { rollout, now } = snapshot
  const latest = findLatest(snapshot, source)
  if (latest === undefined) return undefined
  const { staging, staged } = latest
  if (staged.content === content && staged.requested === true) return { kind: 'go', detail: 'an operator requested it on the node' }
  if (rollout === undefined || rollout.config !== staging.config || rollout.hash !== staged.hash || staged.content !== content)
    return UNREAD
  const { turn, confirmedAtUs } = rollout
  if (turn.kind !== 'go') return turn
  const isFresh = confirmedAtUs !== undefined && now.monotonicUs - confirmedAtUs <= TURN_COUNTS_US
  if (isFresh) return turn
  return turn.unready === undefined
    ? UNCONFIRMED
    : { kind: 'wait', detail: `this node has its turn, but cannot start it now: ${turn.unready}` }
}

/** Why a new version is not begun yet: for its rollout, a pause of its ConfigMap, or a doubt. */
interface StartWait {
  readonly turn: Exclude<RolloutTurn, { kind: 'go' }>
  readonly isPaused?: true
  /** Whether the version has to wait is not known: see `findDoubt`. */
  readonly isInDoubt?: true
  /** As far as is known it has its turn: that is read once more, and takes a moment. */
  readonly isBeingConfirmed: boolean
}

/**
 * Whether a content must not be activated or started now. Only what is assigned waits for a rollout
 * or a pause of its ConfigMap: no fallback does, nor what runs, nor last-known-good, nor what was
 * started here and goes on with its trial.
 *
 * @returns undefined: it has its turn, or needs none
 */
export function findStartWait(snapshot: Ground, { source, content }: Startable): StartWait | undefined {
  if (!needsTurn(snapshot, content)) return undefined
  const pause = source === 'local' ? undefined : findConfigMapPause(snapshot)
  if (pause !== undefined) return { turn: { kind: 'wait', detail: describePause(pause) }, isBeingConfirmed: false, isPaused: true }
  const turn = findRolloutTurn(snapshot, source, content)
  if (turn === undefined) return findWaitInDoubt(snapshot, { source, content })
  if (turn.kind === 'go') return undefined
  return { turn, isBeingConfirmed: turn !== UNREAD && snapshot.rollout?.turn.kind === 'go' }
}

/**
 * The wait for the end of a doubt. A config that is in place while nothing runs is not held up: as
 * far as is known, it was started before.
 */
function findWaitInDoubt(snapshot: Ground, { source, content }: Startable): StartWait | undefined {
  const { running, nextStart } = snapshot
  const isInPlace = running.kind !== 'known' && nextStart.kind === 'known' && nextStart.held.content === content
  const detail = isInPlace ? undefined : findDoubt(snapshot, source)
  return detail === undefined ? undefined : { turn: { kind: 'wait', detail }, isBeingConfirmed: false, isInDoubt: true }
}

export function describeStartWait(what: string, { turn, isInDoubt, isPaused }: StartWait): string {
  if (isPaused === true) return `${turn.detail}; wanted is ${what}`
  if (isInDoubt === true) return `${what} is not started yet: ${turn.detail}`
  return turn.kind === 'halted' ? `the rollout of ${what} is halted: ${turn.detail}` : `${what} waits for its rollout: ${turn.detail}`
}

/** Whether a rollout lets it go, which then has spread the nodes as well. */
export function hasRolloutTurn(snapshot: Snapshot, { source, content }: Startable): boolean {
  return needsTurn(snapshot, content) && findRolloutTurn(snapshot, source, content)?.kind === 'go'
}

interface Startable {
  readonly source: ConfigSource
  readonly content: ContentHash
}

function needsTurn(snapshot: Ground, content: ContentHash): boolean {
  const { assigned, assignedContent, lastKnownGood, running } = snapshot
  if (assigned.kind !== 'source' || content !== assignedContent || content === lastKnownGood.content) return false
  const runsIt = running.kind === 'known' && running.content === content
  return !runsIt && !isStarted(snapshot, { source: assigned.source, content }) && !isOwnEdit(snapshot, assigned.source)
}

/**
 * Nothing but the overlay or the local config of this node tells it from what runs, or from
 * last-known-good while nothing runs. That is no matter of the rollout, and is only spread.
 */
export function isOwnEdit(snapshot: Ground, assigned: ConfigSource): boolean {
  const { running, lastKnownGood } = snapshot
  const latest = findLatest(snapshot, assigned)
  if (latest === undefined || latest.staged.content !== snapshot.assignedContent) return false
  const { staging, staged } = latest
  return isOfHash(staging, running.kind === 'known' ? running.content : lastKnownGood.content, staged.hash)
}

/**
 * Kubelet was started with it and does not run at the moment, as between two automatic restarts or
 * while the node boots. A content that was activated, and not started, has not run here.
 */
function isStarted(snapshot: Ground, { source, content }: Startable): boolean {
  const { nextStart, running, health } = snapshot
  if (nextStart.kind !== 'known' || nextStart.held.content !== content || running.kind === 'known') return false
  if (health?.started === true && contentOfKey(health.subject) === content) return true
  return findStaging(snapshot, source)?.contents.some((staged) => staged.content === content && staged.started === true) === true
}

/**
 * Whether a failure of this content would be a veto: its rollout is under way, and it has not
 * worked here before.
 */
export function isAwaitedByOthers(snapshot: Snapshot, source: ConfigSource, content: ContentHash): boolean {
  const { rollout } = snapshot
  const latest = findLatest(snapshot, source)
  if (latest === undefined || latest.staged.content !== content) return false
  const { staging, staged } = latest
  if (staged.promoted === true || hasWorkedOtherwise(staging, staged)) return false
  return rollout?.config === staging.config && rollout.hash === staged.hash && rollout.progress?.finished === false
}

/**
 * Whether a failure of this content here would be a veto: it has a rollout that is not known to be
 * finished.
 */
export function isInRollout(
  { stagings, rollout }: Pick<Snapshot, 'stagings' | 'rollout'>,
  source: ConfigSource,
  content: ContentHash,
): boolean {
  const latest = findLatest({ stagings }, source)
  if (latest === undefined || latest.staged.content !== content) return false
  const isKnown = rollout?.config === latest.staging.config && rollout.hash === latest.staged.hash
  return !isKnown || rollout.progress?.finished !== true
}

/**
 * Whether the record has a claim of this node for what kubelet runs, whose trial has passed without
 * a proof.
 */
export function owesProof(snapshot: Snapshot): boolean {
  const { assigned, running, rollout } = snapshot
  if (running.kind !== 'known' || assigned.kind !== 'source' || rollout === undefined) return false
  const latest = findLatest(snapshot, assigned.source)
  if (latest === undefined) return false
  const { staging, staged } = latest
  if (staged.content !== running.content || staged.proved === true || !hasPassed(snapshot, running.key)) return false
  const { config, hash, turn } = rollout
  return config === staging.config && hash === staged.hash && turn.kind === 'go' && turn.asks === 'proof'
}

/**
 * The reason to hold back the assigned config while a damaged record could forbid it:
 * `meta/rollouts` says whether the assigned config has a rollout, and `meta/heard` whether the
 * cluster pauses this node. Until the cluster has been read again, nobody knows. Like a rollout, a
 * doubt holds up only what is assigned and has not been started: never what runs or is in place,
 * and no falling back.
 *
 * @returns why the assigned config must not be started yet. undefined: nothing is in doubt
 */
function findDoubt(snapshot: Ground, assigned: ConfigSource): string | undefined {
  // Local has no rollout, and nothing could take its place.
  if (assigned === 'local') return undefined
  if (snapshot.stagingsDamaged === true && !isKnownWithoutRollout(snapshot, assigned))
    return 'meta/rollouts was damaged, and whether it has a rollout is not known until its ConfigMap has been read'
  if (isPauseUnknown(snapshot))
    return 'meta/heard was damaged, and whether the cluster pauses this node is not known until it has been read'
  return undefined
}

function isKnownWithoutRollout({ desired }: Ground, assigned: ConfigSource): boolean {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return false
  const { ref, object } = desired
  const record = object.rollout?.record
  return sameSource(sourceOf(ref, object), assigned) && (record === undefined || record === ROLLOUT_OFF)
}

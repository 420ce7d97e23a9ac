/**
 * The boots in which a config was on trial. A config with which the node resets, or for which
 * something reboots the node because it is not Ready, neither passes its trial nor fails within one
 * boot. Each boot after the one in which the trial began has cut the trial short, so they are
 * counted. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import type { HeldSource } from './config-source.ts'
import type { HealthFailure } from './find-failure.ts'
import { findPause } from './find-pause.ts'
import type { Policy } from './policy.ts'
import type { TrialBoots } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import { contentOfKey, type TrialKey, trialKey } from './trial-key.ts'

/** Fewer may be the work of a person, or of a program that sets up the node. */
const TOO_MANY_REBOOTS = 3
/** Of a config that was given up for that, and is tried again. One may be planned. */
const TOO_MANY_IN_RETRIAL = 2
/** Reboots that are further apart have other causes. A longer trial has room for longer pauses. */
const windowUs = ({ trialUs, startDeadlineUs }: Policy) => Math.max(HOUR_US, 4 * (trialUs + startDeadlineUs))
/** Of those after the first. */
const BOOTS_KEPT = 10

/** The record with this boot. undefined: nothing is on trial in it, or it is in the record. */
export function findNewTrialBoots(snapshot: Snapshot, held: HeldSource, kubeletIdentity: string): TrialBoots | undefined {
  const { trialBoots, now } = snapshot
  const key = findKey(held, kubeletIdentity)
  if (key === undefined || !isOnTrial(snapshot, key) || !hasStarted(snapshot, key)) return undefined
  const before = trialBoots?.key === key ? trialBoots.boots : []
  if (before.some(({ bootId }) => bootId === now.bootId)) return undefined
  // How the node fares in a pause does not count.
  const isPaused = findPause(snapshot) !== undefined
  const boot = { bootId: now.bootId, atWallMs: now.wallMs, ...(isPaused && { paused: true }) }
  return { key, boots: [...before.slice(0, 1), ...before.slice(1).slice(1 - BOOTS_KEPT), boot] }
}

/** Whether too many reboots have cut the trial of a config short. */
export function findRebootFailure(snapshot: Snapshot, held: HeldSource, kubeletIdentity: string): HealthFailure | undefined {
  const key = findKey(held, kubeletIdentity)
  if (key === undefined || !isOnTrial(snapshot, key)) return undefined
  const isRetrial = snapshot.suspendedVerdicts.get(key)?.reason === 'reboots'
  const count = countReboots(snapshot, key)
  if (count < (isRetrial ? TOO_MANY_IN_RETRIAL : TOO_MANY_REBOOTS)) return undefined
  return { reason: 'reboots', detail: `the node was rebooted ${count} times in its trial`, damage: 'transient' }
}

/** For messages. A single reboot is not worth one. */
export function describeReboots(snapshot: Snapshot, key: TrialKey): string {
  const count = isOnTrial(snapshot, key) ? countReboots(snapshot, key) : 0
  return count > 1 ? ` (the node was rebooted ${count} times in it)` : ''
}

/** The first boot is the one in which the trial began. */
function countReboots({ trialBoots, now, policy }: Snapshot, key: TrialKey): number {
  const later = trialBoots?.key === key ? trialBoots.boots.slice(1) : []
  const isRecent = (atWallMs: number) => Math.abs(now.wallMs - atWallMs) * 1000 < windowUs(policy)
  return later.filter(({ atWallMs, paused }) => paused !== true && isRecent(atWallMs)).length
}

/**
 * Not what is last-known-good or previous, on whatever kubelet it passed its trial: it has run
 * without reboots before.
 */
function isOnTrial({ proven, lastKnownGood, previous, verdicts }: Snapshot, key: TrialKey): boolean {
  const wasPromoted = [lastKnownGood, previous].some(({ content }) => content === contentOfKey(key))
  return proven !== key && !wasPromoted && !verdicts.has(key)
}

function hasStarted({ running, health, now }: Snapshot, key: TrialKey): boolean {
  if (running.kind === 'known' && running.key === key) return true
  return health?.bootId === now.bootId && health.subject === key && health.started
}

/** undefined: local, which is never on trial, or a checkpoint that is lost. */
function findKey({ source, content }: HeldSource, kubeletIdentity: string): TrialKey | undefined {
  return source === 'local' || content === undefined ? undefined : trialKey(content, kubeletIdentity)
}

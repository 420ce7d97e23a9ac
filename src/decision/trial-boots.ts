/**
 * The boots that began in the trial of a config. A config with which the node resets, or for which
 * something reboots the node because it is not Ready, neither passes its trial nor fails within one
 * boot. Each boot that begins in its trial has cut that short, so they are counted. Pure.
 */
import type { HeldSource } from './config-source.ts'
import type { HealthFailure } from './find-failure.ts'
import { findPause } from './find-pause.ts'
import { listOfBoot, type TrialBoots } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import { contentOfKey, type TrialKey, trialKey } from './trial-key.ts'

/** Fewer may be the work of a person, or of a program that sets up the node. */
const MOST_BOOTS = 3
/** Boots that are further apart have other causes. */
const WITHIN_MS = 3600e3

/**
 * The boots to write down, with this one. undefined: it is no such boot, or is written down
 * already.
 */
export function findNewTrialBoots(snapshot: Snapshot, held: HeldSource, kubeletIdentity: string): TrialBoots | undefined {
  const { trialBoots, now } = snapshot
  const key = findKey(held, kubeletIdentity)
  if (key === undefined) return undefined
  const boots = listBoots(snapshot, key)
  const isRecorded = trialBoots?.key === key && trialBoots.boots.some(({ bootId }) => bootId === now.bootId)
  return isRecorded || boots.at(-1)?.bootId !== now.bootId ? undefined : { key, boots }
}

/** Whether too many boots have cut the trial of a config short. */
export function findRebootFailure(snapshot: Snapshot, held: HeldSource, kubeletIdentity: string): HealthFailure | undefined {
  const key = findKey(held, kubeletIdentity)
  if (key === undefined) return undefined
  // What was given up for that, and is tried again, gets no more than one.
  const isRetrial = snapshot.suspendedVerdicts.get(key)?.reason === 'reboots'
  const count = listBoots(snapshot, key).length
  if (count < (isRetrial ? 1 : MOST_BOOTS)) return undefined
  return { reason: 'reboots', detail: `the node was rebooted ${times(count)} in its trial`, damage: 'transient' }
}

/** For messages. One reboot is nothing to speak of. */
export function describeReboots(snapshot: Snapshot, key: TrialKey): string {
  const count = listBoots(snapshot, key).length
  return count > 1 ? `, in which the node was rebooted ${times(count)}` : ''
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** Of the last hour, oldest first. */
function listBoots(snapshot: Snapshot, key: TrialKey): TrialBoots['boots'] {
  const { trialBoots, now } = snapshot
  if (!isOnTrial(snapshot, key)) return []
  const recorded = trialBoots?.key === key ? trialBoots.boots : []
  const recent = recorded.filter(({ atWallMs }) => Math.abs(now.wallMs - atWallMs) < WITHIN_MS)
  if (!beganInTrial(snapshot, key) || recent.some(({ bootId }) => bootId === now.bootId)) return recent
  return [...recent, { bootId: now.bootId, atWallMs: now.wallMs }]
}

/** Kubelet was started with it in this boot, and not by the agent. */
function beganInTrial({ health, restarts, now }: Snapshot, key: TrialKey): boolean {
  if (health?.subject !== key || health.bootId !== now.bootId || !health.started) return false
  return listOfBoot(restarts, now).every(({ target }) => target !== key)
}

/**
 * Not what was promoted here, on whatever kubelet: it has run without reboots before. How the node
 * fares in a pause does not count.
 */
function isOnTrial(snapshot: Snapshot, key: TrialKey): boolean {
  const { proven, lastKnownGood, previous, verdicts } = snapshot
  const wasPromoted = [lastKnownGood, previous].some(({ content }) => content === contentOfKey(key))
  if (proven === key || wasPromoted) return false
  return !verdicts.has(key) && findPause(snapshot) === undefined
}

/** undefined: local, which is never on trial, or a checkpoint that is lost. */
function findKey({ source, content }: HeldSource, kubeletIdentity: string): TrialKey | undefined {
  return source === 'local' || content === undefined ? undefined : trialKey(content, kubeletIdentity)
}

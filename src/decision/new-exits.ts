/**
 * The exits of kubelet that one look shows, each once: when a look finds that a process has ended,
 * or else when systemd counts its exit in NRestarts. Systemd counts an exit only with the start
 * after it, and no longer knows of it where somebody restarts kubelet before that. Pure.
 */
import type { HealthRecord } from './health.ts'
import { hasEnded } from './sample-condition.ts'
import { contentOfKey } from './trial-key.ts'
import { countExits } from './unit-starts.ts'
import type { KnownUnit } from './unit-state.ts'

export interface NewExits {
  /** NRestarts alone tells of them. */
  readonly unseen: number
  /** The process of the unit's invocation has ended, and no look found that before. */
  readonly seen: boolean
  readonly exitSeenOf: string | undefined
}

/** Those of them that are charged to a config. */
export type ChargedExits = Pick<NewExits, 'unseen' | 'seen'>

/** @param known undefined: this is the first look, and what ended before it was not seen */
export function findNewExits(known: HealthRecord | undefined, unit: KnownUnit): NewExits {
  const { invocationId, nRestarts } = unit
  const counted = known === undefined ? 0 : countExits(known.lastNRestarts, nRestarts)
  // Systemd counts the exit a moment before the unit has another invocation.
  const isCounted = counted > 0 && known?.invocationId === invocationId
  const isEnded = isCounted || hasEnded(unit.activity)
  return {
    unseen: Math.max(0, counted - Number(known !== undefined && isCountDue(known))),
    seen: isEnded && !isCounted && known !== undefined && known.exitSeenOf !== invocationId,
    exitSeenOf: isEnded ? invocationId : known?.exitSeenOf,
  }
}

/** Its process had not ended at the last look. */
export function isAlive({ exitSeenOf, invocationId }: Pick<HealthRecord, 'exitSeenOf' | 'invocationId'>): boolean {
  return exitSeenOf !== invocationId
}

/** What exits is what ran last, or systemd has started it from the same config since. */
export function isOfWhatRanLast(known: HealthRecord | undefined, unit: KnownUnit): boolean {
  const last = known?.process
  if (known === undefined || last === undefined) return false
  return last.invocationId === unit.invocationId || contentOfKey(last.key) === contentOfKey(known.subject)
}

/** The next exit that systemd counts is the one that a look has found. */
function isCountDue(known: HealthRecord): boolean {
  return !isAlive(known) && known.lastNRestarts === (known.firstNRestarts ?? known.lastNRestarts)
}

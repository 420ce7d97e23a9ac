/**
 * Which failed configs are tried again. A short fault of the node looks like a failure of the
 * config that happened to run. So a config that may not be at fault, as one that had proved
 * itself, is tried again before its verdict is confirmed, at growing intervals, while a fallback
 * keeps the node going. Damage that no restart undoes is done only once. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import { isLocalAssigned } from './left.ts'
import { isAwaitedByOthers } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import type { Candidate, Target } from './target.ts'
import { isSteady, measureHealth } from './trial.ts'
import { contentOfKey } from './trial-key.ts'
import type { Verdict } from './verdict.ts'

const PAUSES_US = [600e6, HOUR_US, 6 * HOUR_US] as const
/** Each further pause is twice the one before, between these. */
const FIRST_FURTHER_US = 12 * HOUR_US
const LAST_FURTHER_US = 96 * HOUR_US

interface Retrial {
  readonly verdict: Verdict
  /** For how long the fallback is healthy before. */
  readonly pauseUs: number
  /** The number of this retrial, and of all that there will be. */
  readonly number: number
  readonly of: number
}

/** undefined: what the verdict condemns is not tried again by itself. */
export function planRetrial(snapshot: Snapshot, verdict: Verdict): Retrial | undefined {
  const { health, now } = snapshot
  const { key, state, reason, damage, source, doubtful, leavesState, bootId = now.bootId, retrials = 0 } = verdict
  if (state !== 'provisional' || damage === 'one-way') return undefined
  // As a fallback, local only stands in for what is tried again.
  if (source === 'local' && !isLocalAssigned(snapshot)) return undefined
  // Other nodes wait for what this one has to say.
  const pauses = isAwaitedByOthers(snapshot, source, contentOfKey(key)) ? PAUSES_US.slice(0, 1) : PAUSES_US
  const pauseUs = pauses[retrials]
  if (doubtful === true && pauseUs !== undefined) return { verdict, pauseUs, number: retrials + 1, of: pauses.length }
  const isByOthers = health?.startedByOthers === true || health?.process?.startedByOthers === true
  // A boot, or a restart by an operator, may have cured what the config failed with. Then it proves
  // nothing that the fallback is healthy. Reboots are no such cure where the config failed by them.
  if (leavesState === true || reason === 'reboots' || (!isByOthers && bootId === now.bootId)) return undefined
  return {
    verdict,
    pauseUs: PAUSES_US[retrials] ?? furtherPauseUs(retrials),
    number: retrials + 1,
    of: Math.max(PAUSES_US.length, retrials + 1),
  }
}

/**
 * Each try has failed so far, so the next one is less likely to help. A config that makes its
 * fallbacks fail, too, would otherwise stop a node again and again.
 */
function furtherPauseUs(retrials: number): number {
  return Math.min(FIRST_FURTHER_US * 2 ** (retrials - PAUSES_US.length), LAST_FURTHER_US)
}

/** The candidates that the target stands in for: those before it. */
export function listReplaced(candidates: readonly Candidate[], target: Pick<Target, 'content'>): readonly Candidate[] {
  const end = candidates.findIndex(({ content }) => content === target.content)
  return candidates.slice(0, Math.max(0, end))
}

/** The one that comes next, due or not. */
export function findRetrial(snapshot: Snapshot, candidates: readonly Candidate[], target: Target): Retrial | undefined {
  if (!target.fallback || target.atFault) return undefined
  const planned = listReplaced(candidates, target).flatMap(({ verdict }) => (verdict && planRetrial(snapshot, verdict)) ?? [])
  return planned.find((retrial) => isDue(snapshot, retrial, target)) ?? planned[0]
}

/**
 * By either clock: CLOCK_MONOTONIC ends with the boot, and the wall clock may be set back.
 */
export function isDue(snapshot: Snapshot, { verdict, pauseUs }: Retrial, target: Pick<Target, 'key'>): boolean {
  if (!isSteady(snapshot, target.key)) return false
  const healthyUs = measureHealth(snapshot, target.key)?.elapsedUs ?? 0
  return healthyUs >= pauseUs || (snapshot.now.wallMs - verdict.atWallMs) * 1000 >= pauseUs
}

/** When the fallback will have been healthy for long enough. undefined: it is not healthy now. */
export function findRetrialUs(snapshot: Snapshot, { pauseUs }: Retrial, target: Pick<Target, 'key'>): number | undefined {
  const trial = measureHealth(snapshot, target.key)
  return trial && snapshot.now.monotonicUs - trial.elapsedUs + pauseUs
}

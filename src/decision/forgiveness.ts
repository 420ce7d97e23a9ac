// SPDX-License-Identifier: Apache-2.0
/**
 * Forgiveness where every config had failed, so that the node seems at fault: which verdicts are
 * dropped, and which are remembered all the same. Pure.
 */

import { contentOfKey, type TrialKey } from '../subject/trial-key.ts'
import { HOUR_US } from '../values/durations.ts'
import { hasEverPassed } from './condemn-failure.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { isOfResets, type Verdict } from './verdict.ts'

/** For how long a fallback is healthy before each of the times that a config is tried again. */
export const PAUSES_US = [600e6, HOUR_US, 6 * HOUR_US] as const
const MOST_TRIES = PAUSES_US.length

/** Whether it may still turn out that the node was at fault. */
export function isOpen(verdict: Verdict): boolean {
  return verdict.state === 'provisional' && (!isOfResets(verdict) || (verdict.retrials ?? 0) < MOST_TRIES)
}

/**
 * Whether the config was forgiven already, and never passed a trial here. It may have left what the
 * others failed with, so another one that is well says nothing of it.
 */
export function isForgivenSuspect(snapshot: Snapshot, { key, acquitted }: Verdict): boolean {
  return acquitted === true && !hasEverPassed(snapshot, { key, content: contentOfKey(key) })
}

interface ForgivenessContext {
  /** With which kubelet is healthy now. undefined: with none. */
  readonly healthy?: TrialKey
  /** Verdicts that stay in force. */
  readonly keep?: readonly Verdict[]
}

/**
 * A config that never passed a trial here may have left a file that made the others fail. So its
 * verdict is suspended and not dropped: it has no more tries than a config that had proved itself.
 * A doubt about its failure does not change that.
 */
export function forgiveOnce(
  snapshot: Snapshot,
  verdicts: readonly Verdict[],
  why: string,
  { healthy, keep = [] }: ForgivenessContext = {},
): Step | undefined {
  const mayForget = ({ key, doubtful }: Verdict) =>
    key === healthy || (doubtful === true && hasEverPassed(snapshot, { key, content: contentOfKey(key) }))
  const isSuspect = (verdict: Verdict) => verdict.source !== 'local' && (verdict.acquitted === true || !mayForget(verdict))
  const suspend = verdicts
    .filter(isSuspect)
    .map((verdict): Verdict => ({ ...verdict, acquitted: true, doubtful: true, retrials: countRelease(verdict) }))
  const drop = verdicts.flatMap((verdict) => (isSuspect(verdict) ? [] : [verdict.key]))
  return verdicts.length === 0 ? undefined : { kind: 'forgive', drop, suspend, keep, requested: false, why }
}

/**
 * A restart costs little while kubelet is down anyway. But a reset of the node ends the pods that
 * run on: each release of a config that was left for resets counts as a try.
 */
function countRelease(verdict: Verdict): number {
  return isOfResets(verdict) ? (verdict.retrials ?? 0) + 1 : (verdict.retrials ?? 1)
}

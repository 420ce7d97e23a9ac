/** The verdict that is in force on a content. Pure. */
import type { ContentHash } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'
import { contentOfKey, type TrialKey, trialKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'
import { isOfFailure, type Verdict } from './verdict.ts'

type Kubelet = Pick<KnownUnit, 'kubeletIdentity' | 'isKubeletUnread'>
type Known = Pick<Snapshot, 'verdicts' | 'proven'>

/**
 * A verdict holds on one kubelet. But a config that did damage which cannot be undone is never
 * tried again, whatever kubelet is installed later. Nor does another kubelet help where each start
 * makes one.
 */
export function holdsOnAnyKubelet({ damage, anyKubelet }: Verdict): boolean {
  return damage === 'one-way' || anyKubelet === true
}

/** On that kubelet, or on any. */
export function findByKey(verdicts: Snapshot['verdicts'], key: TrialKey): Verdict | undefined {
  const isAlike = (verdict: Verdict) => contentOfKey(verdict.key) === contentOfKey(key)
  return verdicts.get(key) ?? [...verdicts.values()].find((verdict) => holdsOnAnyKubelet(verdict) && isAlike(verdict))
}

/** While nobody knows which kubelet is installed, a config that failed on any is not set free. */
export function findVerdict({ verdicts, proven }: Known, content: ContentHash, unit: Kubelet): Verdict | undefined {
  const own = findByKey(verdicts, trialKey(content, unit.kubeletIdentity))
  if (own !== undefined || !unit.isKubeletUnread) return own
  const isProven = proven !== undefined && contentOfKey(proven) === content
  const mayBeOfThis = (verdict: Verdict) => isOfFailure(verdict) && (!isProven || verdict.key === proven)
  for (const verdict of verdicts.values()) if (contentOfKey(verdict.key) === content && mayBeOfThis(verdict)) return verdict
  return undefined
}

/** The verdict that is not in force while its config is tried again. */
export function findSuspended({ suspendedVerdicts }: Pick<Snapshot, 'suspendedVerdicts'>, key: TrialKey): Verdict | undefined {
  return findByKey(suspendedVerdicts, key)
}

/**
 * On the present kubelet. While the unit cannot be read, a verdict for any kubelet binary counts,
 * so that what is reported stays the same meanwhile.
 */
export function findPresentVerdict(snapshot: Pick<Snapshot, 'unit'> & Known, content: ContentHash): Verdict | undefined {
  const { unit, verdicts } = snapshot
  if (unit.kind === 'known') return findVerdict(snapshot, content, unit)
  return [...verdicts.values()].find(({ key }) => contentOfKey(key) === content)
}

/** The verdict that is in force on a content. Pure. */
import type { ContentHash } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'
import { contentOfKey, trialKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'
import { isOfFailure, type Verdict } from './verdict.ts'

type Kubelet = Pick<KnownUnit, 'kubeletIdentity' | 'isKubeletUnread'>
type Known = Pick<Snapshot, 'verdicts' | 'proven'>

/**
 * A verdict holds on one kubelet. But a config that did damage which cannot be undone is never
 * tried again, whatever kubelet is installed later. And while nobody knows which kubelet that is,
 * one that failed on any is not set free.
 */
export function findVerdict({ verdicts, proven }: Known, content: ContentHash, unit: Kubelet): Verdict | undefined {
  const own = verdicts.get(trialKey(content, unit.kubeletIdentity))
  if (own !== undefined) return own
  const isProven = proven !== undefined && contentOfKey(proven) === content
  const mayBeOfThis = (verdict: Verdict) => unit.isKubeletUnread && isOfFailure(verdict) && (!isProven || verdict.key === proven)
  for (const verdict of verdicts.values()) {
    if (contentOfKey(verdict.key) === content && (verdict.damage === 'one-way' || mayBeOfThis(verdict))) return verdict
  }
  return undefined
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

/** The verdict that is in force on a content. Pure. */
import type { ContentHash } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'
import { contentOfKey, trialKey } from './trial-key.ts'
import type { Verdict } from './verdict.ts'

/**
 * A verdict holds on one kubelet. But a config that did damage which cannot be undone is never
 * tried again, whatever kubelet is installed later.
 */
export function findVerdict({ verdicts }: Pick<Snapshot, 'verdicts'>, content: ContentHash, kubeletIdentity: string): Verdict | undefined {
  const own = verdicts.get(trialKey(content, kubeletIdentity))
  if (own !== undefined) return own
  for (const verdict of verdicts.values()) if (verdict.damage === 'one-way' && contentOfKey(verdict.key) === content) return verdict
  return undefined
}

/**
 * On the present kubelet. While the unit cannot be read, a verdict for any kubelet binary counts,
 * so that what is reported stays the same meanwhile.
 */
export function findPresentVerdict(snapshot: Pick<Snapshot, 'unit' | 'verdicts'>, content: ContentHash): Verdict | undefined {
  const { unit, verdicts } = snapshot
  if (unit.kind === 'known') return findVerdict(snapshot, content, unit.kubeletIdentity)
  return [...verdicts.values()].find(({ key }) => contentOfKey(key) === content)
}

/**
 * Whether kubelet runs on although its next start uses another config. A healthy kubelet is
 * restarted for what the cluster assigns, for a person or for a verdict, but never for a file that
 * was lost: what is assigned is unknown then, or the checkpoint of what runs is gone, and may come
 * back. Only the next start moves, so that a kubelet that exits starts with something that exists.
 * Pure.
 */
import type { TargetSituation } from './situation.ts'
import { trialKey } from './trial-key.ts'

export function runsOn({ snapshot, unit, target }: TargetSituation): boolean {
  const { running, assigned, verdicts } = snapshot
  if (unit.activity !== 'running' || running.kind !== 'known') return false
  const verdict = verdicts.get(trialKey(running.content, unit.kubeletIdentity))
  if (verdict !== undefined && verdict.state !== 'refused') return false
  return assigned.kind === 'damaged' || (running.lost === true && target.fallback)
}

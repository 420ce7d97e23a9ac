/**
 * A kubelet that runs on although its next start uses another config. A healthy kubelet is
 * restarted for what the cluster assigns, for a person or for a verdict, but never for a file that
 * was lost: what is assigned is unknown then, or the checkpoint of what runs is gone, and may come
 * back. Nor is it for a refusal, also where no record names what runs. Only the next start moves,
 * so that a kubelet that exits starts with something that exists. Pure.
 */
import { describeSource } from './config-source.ts'
import { isIllNow } from './process-health.ts'
import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Wait } from './step.ts'
import { trialKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'
import { ASSIGNED_DAMAGED, wait } from './wait.ts'

/** undefined: kubelet is to run the target. */
export function findRunOn({ snapshot, unit, target }: TargetSituation): Wait | undefined {
  const { running, assigned, verdicts, health, now, policy } = snapshot
  if (unit.activity !== 'running' || running.kind !== 'known' || running.content === target.content) return undefined
  const verdict = verdicts.get(trialKey(running.content, unit.kubeletIdentity))
  if ((verdict !== undefined && verdict.state !== 'refused') || isIllNow(health, now.monotonicUs, policy)) return undefined
  if (assigned.kind === 'damaged') return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  if (!target.fallback) return undefined
  const next = describeSource(target.source)
  if (isRefused(snapshot, unit))
    return wait(snapshot, 'refused', `what is assigned was refused: kubelet runs on, and its next start uses ${next}`)
  if (running.lost !== true) return undefined
  return wait(snapshot, 'unknown', `the checkpoint of what kubelet runs is gone: kubelet runs on, and its next start uses ${next}`)
}

/** What is assigned was, and a refusal restarts nothing here. */
function isRefused({ assignedContent, verdicts, policy }: Snapshot, { kubeletIdentity }: KnownUnit): boolean {
  if (assignedContent === undefined || policy.whenRefused !== 'stay') return false
  return verdicts.get(trialKey(assignedContent, kubeletIdentity))?.state === 'refused'
}

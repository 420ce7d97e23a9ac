/**
 * A kubelet that starts with no config: its file is damaged, or it does not take its flags. Its
 * exits are no config's doing. Pure.
 */
import type { HealthRecord } from './health.ts'
import type { Snapshot } from './snapshot.ts'
import { identityOfKey, type TrialKey } from './trial-key.ts'

/** What has run on this node before. */
interface Past {
  readonly proven: TrialKey | undefined
  readonly health: Pick<HealthRecord, 'subject' | 'everHealthy'> | undefined
}

/** A kubelet that has been healthy refutes what preflight found of it. */
export function hasStarted(kubeletIdentity: string, { proven, health }: Past): boolean {
  const healthy = [proven, health?.everHealthy === true ? health.subject : undefined]
  return healthy.some((key) => key !== undefined && identityOfKey(key) === kubeletIdentity)
}

/** Why no kubelet runs, and none will. undefined also: one from before an upgrade still runs. */
export function findStartObstacle({ cannotStart, running, unit }: Snapshot): string | undefined {
  const isEarlier = running.kind === 'known' && unit.kind === 'known' && identityOfKey(running.key) !== unit.kubeletIdentity
  return isEarlier ? undefined : cannotStart
}

/**
 * The records of a node that nothing was assigned to yet: empty files, which mean local, so that
 * the directory shows them from the beginning. Upstream: `fsStore.Initialize` in Kubernetes 1.20
 * `pkg/kubelet/kubeletconfig/checkpoint/store/fsstore.go`. Pure.
 */
import { LOCAL } from './config-source.ts'
import type { Situation } from './situation.ts'
import type { Step } from './step.ts'

/**
 * Only where kubelet runs its local config and starts with it next: elsewhere the record was lost,
 * and what is assigned is unknown until the cluster says so.
 */
export function openRecords({ snapshot }: Situation): Step | undefined {
  const { assigned, running, nextStart, lastKnownGood, damagedFallbacks = [] } = snapshot
  if (assigned.kind !== 'source' || assigned.absent !== true || damagedFallbacks.length > 0) return undefined
  const isLocal =
    running.kind === 'known' && running.content === LOCAL.content && nextStart.kind === 'known' && nextStart.held.source === 'local'
  return isLocal ? { kind: 'open-records', lastKnownGood: lastKnownGood.source } : undefined
}

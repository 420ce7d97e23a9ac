/**
 * Measures how long a trial took that passed: from the start of kubelet with a config until that
 * config is proven. A pure fold over the snapshots. A kubelet that exits in its trial is still in
 * the same trial.
 */
import { LOCAL_CONTENT } from '../decision/config-source.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { TrialKey } from '../decision/trial-key.ts'

/** undefined: nothing is on trial. */
export type TrialTimer = { readonly key: TrialKey; readonly sinceUs: number } | undefined

export interface TimedTrial {
  readonly timer: TrialTimer
  /** undefined: no trial has passed just now. */
  readonly passedSeconds?: number
}

export function timeTrial(timer: TrialTimer, { now, running, proven }: Pick<Snapshot, 'now' | 'running' | 'proven'>): TimedTrial {
  if (timer !== undefined && timer.key === proven) return { timer: undefined, passedSeconds: (now.monotonicUs - timer.sinceUs) / 1e6 }
  // Kubelet may be between two starts of the same trial.
  if (running.kind !== 'known') return { timer }
  if (running.key === timer?.key) return { timer }
  const isOnTrial = running.content !== LOCAL_CONTENT && running.key !== proven
  return { timer: isOnTrial ? { key: running.key, sinceUs: running.startedAtUs } : undefined }
}

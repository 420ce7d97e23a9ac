// SPDX-License-Identifier: Apache-2.0
/**
 * How long a config takes to be applied, and to pass its trial, as pure folds over the snapshots
 * since the start of the agent.
 */

import type { Snapshot } from '../decision/snapshot.ts'
import { LOCAL_CONTENT } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'

export interface ApplyTimer {
  /** The desired content; undefined before anything was seen. */
  readonly wanted: string | undefined
  /** CLOCK_MONOTONIC. undefined: not timed. */
  readonly sinceUs: number | undefined
}

export const NOT_TIMED: ApplyTimer = { wanted: undefined, sinceUs: undefined }

/**
 * Measures the time from first seeing a config to a kubelet that is healthy with it. Times changes
 * only: neither the config that the agent finds at its start, nor a new version with the content
 * that already runs.
 */
export function timeApply(timer: ApplyTimer, snapshot: Snapshot): { readonly timer: ApplyTimer; readonly appliedSeconds?: number } {
  const { now, running, health } = snapshot
  const content = snapshot.desired.kind === 'local' ? 'local' : snapshot.desiredContent
  if (content === undefined) return { timer }
  const runs = running.kind === 'known' && running.content === content
  if (timer.wanted !== content) {
    const isChange = timer.wanted !== undefined && !runs
    return { timer: { wanted: content, sinceUs: isChange ? now.monotonicUs : undefined } }
  }
  if (timer.sinceUs === undefined || !runs) return { timer }
  const isHealthy = health?.subject === running.key && health.invocationId === running.invocationId && health.healthySinceUs !== undefined
  if (!isHealthy) return { timer }
  return { timer: { wanted: content, sinceUs: undefined }, appliedSeconds: (now.monotonicUs - timer.sinceUs) / 1e6 }
}

/** undefined: nothing is on trial. */
export type TrialTimer = { readonly key: TrialKey; readonly sinceUs: number } | undefined

interface TimedTrial {
  readonly timer: TrialTimer
  /** undefined: no trial has passed just now. */
  readonly passedSeconds?: number
}

/**
 * Measures how long a trial took that passed: from the start of kubelet with a config until that
 * config is proven. A kubelet that exits in its trial is still in the same trial.
 */
export function timeTrial(timer: TrialTimer, { now, running, proven }: Pick<Snapshot, 'now' | 'running' | 'proven'>): TimedTrial {
  if (timer !== undefined && timer.key === proven) return { timer: undefined, passedSeconds: (now.monotonicUs - timer.sinceUs) / 1e6 }
  // Kubelet may be between two starts of the same trial.
  if (running.kind !== 'known') return { timer }
  if (running.key === timer?.key) return { timer }
  const isOnTrial = running.content !== LOCAL_CONTENT && running.key !== proven
  return { timer: isOnTrial ? { key: running.key, sinceUs: running.startedAtUs } : undefined }
}

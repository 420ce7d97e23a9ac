/**
 * Measures the time from first seeing a config to a kubelet that is healthy with it. A pure fold
 * over the snapshots since the start of the agent. Times changes only: neither the config that the
 * agent finds at its start, nor a new version with the content that already runs.
 */
import type { Snapshot } from '../decision/snapshot.ts'

export interface ApplyTimer {
  /** The desired content; undefined before anything was seen. */
  readonly wanted: string | undefined
  /** CLOCK_MONOTONIC. undefined: not timed. */
  readonly sinceUs: number | undefined
}

export const NOT_TIMED: ApplyTimer = { wanted: undefined, sinceUs: undefined }

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

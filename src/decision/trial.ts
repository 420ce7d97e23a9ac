/**
 * The trial: uninterrupted healthy running time of one content on one kubelet. Pure;
 * CLOCK_MONOTONIC microseconds of one boot.
 */
import type { ConfigSource, ContentHash } from './config-source.ts'
import { describeSource } from './config-source.ts'
import { healthOfRunning } from './process-health.ts'
import type { Snapshot } from './snapshot.ts'
import { describeReboots } from './trial-boots.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'

const UNSETTLED_AFTER_US = 3600e6
const UNSETTLED_STARTS = 5

export interface Trial {
  readonly elapsedUs: number
  /** 0: passed. */
  readonly remainingUs: number
  readonly endsAtUs: number
}

/**
 * The trial of `key`, while a healthy process runs it. undefined: another config runs, or kubelet
 * is not healthy.
 *
 * Time runs from the later of the process's start and the beginning of its health. A process that
 * ran before an activation counts only if it runs the same content, which makes the activation no
 * change.
 */
export function measureTrial(snapshot: Snapshot, key: TrialKey): Trial | undefined {
  const { running, health } = snapshot
  return running.kind === 'known' && running.key === key && health?.subject === key ? measureHealth(snapshot, key) : undefined
}

/**
 * The same for what works, as a fallback does: also where kubelet's binary, flags or drop-ins have
 * changed since the process started. Each start may change them, so that the one that runs is never
 * the one that is installed. While nobody knows which one is installed, nothing is concluded.
 */
export function measureHealth(snapshot: Snapshot, key: TrialKey): Trial | undefined {
  const { running, health, unit, now, policy } = snapshot
  if (running.kind !== 'known' || running.content !== contentOfKey(key) || health === undefined) return undefined
  const isInstalled = running.key === health.subject
  if (unit.kind === 'unknown' || (unit.isKubeletUnread === true && !isInstalled)) return undefined
  const healthySinceUs = isInstalled ? health.healthySinceUs : healthOfRunning(snapshot)?.healthySinceUs
  // A record without recent samples says nothing about the present.
  if (healthySinceUs === undefined || health.bootId !== now.bootId || now.monotonicUs - health.lastSampleUs > policy.toleranceUs)
    return undefined
  const sinceUs = Math.max(running.startedAtUs, healthySinceUs)
  const endsAtUs = sinceUs + policy.trialUs
  return { elapsedUs: now.monotonicUs - sinceUs, remainingUs: Math.max(0, endsAtUs - now.monotonicUs), endsAtUs }
}

/**
 * Healthy without a break for as long as an illness would be tolerated. That is enough to say that
 * a fallback works where a config did not.
 */
export function isSteady(snapshot: Snapshot, key: TrialKey): boolean {
  const trial = measureHealth(snapshot, key)
  return trial !== undefined && trial.elapsedUs >= Math.min(snapshot.policy.toleranceUs, snapshot.policy.trialUs)
}

/**
 * A trial that does not end for long is not a failure of the config, but an operator should look.
 */
export function describeTrial(snapshot: Snapshot, target: { source: ConfigSource; content: ContentHash; key: TrialKey }): string {
  const { health, running, now } = snapshot
  const what = describeSource(target.source)
  if (running.kind === 'known' && running.content === target.content && running.key !== target.key) {
    return `${what} runs, but kubelet's binary, flags or drop-ins have changed since it started: trial at its next start`
  }
  const sinceUs = health?.subject === target.key ? now.monotonicUs - health.subjectSinceUs : 0
  const unsettled = sinceUs > Math.max(UNSETTLED_AFTER_US, 2 * snapshot.policy.trialUs) || (health?.starts ?? 0) > UNSETTLED_STARTS
  if (unsettled) return `trial of ${what} does not come to an end: kubelet is not healthy for long enough`
  return `trial of ${what}${describeReboots(snapshot, target.key)}`
}

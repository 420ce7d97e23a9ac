/**
 * The health of what runs, whatever kubelet starts with next. A kubelet that hangs stays ill when
 * the wanted config changes, when its binary, flags or drop-ins change on disk, and when an
 * operator resets the node. Pure; all times are CLOCK_MONOTONIC of one boot.
 */
import { chargeExits, type Interval, illSinceUs } from './between-looks.ts'
import { type HealthRecord, type HealthSample, healthyForUs, isFailing, type ProcessHealth, type Running } from './health.ts'
import type { Policy } from './policy.ts'
import type { KnownUnit } from './unit-state.ts'

/** What a fold needs to know besides the sample. */
export interface ProcessContext {
  readonly interval: Interval
  /** If the process is new, systemd has started it by itself. */
  readonly isAutomatic: boolean
  /** If the process is new, neither systemd nor the agent has started it. */
  readonly isByOthers: boolean
  /** Exits that are new, and that nothing excused when they were seen. */
  readonly chargeable: number
  /** The container runtime excuses what kubelet does. */
  readonly excused: boolean
}

export function followProcess(
  before: ProcessHealth | undefined,
  sample: HealthSample,
  unit: KnownUnit,
  context: ProcessContext,
  policy: Policy,
): ProcessHealth | undefined {
  return sample.running.kind === 'known'
    ? followRunning(before, sample, unit, context, policy)
    : before && followAbsent(before, sample, unit, context)
}

function followRunning(
  before: ProcessHealth | undefined,
  { at, running, healthz }: HealthSample,
  unit: KnownUnit,
  { interval, isAutomatic, isByOthers, chargeable, excused }: ProcessContext,
  policy: Policy,
): ProcessHealth | undefined {
  if (running.kind !== 'known') return before
  const { key, invocationId, startedAtUs } = running
  const nowUs = at.monotonicUs
  const { gap } = interval
  const same = before?.key === key ? before : undefined
  const isSameProcess = same?.invocationId === invocationId
  const isRunning = unit.activity === 'running'
  const isHealthy = isRunning && healthz?.ok !== 'unknown' && !isFailing(healthz)
  const isIll = !excused && ((isRunning && isFailing(healthz)) || unit.activity === 'starting')
  const healthySinceUs = isHealthy ? (gap || !isSameProcess ? nowUs : (same.healthySinceUs ?? nowUs)) : undefined
  // A person who starts kubelet gives it its time again. Systemd, which counts its restarts, does
  // not.
  const isContinued = same !== undefined && (isSameProcess || (isAutomatic && !gap))
  const settled = healthyForUs(healthySinceUs, startedAtUs, nowUs) >= policy.trialUs
  // It has not exited since the last look, which is long ago: its crash loop is over.
  const outlived = gap && isSameProcess && isHealthy
  const isIllThroughout = isIll && same?.unhealthySinceUs !== undefined
  const charged = same === undefined || isSameProcess || excused ? 0 : chargeExits(chargeable, interval, isIllThroughout)
  return {
    key,
    invocationId,
    startedAtUs,
    wasHealthy: isHealthy || (isSameProcess && same.wasHealthy),
    healthySinceUs,
    unhealthySinceUs: isIll ? illSinceUs(isContinued ? same.unhealthySinceUs : undefined, interval) : undefined,
    exits: settled || outlived ? 0 : (same?.exits ?? 0) + charged,
    startedByOthers: (isSameProcess || (isAutomatic && same !== undefined) ? same.startedByOthers : isByOthers) || undefined,
  }
}

/** No process is known to run: between two starts kubelet is ill with what ran last. */
function followAbsent(
  before: ProcessHealth,
  { running }: HealthSample,
  unit: KnownUnit,
  { interval, chargeable, excused }: ProcessContext,
): ProcessHealth {
  // What cannot be read is unknown: no health, and no more illness than before.
  const isSame = unit.invocationId === before.invocationId
  const isSameUnread = running.kind === 'unknown' && isSame
  const wasIll = before.unhealthySinceUs !== undefined
  const isDown = unit.activity === 'auto-restart' || unit.activity === 'failed' || unit.activity === 'starting'
  const isIll = !excused && ((running.kind === 'none' && isDown) || (isSameUnread && wasIll))
  const charged = excused ? 0 : chargeExits(chargeable, interval, isIll && wasIll)
  // A start that is queued is no illness, and ends none.
  const staysIll = !excused && unit.activity === 'queued' && wasIll
  const sinceUs = isIll || staysIll ? illSinceUs(interval.gap && !isSame ? undefined : before.unhealthySinceUs, interval) : undefined
  return { ...before, healthySinceUs: undefined, unhealthySinceUs: sinceUs, exits: before.exits + charged }
}

/** undefined: none runs, or nothing is known of its health yet. */
export function healthOfRunning({ running, health }: RunningHealth): ProcessHealth | undefined {
  const process = health?.process
  return running.kind === 'known' && process?.invocationId === running.invocationId ? process : undefined
}

/** As in a Snapshot. */
interface RunningHealth {
  readonly running: Running
  readonly health: HealthRecord | undefined
}

/**
 * Whether what runs, or ran last where nothing runs, has been ill for longer than is tolerated.
 * Leaving it costs the node nothing.
 */
export function isLongIll(health: HealthRecord | undefined, nowUs: number, policy: Policy): boolean {
  const process = health?.process
  if (process === undefined) return false
  if (process.unhealthySinceUs !== undefined && nowUs - process.unhealthySinceUs > policy.toleranceUs) return true
  const isSteady = healthyForUs(process.healthySinceUs, process.startedAtUs, nowUs) > policy.toleranceUs
  return process.exits >= policy.crashLimit && !isSteady
}

/**
 * Whether it has been ill for long, and is ill now. A process that is well, that has just started,
 * or of which nothing is known, runs on, however long the ones before it were ill, and however
 * often they exited: with its own next exit, systemd starts something else anyway.
 */
export function isIllNow(health: HealthRecord | undefined, nowUs: number, policy: Policy): boolean {
  const process = health?.process
  if (process?.unhealthySinceUs === undefined || nowUs - process.startedAtUs <= policy.toleranceUs) return false
  return isLongIll(health, nowUs, policy)
}

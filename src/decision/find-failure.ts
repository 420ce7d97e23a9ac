/**
 * Whether what kubelet starts with next has failed, by the record of its health. Applies at any
 * time, on trial or long promoted. Pure.
 */
import type { EvidenceKind } from '../evidence/kinds.ts'
import { isExcuseUsedUp, isSubjectExcused } from './excuse.ts'
import { countRecurringExits, countVaryingExits, describeRecurringExits } from './exit-log.ts'
import { type HealthRecord, type HealthSample, healthyForUs } from './health.ts'
import { areLatestAlike, explain, wasAddressTaken } from './last-words.ts'
import type { Policy } from './policy.ts'
import { isStartAwaited, isStartRefused } from './unit-starts.ts'
import type { KnownUnit } from './unit-state.ts'
import type { FailureReason } from './verdict.ts'

export interface HealthFailure {
  readonly reason: Extract<FailureReason, 'crash-loop' | 'start-deadline' | 'ill-health' | 'evidence' | 'reboots'>
  readonly detail: string
  /** See `Verdict.damage`. */
  readonly damage: 'transient' | 'one-way'
  /** The kind of evidence that says no. */
  readonly evidence?: EvidenceKind
  /** The node itself may be the cause. */
  readonly doubtful?: true
  /** It happened over many starts, so one more start would show nothing. */
  readonly recurring?: true
  /** See `Verdict.anyKubelet`. */
  readonly anyKubelet?: true
}

type FailureSample = Pick<HealthSample, 'unit' | 'at' | 'runtimeUp' | 'changesRuntime' | 'portTaken'>

export function findFailure(record: HealthRecord, sample: FailureSample, policy: Policy): HealthFailure | undefined {
  const { unit, at } = sample
  if (!record.started || unit.kind === 'unknown') return undefined
  if (isSubjectExcused(record.runtimeDownSinceUs, record, sample)) return undefined
  return (isStartAwaited(record, unit) ? undefined : findExits(record, sample, policy)) ?? findIllness(record, at.monotonicUs, policy)
}

function findExits(
  record: HealthRecord,
  { unit, at, runtimeUp, changesRuntime }: FailureSample,
  policy: Policy,
): HealthFailure | undefined {
  if (unit.kind === 'unknown') return undefined
  const varying = countVaryingExits(record, at.monotonicUs, policy)
  const exits = Math.max(record.exits, varying)
  const doubt: Pick<HealthFailure, 'doubtful'> = wasAddressTaken(record) ? { doubtful: true } : {}
  const failure = { reason: 'crash-loop', damage: 'transient', ...doubt } as const
  // Without its runtime, kubelet exits with the same last words whatever its config.
  const isRuntimeInnocent = (runtimeUp === true || changesRuntime === true) && !isExcuseUsedUp(record.excusedExits, at.monotonicUs)
  const isLoop = exits >= policy.crashLimit || (exits > 1 && isRuntimeInnocent && areLatestAlike(record))
  if (isLoop && !isOutOfLoop(record, unit, at.monotonicUs, policy))
    return { ...failure, detail: explain(`kubelet exited ${exits} times`, record), ...(varying > 0 && { anyKubelet: true }) }
  if (unit.activity === 'failed' && !record.excused && !isStartRefused(record, unit, at.monotonicUs, policy))
    return { ...failure, detail: explain(`systemd gave kubelet up: ${unit.summary}`, record) }
  const recurring = countRecurringExits(record, at.monotonicUs)
  return recurring?.failed === true && !recurring.isOver
    ? { ...failure, detail: explain(describeRecurringExits(recurring), record), recurring: true }
    : undefined
}

/**
 * Whether kubelet has been healthy for a while since it exited. Its exits are forgotten after a
 * whole trial alone.
 */
export function isOutOfLoop(
  { healthySinceUs }: HealthRecord,
  { startedAtUs }: Pick<KnownUnit, 'startedAtUs'>,
  nowUs: number,
  { toleranceUs }: Policy,
): boolean {
  return healthyForUs(healthySinceUs, startedAtUs, nowUs) > toleranceUs
}

function findIllness(record: HealthRecord, nowUs: number, policy: Policy): HealthFailure | undefined {
  if (record.unhealthySinceUs === undefined) return undefined
  const illUs = nowUs - record.unhealthySinceUs
  const doubt: Pick<HealthFailure, 'doubtful'> = record.strangerHadPort === true ? { doubtful: true } : {}
  const failure = { damage: 'transient', ...doubt } as const
  if (record.wasHealthy && illUs > policy.toleranceUs) {
    return { ...failure, reason: 'ill-health', detail: `kubelet was not healthy for ${seconds(illUs)} s: ${record.lastDetail}` }
  }
  if (!record.wasHealthy && illUs > policy.startDeadlineUs) {
    return {
      ...failure,
      reason: 'start-deadline',
      detail: `kubelet was not healthy ${seconds(illUs)} s after its start: ${record.lastDetail}`,
    }
  }
  return undefined
}

function seconds(us: number): number {
  return Math.round(us / 1e6)
}

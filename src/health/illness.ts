// SPDX-License-Identifier: Apache-2.0
/**
 * Since when kubelet has been healthy, or ill: of what it starts with next, and of a process. Pure.
 */
import type { TrialKey } from '../subject/trial-key.ts'
import { isFlag, isNumber, optional, orUndefined, shape, type TypeOf } from '../values/json-shape.ts'
import { type Excuse, mayLackRuntime } from './excuse.ts'
import { type Fold, type HealthPolicy, illSinceUs } from './looks.ts'
import { hasEnded, isDown, isStrangers, isUnexecuted, type SampleHealth } from './sample.ts'

/**
 * The times of the config that kubelet starts with next, and of the process that runs, each by
 * itself.
 */
export const isTimes = shape({
  /** The process with this InvocationID has been healthy at least once. */
  wasHealthy: isFlag,
  healthySinceUs: orUndefined(isNumber),
  unhealthySinceUs: orUndefined(isNumber),
})
type Times = TypeOf<typeof isTimes>

export const isIllness = shape({
  ...isTimes.fields,
  /**
   * A process with the subject's content has been healthy since the subject changed or a restart
   * was requested.
   */
  everHealthy: isFlag,
  /**
   * At some time since then, somebody else had the port to which the config moved kubelet. Only
   * they know when they let go of it.
   */
  strangerHadPort: optional(isFlag),
  /**
   * The last look at which, or before which, the container runtime did not answer, whether that
   * excused kubelet or not. Kubelet has not been up since. undefined: there was none since the
   * process or the illness began.
   */
  lackedRuntimeUs: optional(isNumber),
  /**
   * Since when systemd has not executed kubelet, if that was so when the illness began, or in a
   * whole start. undefined: it has, at least before in this illness.
   */
  unexecutedSinceUs: optional(isNumber),
})
export type Illness = TypeOf<typeof isIllness>

/** As in the record of the process. */
interface Processes {
  readonly process?: (Times & { readonly key: TrialKey; readonly invocationId: string }) | undefined
}

interface Continuity {
  /** The process is the same as before. */
  readonly isSame: boolean
  /** Since when the illness of before goes on. undefined: there was none, or it is over. */
  readonly illBeforeUs: number | undefined
}

/** @param before of the same subject, or of processes with the same key */
export function followTimes(
  before: Times | undefined,
  condition: SampleHealth,
  { unit, nowUs, interval }: Fold<unknown>,
  { isSame, illBeforeUs }: Continuity,
): Times {
  const isHealthy = condition === 'healthy'
  // Rule 27: the health of one process says nothing of the next, even if both were healthy at two
  // looks in a row.
  const healthyBeforeUs = interval.gap || !isSame ? undefined : before?.healthySinceUs
  // A start that is queued is no illness, and ends none.
  const isIll = condition === 'ill' || (condition === 'unclear' && unit.activity === 'queued' && illBeforeUs !== undefined)
  return {
    wasHealthy: isHealthy || (isSame && before?.wasHealthy === true),
    healthySinceUs: isHealthy ? (healthyBeforeUs ?? nowUs) : undefined,
    unhealthySinceUs: isIll ? illSinceUs(illBeforeUs, interval) : undefined,
  }
}

/**
 * The illness of the config that kubelet starts with next.
 *
 * @param isUp kubelet needs its runtime no longer to start
 */
export function foldIllness(fold: Fold<Illness & Excuse & Processes>, condition: SampleHealth, isUp: boolean): Illness {
  const { known, same, ofProcess, sample, unit, subject, nowUs, interval, isAutomatic } = fold
  // Rule 29: an operator who restarts kubelet gives it its start deadline again. Systemd, which
  // counts its own restarts, does not, and no start does while kubelet is never executed.
  // Rule 30: except after a process that began without its runtime. That one exits, also where the
  // runtime answers by then.
  const isStillUnexecuted = same?.unexecutedSinceUs !== undefined && isUnexecuted(unit)
  const goesOn = ofProcess !== undefined || isStillUnexecuted || (isAutomatic && !interval.gap && same?.beganExcused !== true)
  // The time before kubelet was executed is not its own, either.
  const isExecutedNow = known?.unexecutedSinceUs !== undefined && !isUnexecuted(unit)
  const illBeforeUs = goesOn && !isExecutedNow ? same?.unhealthySinceUs : undefined
  const times = followTimes(same, condition, fold, { isSame: ofProcess !== undefined, illBeforeUs })
  const hadStranger = isStrangers(sample.healthz) || (illBeforeUs !== undefined && same?.strangerHadPort === true)
  const goesOnLacking = ofProcess !== undefined || illBeforeUs !== undefined
  const lackedRuntimeUs = mayLackRuntime(fold) ? nowUs : goesOnLacking ? same?.lackedRuntimeUs : undefined
  // The record of the process has it from before the config became what kubelet starts with next,
  // too.
  const process = known?.process
  const wasHealthy = process?.key === subject && process.invocationId === unit.invocationId && process.wasHealthy
  const { healthySinceUs, unhealthySinceUs } = times
  const wasNotExecuted = illBeforeUs === undefined || known?.unexecutedSinceUs !== undefined
  // Whoever stops the unit ends the start, too.
  const isNotExecuted = isUnexecuted(unit) && isDown(unit.activity) && (hasEnded(unit.activity) || wasNotExecuted)
  return {
    healthySinceUs,
    unhealthySinceUs,
    wasHealthy: times.wasHealthy || wasHealthy,
    everHealthy: condition === 'healthy' || same?.everHealthy === true,
    strangerHadPort: (unhealthySinceUs !== undefined && hadStranger) || undefined,
    lackedRuntimeUs: isUp ? undefined : lackedRuntimeUs,
    unexecutedSinceUs: isNotExecuted ? illSinceUs(known?.unexecutedSinceUs, interval) : undefined,
  }
}

/**
 * For how long a process has been healthy without a break. Health that began before it started is
 * not its own.
 *
 * @returns less than any time if it is not healthy
 */
export function healthyForUs(healthySinceUs: number | undefined, startedAtUs: number, nowUs: number): number {
  return healthySinceUs === undefined ? Number.NEGATIVE_INFINITY : nowUs - Math.max(healthySinceUs, startedAtUs)
}

/**
 * Whether kubelet has been healthy for a while since it exited. Its exits are forgotten after a
 * whole trial alone.
 */
export function isOutOfLoop(
  { healthySinceUs }: Pick<Illness, 'healthySinceUs'>,
  { startedAtUs }: { readonly startedAtUs: number },
  nowUs: number,
  { toleranceUs }: HealthPolicy,
): boolean {
  return healthyForUs(healthySinceUs, startedAtUs, nowUs) > toleranceUs
}

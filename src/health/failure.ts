// SPDX-License-Identifier: Apache-2.0
/**
 * Whether what kubelet starts with next has failed, by the record of its health. Applies at any
 * time, on trial or long promoted. Pure.
 */
import type { KnownUnit } from '../subject/unit-state.ts'
import { isExcused, isExcuseUsedUp } from './excuse.ts'
import { isStartRefused } from './exits.ts'
import type { HealthRecord } from './fold.ts'
import { isOutOfLoop } from './illness.ts'
import { areLatestAlike, mayBeNodes, withLastWords } from './last-words.ts'
import type { HealthPolicy } from './looks.ts'
import { countRecurringExits, countVaryingExits, describeRecurringExits, listOfContent } from './recurring-exits.ts'
import { type HealthSample, WHY_UNEXECUTED } from './sample.ts'
import { isStartAwaited } from './starts.ts'

/** Why a config has failed, as the health of kubelet shows it. */
export interface HealthFailure {
  readonly reason: 'crash-loop' | 'start-deadline' | 'ill-health'
  readonly detail: string
  /** See `Verdict.damage`. */
  readonly damage: 'transient'
  /** The node itself may be the cause. */
  readonly doubtful?: true
  /** The failure happened over many starts, so one more start would show nothing. */
  readonly recurring?: true
  /** See `Verdict.anyKubelet`. */
  readonly anyKubelet?: true
}

type FailureSample = Pick<HealthSample, 'unit' | 'at' | 'runtimeUp' | 'changesRuntime' | 'portTaken'>

export function findFailure(record: HealthRecord, sample: FailureSample, policy: HealthPolicy): HealthFailure | undefined {
  const { unit, at } = sample
  if (!record.started || unit.kind === 'unknown' || isExcused(record, sample)) return undefined
  const crashes = isStartAwaited(record, unit) ? undefined : findExits(record, sample, unit, policy)
  return crashes ?? findIllness(record, at.monotonicUs, policy)
}

function findExits(
  record: HealthRecord,
  { at, runtimeUp, changesRuntime }: FailureSample,
  unit: KnownUnit,
  policy: HealthPolicy,
): HealthFailure | undefined {
  const nowUs = at.monotonicUs
  const varying = countVaryingExits(record, nowUs, policy)
  const exits = Math.max(record.exits, varying)
  // Rule 21: two exits with the same last words are a crash loop, where the runtime is not the
  // reason for them.
  const isRuntimeInnocent = (runtimeUp === true || changesRuntime === true) && !isExcuseUsedUp(record.excusedExits, nowUs)
  // Rule 20: so are as many exits as the limit, unless kubelet has been healthy for a while by now.
  const isLoop = exits >= policy.crashLimit || (exits > 1 && isRuntimeInnocent && areLatestAlike(record))
  if (isLoop && !isOutOfLoop(record, unit, nowUs, policy))
    return { ...failByExits(record, `kubelet exited ${exits} times`, exits), ...(varying > 0 && { anyKubelet: true }) }
  // Rule 22: systemd has given kubelet up, however many exits there were.
  if (unit.activity === 'failed' && !record.excused && !isStartRefused(record, unit, nowUs, policy)) return giveUp(record, unit)
  const recurring = countRecurringExits(record, nowUs)
  if (recurring?.failed !== true || recurring.isOver) return undefined
  const failure = failByExits(record, describeRecurringExits(recurring), recurring.exits)
  return { ...failure, recurring: true, ...(recurring.isVarying && { anyKubelet: true }) }
}

/** Whether a fallback would be executed, nobody knows. */
function giveUp(record: HealthRecord, { summary }: KnownUnit): HealthFailure {
  const what = `systemd gave kubelet up: ${summary}`
  if (record.unexecutedSinceUs === undefined) return failByExits(record, what, record.exits)
  return { reason: 'crash-loop', detail: `${what}, since ${WHY_UNEXECUTED}`, damage: 'transient', doubtful: true }
}

/** @param counted how many of the latest exits make the failure */
function failByExits(record: HealthRecord, what: string, counted: number): HealthFailure {
  const those = counted === 0 ? [] : listOfContent(record).slice(-counted)
  // Without its runtime, kubelet exits whatever its config.
  const isRuntimes = record.lackedRuntimeUs !== undefined || those.some(({ lackedRuntime }) => lackedRuntime === true)
  const isDoubtful = isRuntimes || mayBeNodes(record)
  return { reason: 'crash-loop', detail: withLastWords(what, record), damage: 'transient', ...(isDoubtful && { doubtful: true }) }
}

/**
 * Rule 31: one that was never healthy has until the start deadline, and one that was the tolerance.
 */
function findIllness(record: HealthRecord, nowUs: number, policy: HealthPolicy): HealthFailure | undefined {
  const { unhealthySinceUs, wasHealthy, strangerHadPort, lackedRuntimeUs, unexecutedSinceUs, lastDetail } = record
  const illUs = nowUs - (unhealthySinceUs ?? nowUs)
  if (illUs <= (wasHealthy ? policy.toleranceUs : policy.startDeadlineUs)) return undefined
  const isUnexecuted = unexecutedSinceUs !== undefined
  const seconds = Math.round(illUs / 1e6)
  const since = isUnexecuted
    ? `for ${seconds} s, since ${WHY_UNEXECUTED}`
    : wasHealthy
      ? `for ${seconds} s`
      : `${seconds} s after its start`
  return {
    reason: wasHealthy ? 'ill-health' : 'start-deadline',
    detail: `kubelet was not healthy ${since}: ${lastDetail}`,
    damage: 'transient',
    ...((strangerHadPort === true || lackedRuntimeUs !== undefined || isUnexecuted) && { doubtful: true }),
  }
}

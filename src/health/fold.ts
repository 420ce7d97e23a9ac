// SPDX-License-Identifier: Apache-2.0
/**
 * Health over time: folds looks into the record that decides on trial, promotion and rollback.
 * Pure; all times are CLOCK_MONOTONIC of one boot. Only what is known counts: a gap between looks
 * is neither health nor illness. `docs/health.md` has the rules, and their numbers.
 */
import type { ContentHash } from '../subject/config-source.ts'
import { contentOfKey, type TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { isText, shape, type TypeOf } from '../values/json-shape.ts'
import { findExcused, foldExcuse, isExcuse } from './excuse.ts'
import { foldExits, isExits } from './exits.ts'
import { foldIllness, healthyForUs, isIllness } from './illness.ts'
import { beginInterval, type Fold, foldLooks, type HealthPolicy, isLooks } from './looks.ts'
import { foldProcess, isProcess, rememberProcess } from './process.ts'
import { classifySample, describeSample, type HealthSample } from './sample.ts'
import { foldStarts, isStartedByOthers, isStartedBySystemd, isStarts } from './starts.ts'

/**
 * Health over time, folded from samples. Kept in /run, so that a restarted agent neither forgets
 * nor assumes anything.
 */
export const isHealthRecord = shape({
  bootId: isText,
  ...isStarts.fields,
  ...isLooks.fields,
  ...isIllness.fields,
  ...isExcuse.fields,
  ...isExits.fields,
  ...isProcess.fields,
  lastDetail: isText,
})
export type HealthRecord = TypeOf<typeof isHealthRecord>

/**
 * @param subject what kubelet starts with next, on the installed kubelet
 * @returns undefined until systemd has answered once
 */
export function recordSample(
  before: HealthRecord | undefined,
  sample: HealthSample,
  subject: TrialKey,
  policy: HealthPolicy,
): HealthRecord | undefined {
  const { unit, at, healthz } = sample
  // Rule 1: all times are of one boot, and where systemd does not answer, nothing changes.
  const known = before?.bootId === at.bootId ? before : undefined
  if (unit.kind === 'unknown') return known
  const fold = beginFold(known, sample, unit, subject, policy)
  const { nowUs, runsSubject } = fold
  const { hasBegun, ...starts } = foldStarts(fold)
  const excused = findExcused(fold, starts)
  const condition = classifySample(sample, { hasBegun, runsSubject, isExcused: excused.subject })
  const illness = foldIllness(fold, condition)
  // Rule 19: a config that ran for a whole trial without a break starts again at zero. Three
  // crashes in a year are not a crash loop.
  const isSettled = healthyForUs(illness.healthySinceUs, unit.startedAtUs, nowUs) >= policy.trialUs
  const judged = foldExits(fold, { starts, excused, condition, isSettled })
  // Without a health port, all that is known is that it runs: it may still ask for its runtime.
  const isUp = condition === 'healthy' && (healthz !== undefined || nowUs - unit.startedAtUs > policy.toleranceUs)
  return {
    bootId: at.bootId,
    ...starts,
    ...foldLooks(fold),
    ...illness,
    ...foldExcuse(fold, excused, { isUp, isSettled, exits: judged.excused }),
    ...judged.exits,
    ...foldProcess(fold, excused.process, judged.ofProcess),
    lastDetail: describeSample(sample),
  }
}

function beginFold(
  known: HealthRecord | undefined,
  sample: HealthSample,
  unit: KnownUnit,
  subject: TrialKey,
  policy: HealthPolicy,
): Fold<HealthRecord> {
  const nowUs = sample.at.monotonicUs
  const ofContent = known !== undefined && contentOfKey(known.subject) === contentOfKey(subject) ? known : undefined
  // Rule 2: another subject begins anew.
  const same = known?.subject === subject ? known : undefined
  return {
    sample,
    unit,
    nowUs,
    subject,
    policy,
    known,
    ofContent,
    same,
    ofProcess: same?.invocationId === unit.invocationId ? same : undefined,
    interval: beginInterval(known, unit, nowUs, policy),
    runsSubject: sample.running.kind === 'known' && sample.running.key === subject,
    isAutomatic: known !== undefined && isStartedBySystemd(known, unit),
    isByOthers: isStartedByOthers(known, unit, nowUs),
  }
}

/** Updates only the running process: the content of the next start is unknown. */
export function recordProcess(record: HealthRecord, sample: HealthSample, kubeletIdentity: string): HealthRecord {
  const lastProcess = rememberProcess(record.lastProcess, sample, kubeletIdentity)
  return lastProcess === record.lastProcess ? record : { ...record, lastProcess }
}

/**
 * Rule 46: a restart was requested, so kubelet's silence after that start is charged to the
 * subject, and what it did before is no illness any more. Its exits still count.
 */
export function expectStart(record: HealthRecord | undefined, nowUs: number, { startDeadlineUs }: HealthPolicy): HealthRecord | undefined {
  if (record === undefined) return undefined
  return {
    ...record,
    started: true,
    startedSinceUs: record.startedSinceUs ?? nowUs,
    everHealthy: false,
    unhealthySinceUs: undefined,
    restartedFrom: record.invocationId,
    restartDueUntilUs: nowUs + startDeadlineUs,
  }
}

/**
 * Rule 47: what failed is tried once more, and starts at zero.
 *
 * @param isRequested false: systemd is about to restart kubelet anyway
 */
export function expectAnotherTry(
  record: HealthRecord,
  nowUs: number,
  { startDeadlineUs }: HealthPolicy,
  isRequested: boolean,
): HealthRecord {
  return {
    ...clearIllness(record),
    started: true,
    restartedFrom: record.invocationId,
    restartDueUntilUs: isRequested ? nowUs + startDeadlineUs : undefined,
    triedAgainUs: nowUs,
  }
}

/**
 * Rule 48: while an operator has paused the agent, the operator answers for what happens to
 * kubelet. The exits are only counted, so that a crash loop that nothing ends is reported.
 */
export function forgetIllness(record: HealthRecord): HealthRecord {
  return { ...clearIllness(record), pausedExits: (record.pausedExits ?? 0) + record.exits || undefined, recentExits: [] }
}

function clearIllness(record: HealthRecord): HealthRecord {
  const process = record.process && { ...record.process, exits: 0, unhealthySinceUs: undefined }
  return { ...record, exits: 0, excusedExits: undefined, unhealthySinceUs: undefined, process }
}

/**
 * Rule 49: the exits that were charged before are not charged again, and illness goes on.
 *
 * @param of on whatever kubelet. undefined: to any config
 */
export function forgetExits(record: HealthRecord, of?: ContentHash): HealthRecord {
  const recentExits = of === undefined ? [] : record.recentExits?.filter(({ key }) => contentOfKey(key) !== of)
  return { ...record, exits: 0, excusedExits: undefined, recentExits }
}

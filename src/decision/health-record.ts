/**
 * Health over time: folds samples into the record that decides on trial, promotion and rollback.
 * Pure; all times are CLOCK_MONOTONIC of one boot. Only what is known counts: a gap between samples
 * is neither health nor illness.
 */
import { beginInterval, chargeExits, type Interval, illSinceUs } from './between-looks.ts'
import { isMissing } from './config-source.ts'
import { describeSample } from './describe-sample.ts'
import { addExcused, followRuntime, isExcuse, isExcuseUsedUp, isSubjectExcused, RUNTIME_EXCUSE_US } from './excuse.ts'
import { ageExits, logExits } from './exit-log.ts'
import { type HealthRecord, type HealthSample, healthyForUs, isStrangers, type ProcessHealth } from './health.ts'
import { type ChargedExits, findNewExits, isAlive, isOfWhatRanLast } from './new-exits.ts'
import type { Policy } from './policy.ts'
import { followProcess } from './process-health.ts'
import { classifySample, isDown, needsStart, type SampleHealth } from './sample-condition.ts'
import { presumeProcess, rememberProcess } from './seen-process.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'
import { countAtStart, isNewInvocation, isStartAwaited, isStartedByOthers, isStartedBySystemd, isStartRefused } from './unit-starts.ts'
import type { KnownUnit } from './unit-state.ts'

/** One sample, and the record of the samples before, into which it is folded. */
interface Fold {
  readonly sample: HealthSample
  readonly unit: KnownUnit
  readonly nowUs: number
  readonly subject: TrialKey
  readonly policy: Policy
  /** The record of this boot. */
  readonly known: HealthRecord | undefined
  /** The same, if it is about this subject. */
  readonly same: HealthRecord | undefined
  /** The same, if it is also about this invocation of the unit. */
  readonly ofProcess: HealthRecord | undefined
  readonly interval: Interval
  /** As in the interval. */
  readonly gap: boolean
  readonly runsSubject: boolean
  /** If the process is new, systemd has started it by itself. */
  readonly isAutomatic: boolean
}

/**
 * @param subject what kubelet starts with next, on the installed kubelet. Another subject starts a
 * new record.
 * @returns undefined until systemd has answered once.
 */
export function recordSample(
  before: HealthRecord | undefined,
  sample: HealthSample,
  subject: TrialKey,
  policy: Policy,
): HealthRecord | undefined {
  const { unit, at } = sample
  const known = before?.bootId === at.bootId ? before : undefined
  if (unit.kind === 'unknown') return known
  const fold = beginFold(known, sample, unit, subject, policy)
  const { nowUs, same, interval, runsSubject, isAutomatic } = fold
  const { hasBegun, ...start } = followStart(fold)
  const runtime = followRuntimeExcuse(fold, start)
  const condition = classifySample(sample, { hasBegun, runsSubject, isExcused: runtime.isExcused })
  const times = followCondition(fold, condition)
  const excused = isDownExcused(fold, runtime)
  const exits = judgeExits(fold, { start, runtime, condition, excused })
  // Without a health port, all that is known is that it runs: it may still ask for its runtime.
  const isUp = condition === 'healthy' && (sample.healthz !== undefined || nowUs - unit.startedAtUs > policy.toleranceUs)
  const isSettled = healthyForUs(times.healthySinceUs, unit.startedAtUs, nowUs) >= policy.trialUs
  // A config that ran for a whole trial without a break starts again at zero: three crashes in a
  // year are not a crash loop.
  const exitCount = isSettled ? 0 : (same?.exits ?? 0) + exits.unseen + Number(exits.seen)
  const isByOthers = known === undefined || isStartedByOthers(known, unit, nowUs)
  const context = { interval, isAutomatic, isByOthers, chargeable: exits.chargeable, excused: isProcessExcused(fold, runtime) }
  return {
    bootId: at.bootId,
    subject,
    ...start,
    invocationId: unit.invocationId,
    ...times,
    lastSampleUs: nowUs,
    lateLooks: interval.lateLooks || undefined,
    lastLateUs: interval.lastLateUs,
    restartsAtUs: unit.restartWait?.untilUs,
    excused,
    beganExcused: runtime.beganExcused && !isUp,
    runtimeDownSinceUs: runtime.downSinceUs,
    exits: exitCount,
    pausedExits: isSettled ? undefined : same?.pausedExits,
    excusedExits: isSettled ? undefined : addExcused(same?.excusedExits, exits.excused, nowUs),
    lastNRestarts: unit.nRestarts,
    firstNRestarts: countAtStart(known, unit),
    takenDownOf: unit.down?.endedWith === undefined ? known?.takenDownOf : unit.invocationId,
    exitSeenOf: exits.exitSeenOf,
    lastProcess:
      known === undefined ? presumeProcess(sample, unit, subject) : rememberProcess(known.lastProcess, sample, unit.kubeletIdentity),
    process: followProcess(known?.process, sample, unit, context, policy),
    recentExits: logAll(fold, exits),
    ...followRequest(fold),
    triedAgainUs: same?.triedAgainUs,
    lastDetail: describeSample(sample),
  }
}

/** Updates only the running process: the content of the next start is unknown. */
export function recordProcess(record: HealthRecord, sample: HealthSample, kubeletIdentity: string): HealthRecord {
  const lastProcess = rememberProcess(record.lastProcess, sample, kubeletIdentity)
  return lastProcess === record.lastProcess ? record : { ...record, lastProcess }
}

function beginFold(known: HealthRecord | undefined, sample: HealthSample, unit: KnownUnit, subject: TrialKey, policy: Policy): Fold {
  const nowUs = sample.at.monotonicUs
  const same = known?.subject === subject ? known : undefined
  const interval = beginInterval(known, unit, nowUs, policy)
  return {
    sample,
    unit,
    nowUs,
    subject,
    policy,
    known,
    same,
    ofProcess: same?.invocationId === unit.invocationId ? same : undefined,
    interval,
    gap: interval.gap,
    runsSubject: sample.running.kind === 'known' && sample.running.key === subject,
    isAutomatic: known !== undefined && isStartedBySystemd(known, unit),
  }
}

interface Start
  extends Pick<HealthRecord, 'subjectSinceUs' | 'contentSinceUs' | 'starts' | 'started' | 'startedSinceUs' | 'startedByOthers'> {
  /** False also where the unit still shows what was before the restart that was requested. */
  readonly hasBegun: boolean
}

/** Whether, how often and by whom kubelet was started with the subject. */
function followStart({ known, same, ofProcess, unit, nowUs, subject, runsSubject }: Fold): Start {
  // In the first record of a boot, every process since then was started with what is activated,
  // since only the agent changes that. But one that systemd gave up before may have failed with
  // what was there before: it is charged from its next start on. And an invocation that began under
  // this record was started with its subject, even if it died before a look. So was one that began
  // after kubelet was upgraded on disk, which makes the same content another subject.
  const isSameContent = known !== undefined && contentOfKey(known.subject) === contentOfKey(subject)
  const startedSinceUpgrade = isSameContent && known.invocationId !== unit.invocationId
  // A record about what the disk did not return has followed nothing yet.
  const isFirst = known === undefined || isMissing(contentOfKey(known.subject))
  const isNew = ofProcess === undefined
  const startedBefore = same === undefined ? (isFirst && !needsStart(unit.activity)) || startedSinceUpgrade : same.started || isNew
  const started = runsSubject || (startedBefore && unit.activity !== 'stopped')
  const isAwaited = same !== undefined && isStartAwaited(same, unit)
  return {
    subjectSinceUs: same?.subjectSinceUs ?? nowUs,
    contentSinceUs: isSameContent ? (known.contentSinceUs ?? known.subjectSinceUs) : nowUs,
    starts: same === undefined ? Number(runsSubject || startedSinceUpgrade) : same.starts + Number(isNew),
    started,
    startedSinceUs: started ? (same?.started === true ? same.startedSinceUs : nowUs) : undefined,
    // Whoever starts kubelet may make another one of it by that, such as with an upgrade.
    startedByOthers: isSameContent ? known.startedByOthers === true || isStartedByOthers(known, unit, nowUs) : isFirst,
    hasBegun: started && (runsSubject || !isAwaited),
  }
}

/** What is still expected of the restart that was requested. */
function followRequest({ same, unit, isAutomatic }: Fold): Pick<HealthRecord, 'restartedFrom' | 'restartDueUntilUs'> {
  if (same === undefined) return {}
  // A process that makes way for the next one was there before: systemd has started it a moment
  // before the request, and `reset-failed` has put back the count that tells so.
  const makesWay = unit.activity === 'stopping' || unit.activity === 'queued'
  // Whoever stops what was started since then stops what was requested, too.
  const isOver = unit.activity === 'stopped' && !isStartAwaited(same, unit)
  const isStillDue = !isOver && (isAutomatic || makesWay || !isNewInvocation(same, unit))
  return {
    restartedFrom: isStartAwaited(same, unit) ? same.restartedFrom : undefined,
    restartDueUntilUs: isStillDue ? same.restartDueUntilUs : undefined,
  }
}

interface RuntimeExcuse {
  /** Since when the container runtime has not answered. */
  readonly downSinceUs: number | undefined
  /** It has excused so much that it excuses nothing more. */
  readonly isUsedUp: boolean
  /** It excuses the subject now. */
  readonly isExcused: boolean
  /** It excused this invocation when that began. */
  readonly beganExcused: boolean
}

function followRuntimeExcuse(
  fold: Fold,
  { startedSinceUs, subjectSinceUs }: Pick<HealthRecord, 'startedSinceUs' | 'subjectSinceUs'>,
): RuntimeExcuse {
  const { known, same, ofProcess, sample, nowUs, gap } = fold
  const downSinceUs = followRuntime(known?.runtimeDownSinceUs, sample, gap)
  const excusedExits = same?.excusedExits
  const isUsedUp = sample.portTaken === undefined && isExcuseUsedUp(excusedExits, nowUs)
  const isExcused = isSubjectExcused(downSinceUs, { startedSinceUs, subjectSinceUs, excusedExits }, sample)
  // A process that is new may have begun, and have ended, before the runtime answered.
  const beganNow = isExcused || (!isUsedUp && beganSilent(fold))
  return { downSinceUs, isUsedUp, isExcused, beganExcused: ofProcess === undefined ? beganNow : ofProcess.beganExcused === true }
}

/**
 * The runtime did not answer at the last look, and excused that. After a gap, that look still tells
 * how a process began that was started just after it.
 */
function beganSilent({ known, unit, gap, policy }: Fold): boolean {
  if (known?.runtimeDownSinceUs === undefined) return false
  const { runtimeDownSinceUs, lastSampleUs } = known
  const isJustAfter = unit.startedAtUs >= lastSampleUs && unit.startedAtUs - lastSampleUs <= policy.toleranceUs
  return (!gap || isJustAfter) && lastSampleUs - runtimeDownSinceUs < RUNTIME_EXCUSE_US
}

interface JudgedExits extends ChargedExits {
  /** Charged to the process that ran. */
  readonly chargeable: number
  /** Excused, since the container runtime is the reason. */
  readonly excused: number
  /** Of the same content, started as another kubelet than is installed: charged to what ran. */
  readonly former: (ChargedExits & Pick<ProcessHealth, 'key'>) | undefined
  readonly exitSeenOf: string | undefined
}

interface ExitContext {
  readonly start: Pick<HealthRecord, 'starts'>
  readonly runtime: RuntimeExcuse
  readonly condition: SampleHealth
  /** Kubelet is down, and the container runtime is the reason. */
  readonly excused: boolean
}

/** Whose the exits are that are new, once each: as all was when the exit was noticed. */
function judgeExits(fold: Fold, { start, runtime, condition, excused }: ExitContext): JudgedExits {
  const { known, same, unit, interval, gap, nowUs, subject, policy } = fold
  const news = findNewExits(known, unit)
  // An exit of the process that a restart is to replace is what that restart is the answer to.
  const isPredecessors = same !== undefined && same.restartedFrom === same.invocationId && isAlive(same)
  const isCharged = condition !== 'excused'
  const own = Math.max(0, news.unseen - Number(isPredecessors))
  const isIllThroughout = condition === 'ill' && same?.unhealthySinceUs !== undefined && same.runtimeDownSinceUs === undefined
  const unseen = isCharged && !runtime.isExcused && same?.started === true ? chargeExits(own, interval, isIllThroughout) : 0
  const isRefused = isStartRefused({ exits: (same?.exits ?? 0) + unseen, recentExits: known?.recentExits, subject }, unit, nowUs, policy)
  const hasExited = news.seen && !isRefused
  const isExcused = hasExited && excused
  const isSeenCharged = isCharged && hasExited && !excused && (same !== undefined || start.starts > 0)
  const seen = isSeenCharged && chargeExits(unseen + 1, interval, isIllThroughout) > unseen
  const countsExcused = !gap && same?.started === true && fold.sample.portTaken === undefined
  const former = findFormer(fold, runtime)
  return {
    unseen,
    seen,
    chargeable: isOfWhatRanLast(known, unit) ? news.unseen + Number(hasExited && !excused) : 0,
    excused: countsExcused ? (runtime.isExcused ? news.unseen : 0) + Number(isExcused) : 0,
    former: former && {
      key: former.key,
      unseen: news.unseen - unseen,
      seen: hasExited && !excused && unit.invocationId === former.invocationId,
    },
    exitSeenOf: isRefused ? known?.exitSeenOf : news.exitSeenOf,
  }
}

function findFormer({ known, subject, gap }: Fold, { isExcused }: RuntimeExcuse): ProcessHealth | undefined {
  const process = known?.process
  if (process === undefined || process.key === subject || gap || isExcused) return undefined
  return contentOfKey(process.key) === contentOfKey(subject) ? process : undefined
}

function logAll({ known, sample, subject, nowUs }: Fold, exits: JudgedExits): HealthRecord['recentExits'] {
  if (known === undefined) return logExits(known, sample, subject, exits)
  // Since the last look, kubelet would have started with what the record was about until now.
  const aged = { ...known, recentExits: ageExits(known.recentExits, known.subject, nowUs - known.lastSampleUs) }
  const { former } = exits
  const recentExits = former === undefined ? aged.recentExits : logExits(aged, sample, former.key, former)
  return logExits({ ...known, recentExits }, sample, subject, exits)
}

function isProcessExcused({ sample }: Fold, { isUsedUp, downSinceUs }: RuntimeExcuse): boolean {
  return !isUsedUp && isExcuse(downSinceUs, sample)
}

function isDownExcused({ unit, ofProcess }: Fold, { isExcused, beganExcused }: RuntimeExcuse): boolean {
  // Systemd may give kubelet up at the very exit of which the runtime answers again.
  const gaveUpExcused = needsStart(unit.activity) && beganExcused
  return isDown(unit.activity) && (isExcused || gaveUpExcused || ofProcess?.excused === true)
}

type ConditionTimes = Pick<HealthRecord, 'wasHealthy' | 'everHealthy' | 'healthySinceUs' | 'unhealthySinceUs' | 'strangerHadPort'>

/** Since when kubelet has been healthy, or not. */
function followCondition(fold: Fold, condition: SampleHealth): ConditionTimes {
  const { known, same, ofProcess, sample, unit, subject, nowUs, interval, gap, isAutomatic } = fold
  const isHealthy = condition === 'healthy'
  // The record of the process has it from before the config became what kubelet starts with next,
  // too.
  const process = known?.process
  const isOfSubject = process?.key === subject && process.invocationId === unit.invocationId
  // The health of one process says nothing of the next, even if both were healthy at two looks in a
  // row.
  const healthyBeforeUs = gap ? undefined : ofProcess?.healthySinceUs
  // An operator who restarts kubelet gives it its start deadline again. Systemd, which counts its
  // own restarts, does not, except after a process that began without its runtime: that one exits,
  // also where the runtime answers by then.
  const startedAnew = ofProcess === undefined && (!isAutomatic || same?.beganExcused === true)
  const isContinued = gap ? ofProcess !== undefined : !startedAnew
  const illBeforeUs = isContinued ? same?.unhealthySinceUs : undefined
  // A start that is queued is no illness, and ends none.
  const isIll = condition === 'ill' || (condition === 'unclear' && unit.activity === 'queued' && illBeforeUs !== undefined)
  return {
    wasHealthy: isHealthy || (isOfSubject && process.wasHealthy),
    everHealthy: isHealthy || same?.everHealthy === true,
    healthySinceUs: isHealthy ? (healthyBeforeUs ?? nowUs) : undefined,
    unhealthySinceUs: isIll ? illSinceUs(illBeforeUs, interval) : undefined,
    strangerHadPort: (isIll && (isStrangers(sample.healthz) || (illBeforeUs !== undefined && same?.strangerHadPort))) || undefined,
  }
}

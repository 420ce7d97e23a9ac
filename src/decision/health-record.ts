/**
 * Health over time: folds samples into the record that decides on trial, promotion and rollback.
 * Pure; all times are CLOCK_MONOTONIC of one boot. Only what is known counts: a gap between samples
 * is neither health nor illness.
 */
import { LOCAL_CONTENT } from './config-source.ts'
import { logExits } from './exit-log.ts'
import { type HealthAnswer, type HealthRecord, type HealthSample, isFailing, type SeenProcess } from './health.ts'
import { isMissing } from './missing-content.ts'
import type { Policy } from './policy.ts'
import { followProcess } from './process-health.ts'
import { addExcused, followRuntime, isExcuseUsedUp, isRuntimeExcuse, isSubjectExcused, RUNTIME_EXCUSE_US } from './runtime-excuse.ts'
import type { TrialKey } from './trial-key.ts'
import { contentOfKey } from './trial-key.ts'
import type { KnownUnit, UnitActivity } from './unit-state.ts'

/**
 * What a sample says of the subject. `unclear`: neither health nor illness, but exits count.
 * `excused`: the config is not the cause, so nothing is charged to it.
 */
type Condition = 'healthy' | 'ill' | 'unclear' | 'excused'

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
  const { unit } = sample
  const nowUs = sample.at.monotonicUs
  const known = before?.bootId === sample.at.bootId ? before : undefined
  if (unit.kind === 'unknown') return known
  const seenProcess =
    known === undefined ? presumeProcess(sample, unit, subject) : rememberProcess(known.lastProcess, sample, unit.kubeletIdentity)
  const runsSubject = sample.running.kind === 'known' && sample.running.key === subject
  const same = known?.subject === subject ? known : undefined

  // What happened in a gap was not seen: no deadline and no trial runs through it, and no exit in
  // it is charged.
  const gap = known === undefined || nowUs - known.lastSampleUs > policy.toleranceUs
  const runtimeDownSinceUs = followRuntime(known?.runtimeDownSinceUs, sample, gap)
  // In the first record of a boot, every process since then was started with what is activated,
  // since only the agent changes that. But one that systemd gave up before may have failed with
  // what was there before: it is charged from its next start on. And an invocation that began under
  // this record was started with its subject, even if it died before a look.
  const sameProcess = same?.invocationId === unit.invocationId
  // So was one that began after kubelet was upgraded on disk, which makes the same content another
  // subject.
  const upgraded = same === undefined && known !== undefined && contentOfKey(known.subject) === contentOfKey(subject)
  const startedSinceUpgrade = upgraded && known.invocationId !== unit.invocationId
  // A record about what the disk did not return has followed nothing yet.
  const isFirst = known === undefined || isMissing(contentOfKey(known.subject))
  const startedBefore = same === undefined ? (isFirst && unit.activity !== 'failed') || startedSinceUpgrade : same.started || !sameProcess
  const started = runsSubject || (startedBefore && unit.activity !== 'stopped')
  const startedSinceUs = started ? (same?.started === true ? same.startedSinceUs : nowUs) : undefined
  const subjectSinceUs = same?.subjectSinceUs ?? nowUs
  const excusedBefore = same?.excusedExits
  const isUsedUp = isExcuseUsedUp(excusedBefore, nowUs)
  const isExcused = isSubjectExcused(runtimeDownSinceUs, { startedSinceUs, subjectSinceUs, excusedExits: excusedBefore }, sample)
  const starts = same === undefined ? Number(runsSubject || startedSinceUpgrade) : same.starts + Number(!sameProcess)
  const isAwaited = same !== undefined && isStartAwaited(same, unit)
  const hasBegun = started && (runsSubject || !isAwaited)
  const condition = classifySample(sample, hasBegun, runsSubject, isExcused)
  const automatic = known === undefined ? 0 : countExits(known.lastNRestarts, unit.nRestarts)
  const chargeable = Math.max(0, automatic - Number(isExcusedExitDue(known)))
  // Where systemd itself did the start that it had refused, it counts the exit of the process from
  // before with it.
  const isPredecessors = same?.restartedFrom !== undefined && same.restartedFrom === same.invocationId && same.starts === 0
  const ownExits = Math.max(0, automatic - Number(isExcusedExitDue(known) || isPredecessors))
  const newExits = gap || isExcused || condition === 'excused' || same?.started !== true ? 0 : ownExits
  // The health of one process says nothing of the next, even if both were healthy at two looks in a
  // row.
  const healthyBeforeUs = gap || !sameProcess ? undefined : same.healthySinceUs
  const healthySinceUs = condition === 'healthy' ? (healthyBeforeUs ?? nowUs) : undefined
  // An operator who restarts kubelet gives it its start deadline again. Systemd, which counts its
  // own restarts, does not, except after a process that began without its runtime: that one exits,
  // also where the runtime answers by then.
  const isAutomatic = known !== undefined && isStartedBySystemd(known, unit)
  const startedAnew = same !== undefined && !sameProcess && (!isAutomatic || same.beganExcused === true)
  const illBeforeUs = gap || startedAnew ? undefined : same?.unhealthySinceUs
  const settled = healthySinceUs !== undefined && nowUs - Math.max(healthySinceUs, unit.startedAtUs) >= policy.trialUs
  // A process that is new may have begun, and have ended, before the runtime answered.
  const begins = sameProcess
    ? same.beganExcused === true
    : isExcused || (known !== undefined && !isUsedUp && beganSilent(known, unit, gap, policy))
  // Without a health port, all that is known is that it runs: it may still ask for its runtime.
  const isUp = condition === 'healthy' && (sample.healthz !== undefined || nowUs - unit.startedAtUs > policy.toleranceUs)
  // Systemd may give kubelet up at the very exit of which the runtime answers again.
  const gaveUpExcused = unit.activity === 'failed' && begins
  const excused = isDown(unit.activity) && (isExcused || gaveUpExcused || (sameProcess && same.excused))
  const isGivenUp = unit.activity === 'failed' && excused && !(sameProcess && same.excused)
  const newlyExcused = (isExcused || isExcusedExitDue(known) ? automatic - newExits : 0) + Number(isGivenUp)
  const hasExited = hasEnded(unit.activity) && started && starts > 0 && !excused && condition !== 'excused'
  const isStillDue = same !== undefined && (isAutomatic || !isNewInvocation(same, unit))
  const startedByOthers = same === undefined ? isFirst : same.startedByOthers === true || isOthers(same, unit, nowUs)

  return {
    bootId: sample.at.bootId,
    subject,
    subjectSinceUs,
    starts,
    started,
    startedSinceUs,
    invocationId: unit.invocationId,
    wasHealthy: condition === 'healthy' || (sameProcess && same.wasHealthy),
    everHealthy: condition === 'healthy' || same?.everHealthy === true,
    healthySinceUs,
    unhealthySinceUs: condition === 'ill' ? (illBeforeUs ?? nowUs) : undefined,
    lastSampleUs: nowUs,
    excused,
    beganExcused: begins && !isUp,
    runtimeDownSinceUs,
    // A config that ran for a whole trial without a break starts again at zero: three crashes in a
    // year are not a crash loop.
    exits: settled ? 0 : (same?.exits ?? 0) + newExits,
    excusedExits: settled ? undefined : addExcused(excusedBefore, gap || same?.started !== true ? 0 : newlyExcused, nowUs),
    lastNRestarts: unit.nRestarts,
    firstNRestarts: countAtStart(known, unit),
    lastProcess: seenProcess,
    process: followProcess(
      known?.process,
      sample,
      unit,
      { gap, isAutomatic, chargeable, excused: !isUsedUp && isRuntimeExcuse(runtimeDownSinceUs, sample) },
      policy,
    ),
    recentExits: logExits(known, sample, subject, newExits, hasExited),
    restartedFrom: isAwaited ? same.restartedFrom : undefined,
    restartDueUntilUs: isStillDue ? same.restartDueUntilUs : undefined,
    startedByOthers,
    triedAgainUs: same?.triedAgainUs,
    lastDetail: describeSample(sample),
  }
}

/** Only what runs: nobody knows what kubelet starts with next. */
export function recordProcess(record: HealthRecord, sample: HealthSample, kubeletIdentity: string): HealthRecord {
  const lastProcess = rememberProcess(record.lastProcess, sample, kubeletIdentity)
  return lastProcess === record.lastProcess ? record : { ...record, lastProcess }
}

/** While an operator has paused the agent, the operator answers for what happens to kubelet. */
export function forgetIllness(record: HealthRecord): HealthRecord {
  const process = record.process && { ...record.process, exits: 0, unhealthySinceUs: undefined }
  return { ...record, exits: 0, excusedExits: undefined, unhealthySinceUs: undefined, process, recentExits: [] }
}

/** What was charged before is not charged again. */
export function forgetExits(record: HealthRecord): HealthRecord {
  return { ...record, exits: 0, excusedExits: undefined, recentExits: [] }
}

/**
 * A restart was requested: kubelet's exits and silence after that start are charged to the subject.
 */
export function expectStart(record: HealthRecord | undefined, nowUs: number, { startDeadlineUs }: Policy): HealthRecord | undefined {
  if (record === undefined) return undefined
  const startedSinceUs = record.started ? record.startedSinceUs : nowUs
  return {
    ...record,
    started: true,
    startedSinceUs,
    everHealthy: false,
    unhealthySinceUs: undefined,
    restartedFrom: record.invocationId,
    restartDueUntilUs: nowUs + startDeadlineUs,
  }
}

/**
 * The unit's state is still the one of before the restart that was requested. Systemd may refuse
 * the request for long, and until the unit has another invocation, that start has not begun.
 */
export function isStartAwaited({ restartedFrom }: HealthRecord, { invocationId }: KnownUnit): boolean {
  return restartedFrom !== undefined && restartedFrom === invocationId
}

/**
 * What failed is tried once more.
 *
 * @param isRequested false: systemd is about to restart kubelet anyway
 */
export function expectAnotherTry(record: HealthRecord, nowUs: number, { startDeadlineUs }: Policy, isRequested: boolean): HealthRecord {
  const process = record.process && { ...record.process, exits: 0, unhealthySinceUs: undefined }
  return {
    ...record,
    started: true,
    exits: 0,
    excusedExits: undefined,
    unhealthySinceUs: undefined,
    process,
    restartedFrom: record.invocationId,
    restartDueUntilUs: isRequested ? nowUs + startDeadlineUs : undefined,
    triedAgainUs: nowUs,
  }
}

function classifySample(sample: HealthSample, hasBegun: boolean, runsSubject: boolean, isExcused: boolean): Condition {
  const { unit, running } = sample
  if (unit.kind === 'unknown' || !hasBegun) return 'excused'
  switch (unit.activity) {
    case 'stopped':
    case 'stopping':
    case 'not-found':
      return 'excused'
    case 'running':
      if (runsSubject && sample.healthz !== 'unknown' && !isFailing(sample.healthz)) return 'healthy'
      // Another content runs: a restart is due, or had no effect. Neither is the subject's illness.
      if (running.kind === 'known' && !runsSubject) return 'excused'
      // What cannot be read is unknown: no health, and no illness.
      if (running.kind === 'unknown' || sample.healthz === 'unknown') return 'unclear'
      return isExcused ? 'excused' : 'ill'
    // Nothing is known of how long it waits there. Exits before it count.
    case 'queued':
      return isExcused ? 'excused' : 'unclear'
    case 'starting':
    case 'auto-restart':
    case 'failed':
      return isExcused ? 'excused' : 'ill'
  }
}

function isDown(activity: UnitActivity): boolean {
  return activity === 'failed' || activity === 'auto-restart' || activity === 'starting' || activity === 'queued'
}

function hasEnded(activity: UnitActivity): boolean {
  return activity === 'failed' || activity === 'auto-restart'
}

/**
 * Systemd counts an exit with the start after it: one that was excused stays so, even if the
 * runtime answers by then.
 */
function isExcusedExitDue(known: HealthRecord | undefined): boolean {
  return known?.excused === true && known.lastNRestarts === (known.firstNRestarts ?? known.lastNRestarts)
}

/**
 * The runtime did not answer at the last look, and excused that. After a gap, that look still tells
 * how a process began that was started just after it.
 */
function beganSilent(known: HealthRecord, { startedAtUs }: KnownUnit, gap: boolean, { toleranceUs }: Policy): boolean {
  const { runtimeDownSinceUs, lastSampleUs } = known
  const isJustAfter = startedAtUs >= lastSampleUs && startedAtUs - lastSampleUs <= toleranceUs
  if (runtimeDownSinceUs === undefined || (gap && !isJustAfter)) return false
  return lastSampleUs - runtimeDownSinceUs < RUNTIME_EXCUSE_US
}

/** Neither systemd nor the agent has started this process. */
function isOthers(same: HealthRecord, unit: KnownUnit, nowUs: number): boolean {
  const isAgents = nowUs < (same.restartDueUntilUs ?? 0) || same.restartedFrom === same.invocationId
  return isNewInvocation(same, unit) && !isStartedBySystemd(same, unit) && !isAgents
}

function isNewInvocation(known: HealthRecord, { invocationId }: KnownUnit): boolean {
  return invocationId !== '' && invocationId !== known.invocationId
}

/** Systemd counts the restarts that it does by itself. */
function isStartedBySystemd(known: HealthRecord, { nRestarts }: KnownUnit): boolean {
  return nRestarts > (known.firstNRestarts ?? known.lastNRestarts)
}

/**
 * Systemd counts a restart of its own a moment before the unit has another invocation
 * (service_enter_restart): a look between the two must not take that start for somebody's.
 */
function countAtStart(known: HealthRecord | undefined, { invocationId, nRestarts }: KnownUnit): number {
  const isSame = known !== undefined && (invocationId === '' || invocationId === known.invocationId)
  // reset-failed puts it back to 0.
  return isSame ? Math.min(known.firstNRestarts ?? known.lastNRestarts, nRestarts) : nRestarts
}

function rememberProcess(before: SeenProcess | undefined, sample: HealthSample, kubeletIdentity: string): SeenProcess | undefined {
  const { running } = sample
  if (running.kind !== 'known' || before?.invocationId === running.invocationId) return before
  return { invocationId: running.invocationId, content: running.content, kubeletIdentity }
}

/**
 * What systemd gave up before the first look ran the config that is in place: only the agent
 * changes that. Where that is local, the agent may have just put it there, for what had failed.
 */
function presumeProcess(sample: HealthSample, unit: KnownUnit, subject: TrialKey): SeenProcess | undefined {
  const { activity, invocationId, kubeletIdentity } = unit
  const content = contentOfKey(subject)
  const isConfig = content !== LOCAL_CONTENT && !isMissing(content)
  const isPresumed = sample.running.kind === 'none' && activity === 'failed' && invocationId !== '' && isConfig
  return isPresumed ? { invocationId, content, kubeletIdentity } : rememberProcess(undefined, sample, kubeletIdentity)
}

/**
 * A manual restart or reset-failed puts NRestarts back to 0 (systemd.unit(5), "NRestarts"): what it
 * then shows came after.
 */
function countExits(before: number, now: number): number {
  return now >= before ? now - before : now
}

function describeSample(sample: HealthSample): string {
  const unit = sample.unit.kind === 'known' ? sample.unit.summary : sample.unit.detail
  const runtime = sample.runtimeUp === false ? ', container runtime does not answer' : ''
  return `${unit}${describeAnswer(sample.healthz)}${runtime}`
}

function describeAnswer(healthz: HealthAnswer): string {
  if (healthz === undefined) return ''
  return healthz === 'unknown' ? ', health port not known' : `, healthz ${healthz.detail}`
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Whether kubelet has to be restarted: only when its next start would use other content than it
 * runs, once per target, and at most so many times an hour. A unit that is down, and that systemd
 * does not start again by itself, is started again at growing intervals. The result of a restart is
 * observed, never assumed. Pure.
 */
import { RUNTIME_EXCUSE_US } from '../health/excuse.ts'
import type { HealthRecord } from '../health/fold.ts'
import { KUBELETS_OF_NO_UPGRADE } from '../health/recurring-exits.ts'
import { needsStart } from '../health/sample.ts'
import { isOther, LOCAL_CONTENT } from '../subject/config-source.ts'
import { contentOfKey, type TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { HOUR_US } from '../values/durations.ts'
import { findNodePause } from './find-pause.ts'
import { listLeft } from './left.ts'
import { listOfBoot, type RestartRecord } from './records.ts'
import { findLimitEndUs, isExempt, listTaken } from './restart-limit.ts'
import type { Snapshot } from './snapshot.ts'
import type { Target } from './target.ts'
import { findVerdict, holdsOnAnyKubelet, isOfFailure } from './verdict.ts'
import { describeDown, hasOwnStartFailed } from './why-down.ts'
import { failsNow, hasFailed, isWorthKeeping } from './worth-keeping.ts'

export type RestartDecision =
  | { readonly kind: 'not-due' }
  | { readonly kind: 'restart'; readonly record: RestartRecord }
  /** Nothing shows that it is down without a person's doing, or it is not the agent's to start. */
  | { readonly kind: 'stays-down' }
  /** Kubelet runs, and would exit at its start, since the container runtime does not answer. */
  | { readonly kind: 'runtime-down' }
  /** Requested, and not observed yet. */
  | { readonly kind: 'under-way'; readonly untilUs: number; readonly detail: string }
  /** A process started after the restart runs another config. */
  | { readonly kind: 'ineffective'; readonly detail: string }
  | { readonly kind: 'limit'; readonly untilUs: number }

/**
 * The first interval between starts of a unit that systemd keeps giving up. Doubled each time
 * within the hour.
 */
const START_AGAIN_US = 15e6
const START_AGAIN_AT_MOST_US = 300e6
/** A restart that systemd did not accept is requested again after this time. */
const RETRY_US = 60e6
/**
 * A restart without an answer is requested again after this time: the agent died before the answer
 * came, perhaps before it made the request. If the first request is still pending, systemd merges
 * the two.
 */
const LOST_US = 10e6
/**
 * A start that was cut short is completed after this time: whatever ends each of its commands must
 * not make the agent repeat it without a pause.
 */
const CUT_SHORT_US = 1e6

const NOT_DUE = { kind: 'not-due' } as const
const STAYS_DOWN = { kind: 'stays-down' } as const

export function decideRestart(snapshot: Snapshot, unit: KnownUnit, target: Target): RestartDecision {
  const { running, health } = snapshot
  if (running.kind === 'known' && running.content === target.content && !isOutdated(snapshot, unit, target)) return NOT_DUE
  const requested = findRequested(snapshot, target)
  const halfStarted = isHalfStarted(snapshot, unit)
  const ownFailed = hasOwnStartFailed(unit, snapshot)
  const failed = needsStart(unit.activity) || halfStarted
  const obstacle = findObstacle(snapshot, unit, halfStarted)
  if (obstacle !== undefined) return obstacle
  if (!halfStarted && !ownFailed && isAdministrators(snapshot, unit, target))
    return unit.activity === 'exited' || unit.activity === 'left-down' ? STAYS_DOWN : NOT_DUE
  // No process runs, and the last one ran this content: systemd restarts it, unless it gave up. One
  // that came and went unseen ran another.
  const last = health?.lastProcess
  if (running.kind === 'none' && !failed && last?.content === target.content && last.invocationId === unit.invocationId) return NOT_DUE
  const cutShort = halfStarted ? awaitCutShort(snapshot) : undefined
  if (cutShort !== undefined) return cutShort
  const isCutShort = halfStarted && requested?.outcome === undefined
  // A start that systemctl did not report as requested is not known to be what failed.
  const isAnswered = isCutShort || (ownFailed && requested?.outcome?.ok !== false)
  const answer = requested === undefined || isAnswered ? undefined : awaitAnswer(snapshot, unit, requested, failed)
  if (answer !== undefined) return answer
  if (waitsForRuntime(snapshot)) return { kind: 'runtime-down' }
  return requestRestart(snapshot, unit, target, { failed, halfStarted, wasAccepted: requested?.outcome?.ok === true })
}

/**
 * Whether kubelet is down, and nothing but the agent starts it. A unit that looks stopped by a
 * person may be what the agent's own start has left: then that start is due again.
 */
export function awaitsStart(unit: KnownUnit, { kind }: RestartDecision): boolean {
  return needsStart(unit.activity) ? kind !== 'not-due' : unit.activity === 'stopped' && kind === 'restart'
}

/**
 * The restart into the target that was requested since the target was last activated. Where its
 * content runs, another kubelet is wanted. Elsewhere any kubelet is: each start may make another.
 */
function findRequested({ restarts, running, health, now, policy }: Snapshot, { key, content }: Target): RestartRecord | undefined {
  const last = listOfBoot(restarts, now).at(-1)
  if (last === undefined || health === undefined) return undefined
  const { subject, subjectSinceUs, contentSinceUs = subjectSinceUs } = health
  const isOfKubelet = running.kind === 'known' && running.content === content
  const isOfTarget = (of: TrialKey) => (isOfKubelet ? of === key : contentOfKey(of) === content)
  if (!isOfTarget(last.target) || !isOfTarget(subject) || last.atUs < (isOfKubelet ? subjectSinceUs : contentSinceUs)) return undefined
  // A restart long before the present process started does not count.
  const isAnswered = running.kind === 'known' && running.startedAtUs - last.atUs > policy.startDeadlineUs
  return isAnswered ? undefined : last
}

/**
 * An agent that died between `reset-failed` and `start` leaves a unit that looks stopped, and that
 * nothing starts. So does a systemd that takes the first command and refuses the second, whatever
 * kubelet is to start with by then.
 */
function isHalfStarted({ restarts, now }: Snapshot, unit: KnownUnit): boolean {
  const last = listOfBoot(restarts, now).at(-1)
  if (unit.activity !== 'stopped' || last === undefined) return false
  return last.failed && last.outcome?.ok !== true && last.invocationBefore === unit.invocationId
}

/** The start that was requested a moment ago and was cut short. undefined: it can be completed. */
function awaitCutShort({ restarts, now }: Snapshot): RestartDecision | undefined {
  const last = listOfBoot(restarts, now).at(-1)
  if (last === undefined || last.outcome !== undefined) return undefined
  const untilUs = last.atUs + CUT_SHORT_US
  return now.monotonicUs < untilUs ? { kind: 'under-way', untilUs, detail: 'kubelet is being restarted' } : undefined
}

/** A state of the unit in which no restart is requested. */
function findObstacle(snapshot: Snapshot, unit: KnownUnit, halfStarted: boolean): RestartDecision | undefined {
  const { running, now } = snapshot
  switch (unit.activity) {
    case 'stopped':
      return halfStarted ? undefined : STAYS_DOWN
    case 'not-found':
      return STAYS_DOWN
    case 'queued':
      return underWay(now.monotonicUs, 'systemd has queued a start of kubelet')
    case 'stopping':
      return underWay(now.monotonicUs, `kubelet is ${unit.summary}`)
    case 'starting':
      // A start that does not come to an end, or that has failed already, is replaced by the
      // restart.
      return hasFailed(snapshot) ? undefined : underWay(now.monotonicUs, `kubelet is ${unit.summary}`)
    case 'running':
      return running.kind === 'known' ? undefined : underWay(now.monotonicUs, 'kubelet has just been started')
    case 'auto-restart':
    case 'exited':
    case 'left-down':
    case 'failed':
      return undefined
  }
}

/** The outcome so far of the restart that was requested. undefined: it is requested again. */
function awaitAnswer(
  { running, now, policy }: Snapshot,
  unit: KnownUnit,
  { invocationBefore, atUs, outcome }: RestartRecord,
  failed: boolean,
): RestartDecision | undefined {
  if (unit.invocationId !== invocationBefore) {
    if (running.kind !== 'known') return failed ? undefined : NOT_DUE
    const what = running.content === LOCAL_CONTENT ? 'its local config' : 'another config'
    return { kind: 'ineffective', detail: `kubelet was restarted and still runs ${what}` }
  }
  const untilUs = atUs + (outcome === undefined ? LOST_US : outcome.ok ? policy.startDeadlineUs : RETRY_US)
  if (now.monotonicUs >= untilUs) return undefined
  return { kind: 'under-way', untilUs, detail: outcome?.ok === false ? outcome.detail : 'kubelet is being restarted' }
}

interface RestartContext {
  /** Systemd had given up the unit. */
  readonly failed: boolean
  readonly halfStarted: boolean
  /** Systemd took the last request for this target. */
  readonly wasAccepted: boolean
}

/** The restart, if its time has come. */
function requestRestart(
  snapshot: Snapshot,
  unit: KnownUnit,
  target: Target,
  { failed, halfStarted, wasAccepted }: RestartContext,
): RestartDecision {
  const { now } = snapshot
  const thisBoot = listOfBoot(snapshot.restarts, now)
  // Falling back is exempt from the limit, also when systemd refused it at first. Starting a unit
  // that systemd gave up, again and again, is not.
  const fallback = target.fallback && !target.atFault && !(failed && wasAccepted)
  const exempt = !fallback && isExempt(snapshot, target)
  if (!fallback && failed) {
    // A start that was cut short is completed and does not count again.
    const untilUs = halfStarted ? 0 : startAgainUs(listTaken(thisBoot, unit), target, now.monotonicUs)
    if (now.monotonicUs < untilUs) return { kind: 'under-way', untilUs, detail: `${describeDown(unit)}: it is started again in a while` }
  } else if (!fallback && !exempt) {
    const untilUs = findLimitEndUs(snapshot, thisBoot)
    if (untilUs !== undefined) return { kind: 'limit', untilUs }
  }
  const kind = { fallback, ...(fallback && target.goesOn && { goesOn: true }), ...(exempt && { exempt }) }
  const request = { bootId: now.bootId, atUs: now.monotonicUs, target: target.key, ...kind }
  return { kind: 'restart', record: { ...request, invocationBefore: unit.invocationId, failed, outcome: undefined } }
}

/**
 * Whether to restart a kubelet that runs the target's content and is not the one on disk, since it
 * has failed with it, or hangs: the one on disk may not. While the running kubelet is well, an
 * upgrade on disk restarts nothing. Nor is there a restart where the failure cannot be undone, or
 * came with one kubelet after another: it may happen again.
 */
function isOutdated(snapshot: Snapshot, unit: KnownUnit, target: Target): boolean {
  const { running } = snapshot
  if (running.kind !== 'known' || running.key === target.key || findNodePause(snapshot) !== undefined) return false
  // The local config is the administrator's, unless the agent fell back to it.
  if (target.source === 'local' && !target.fallback) return false
  const verdict = findVerdict(snapshot, target.content, unit)
  if (verdict !== undefined && holdsOnAnyKubelet(verdict)) return false
  return failsNow(snapshot)
}

/**
 * A kubelet that runs would not come back from a restart without its runtime. But the runtime may
 * be down because of what runs, so that only a restart brings it back.
 */
function waitsForRuntime(snapshot: Snapshot): boolean {
  const { health, now } = snapshot
  if (!isWorthKeeping(snapshot)) return false
  const ownRuntime = snapshot.changesRuntime === true
  const isUp = ownRuntime ? snapshot.targetRuntimeUp : snapshot.runtimeUp
  const sinceUs = (ownRuntime ? health?.subjectSinceUs : health?.runtimeDownSinceUs) ?? now.monotonicUs
  return isUp === false && now.monotonicUs - sinceUs < RUNTIME_EXCUSE_US
}

/**
 * The time of the next start after starts in vain. They say nothing of another config, or of
 * another kubelet, unless each start makes another kubelet.
 */
function startAgainUs(taken: readonly RestartRecord[], { key, content }: Target, nowUs: number): number {
  const starts = taken.filter((record) => record.failed && !record.fallback && nowUs - record.atUs < HOUR_US)
  const last = starts.at(-1)
  const ofContent = starts.filter(({ target }) => contentOfKey(target) === content)
  const isVarying = new Set(ofContent.map(({ target }) => target)).size >= KUBELETS_OF_NO_UPGRADE
  if (last === undefined || (last.target !== key && !(isVarying && last === ofContent.at(-1)))) return 0
  return last.atUs + Math.min(START_AGAIN_AT_MOST_US, START_AGAIN_US * 2 ** (starts.length - 1))
}

/**
 * Where nothing is assigned and kubelet runs, or last ran, no checkpoint, the administrator owns
 * it. But the agent completes a return to local that it began. Rule 51: the return is complete when
 * kubelet has been healthy there, or one more start of it was in vain.
 */
function isAdministrators(snapshot: Snapshot, unit: KnownUnit, target: Target): boolean {
  const { running, health, restarts, now } = snapshot
  if (target.source !== 'local' || target.fallback) return false
  if (running.kind === 'known') return isOther(running.content)
  // A return that is not over.
  if (listLeft(snapshot).length > 0) return false
  const last = health?.lastProcess
  // Without the record of it, a verdict still tells that a config failed in this boot.
  if (health === undefined || last === undefined) return restarts.length === 0 && !hasCondemned(snapshot)
  if (last.content !== LOCAL_CONTENT) return false
  const own = listOfBoot(restarts, now).at(-1)
  if (own === undefined) return true
  const isDone = own.invocationBefore !== unit.invocationId
  // Local is what that restart replaced. The process that it started came and went unseen.
  if (contentOfKey(own.target) !== LOCAL_CONTENT) return !(isDone && isFromBefore(own, health))
  return (own.failed && isDone) || health.subject !== target.key || health.everHealthy
}

/** Whether the process that was seen last is from before this restart. */
function isFromBefore({ invocationBefore, atUs }: RestartRecord, { lastProcess, process }: HealthRecord): boolean {
  if (lastProcess?.invocationId === invocationBefore) return true
  return process !== undefined && process.invocationId === lastProcess?.invocationId && process.startedAtUs < atUs
}

/** In this boot, for what a kubelet did. */
function hasCondemned({ verdicts, suspendedVerdicts, now }: Snapshot): boolean {
  return [...verdicts.values(), ...suspendedVerdicts.values()].some((verdict) => verdict.bootId === now.bootId && isOfFailure(verdict))
}

/** The records worth keeping: those of this boot's last hour, and always the last one. */
export function keepRestarts(records: readonly RestartRecord[], now: { bootId: string; monotonicUs: number }): readonly RestartRecord[] {
  const thisBoot = listOfBoot(records, now)
  return thisBoot.filter((record, index) => index === thisBoot.length - 1 || now.monotonicUs - record.atUs < HOUR_US)
}

function underWay(nowUs: number, detail: string): RestartDecision {
  return { kind: 'under-way', untilUs: nowUs + 1e6, detail }
}

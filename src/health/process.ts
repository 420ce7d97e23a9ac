// SPDX-License-Identifier: Apache-2.0
/**
 * The process that runs, or ran last, whatever kubelet starts with next: what it was started with,
 * and its health. A kubelet that hangs stays ill when the wanted config changes, when its binary,
 * flags or drop-ins change on disk, and when an operator resets the node. Pure; all times are
 * CLOCK_MONOTONIC of one boot.
 */
import { isConfigSource, isContentHash, isMissing, LOCAL_CONTENT } from '../subject/config-source.ts'
import { contentOfKey, isTrialKey } from '../subject/trial-key.ts'
import { anyOf, isFlag, isNumber, isText, oneOf, optional, orUndefined, shape, type TypeOf } from '../values/json-shape.ts'
import { followTimes, healthyForUs, isOutOfLoop, isTimes } from './illness.ts'
import { chargeExits, type Fold, type HealthPolicy } from './looks.ts'
import { classifySample, type HealthSample, type Running, type SampleHealth } from './sample.ts'

/** Where kubelet answers `/healthz`, as its config file says. `none`: it has no health port. */
const isHealthPort = anyOf(oneOf('none'), shape({ host: isText, port: isNumber }))
export type HealthPort = TypeOf<typeof isHealthPort>

const isSeenProcess = shape({
  invocationId: isText,
  content: isContentHash,
  kubeletIdentity: isText,
  /**
   * The source, as the records named it when the process was first seen: they may change before it
   * ends. undefined: no record named it.
   */
  source: optional(isConfigSource),
  /**
   * As its config file said while it held what the process was started with. undefined: not known,
   * or recorded by an agent that did not record it.
   */
  healthPort: optional(isHealthPort),
})
export type SeenProcess = TypeOf<typeof isSeenProcess>

/**
 * Rule 33: the health of the processes that run one content on one kubelet, from the first of them
 * without another in between.
 */
const isProcessHealth = shape({
  ...isTimes.fields,
  key: isTrialKey,
  /** The last process of these. */
  invocationId: isText,
  startedAtUs: isNumber,
  /** Unrequested exits since it last ran for a whole trial, or while nobody looked. */
  exits: isNumber,
  /**
   * A person or a boot started it, or started the process that systemd has restarted since. Unlike
   * the same of the record, this outlasts a change of what kubelet starts with next.
   */
  startedByOthers: optional(isFlag),
})
export type ProcessHealth = TypeOf<typeof isProcessHealth>

export const isProcess = shape({
  /** The last process seen, by InvocationID. */
  lastProcess: orUndefined(isSeenProcess),
  /** The health of the process that runs, or ran last. */
  process: optional(isProcessHealth),
})
export type Process = TypeOf<typeof isProcess>

/** @param charged exits that are new, and that nothing excused when they were seen */
export function foldProcess(fold: Fold<Process>, isExcused: boolean, charged: number): Process {
  const { known, sample, unit } = fold
  return {
    lastProcess: known === undefined ? presumeProcess(fold) : rememberProcess(known.lastProcess, sample, unit.kubeletIdentity),
    process: followRunning(fold, isExcused, charged) ?? followAbsent(fold, isExcused, charged),
  }
}

/**
 * Rule 6: what a process runs is recorded when the process is first seen. One that was first seen
 * while its checkpoint was gone is identified once that is there again.
 */
export function rememberProcess(
  before: SeenProcess | undefined,
  { running }: HealthSample,
  kubeletIdentity: string,
): SeenProcess | undefined {
  if (running.kind !== 'known') return before
  const { invocationId, content } = running
  if (before?.invocationId !== invocationId) return { invocationId, content, kubeletIdentity }
  return before.content === content ? before : { ...before, content }
}

/**
 * Rule 7: what systemd gave up before the first look ran the config that is in place, since only
 * the agent changes that. Where that is local, the agent may have just put it there, for what had
 * failed.
 */
function presumeProcess({ sample, unit, subject }: Fold<Process>): SeenProcess | undefined {
  const { activity, invocationId, kubeletIdentity } = unit
  const content = contentOfKey(subject)
  const isConfig = content !== LOCAL_CONTENT && !isMissing(content)
  const isPresumed = sample.running.kind === 'none' && activity === 'failed' && invocationId !== '' && isConfig
  return isPresumed ? { invocationId, content, kubeletIdentity } : rememberProcess(undefined, sample, kubeletIdentity)
}

function followRunning(fold: Fold<Process>, isExcused: boolean, charged: number): ProcessHealth | undefined {
  const { known, sample, nowUs, interval, policy, isAutomatic, isByOthers } = fold
  if (sample.running.kind !== 'known') return undefined
  const { key, invocationId, startedAtUs } = sample.running
  const same = known?.process?.key === key ? known.process : undefined
  const isSame = same?.invocationId === invocationId
  const condition = classifySample(sample, { hasBegun: true, runsSubject: true, isExcused })
  // A person who starts kubelet gives it its time again. Systemd, which counts its restarts, does
  // not.
  const illBeforeUs = isSame || (isAutomatic && !interval.gap) ? same?.unhealthySinceUs : undefined
  const times = followTimes(same, condition, fold, { isSame, illBeforeUs })
  const settled = healthyForUs(times.healthySinceUs, startedAtUs, nowUs) >= policy.trialUs
  // Rule 12: the process has not exited since the last look, which is long ago, so its crash loop
  // is over.
  const outlived = interval.gap && isSame && condition === 'healthy'
  const isIllThroughout = condition === 'ill' && same?.unhealthySinceUs !== undefined
  const exits = same === undefined || isSame || isExcused ? 0 : chargeExits(charged, interval, isIllThroughout)
  return {
    key,
    invocationId,
    startedAtUs,
    ...times,
    exits: settled || outlived ? 0 : (same?.exits ?? 0) + exits,
    startedByOthers: (isSame || (isAutomatic && same !== undefined) ? same.startedByOthers : isByOthers) || undefined,
  }
}

/** No process is known to run. */
function followAbsent(fold: Fold<Process>, isExcused: boolean, charged: number): ProcessHealth | undefined {
  const { known, unit, interval } = fold
  const before = known?.process
  if (before === undefined) return undefined
  const isSame = unit.invocationId === before.invocationId
  const condition = isExcused ? 'excused' : classifyAbsent(fold, isSame && before.unhealthySinceUs !== undefined)
  const illBeforeUs = isSame || !interval.gap ? before.unhealthySinceUs : undefined
  const exits = isExcused ? 0 : chargeExits(charged, interval, condition === 'ill' && before.unhealthySinceUs !== undefined)
  const { healthySinceUs, unhealthySinceUs } = followTimes(before, condition, fold, { isSame, illBeforeUs })
  return { ...before, healthySinceUs, unhealthySinceUs, exits: before.exits + exits }
}

/**
 * Rule 34: between two starts kubelet is ill with the config that ran last. Health that cannot be
 * read is unknown: no health, and no more illness than before.
 */
function classifyAbsent({ sample, unit }: Fold<Process>, wasIll: boolean): SampleHealth {
  const isDown = unit.activity === 'auto-restart' || unit.activity === 'failed' || unit.activity === 'starting'
  return sample.running.kind === 'none' ? (isDown ? 'ill' : 'unclear') : wasIll ? 'ill' : 'unclear'
}

/** undefined: none runs, or nothing is known of its health yet. */
export function healthOfRunning({ running, health }: RunningHealth): ProcessHealth | undefined {
  const process = health?.process
  return running.kind === 'known' && process?.invocationId === running.invocationId ? process : undefined
}

/** As in a Snapshot. */
interface RunningHealth {
  readonly running: Running
  readonly health: Process | undefined
}

/**
 * Rule 35: whether what runs, or ran last where nothing runs, has been ill for longer than is
 * tolerated. Leaving it costs the node nothing.
 */
export function isLongIll(health: Process | undefined, nowUs: number, policy: HealthPolicy): boolean {
  const process = health?.process
  if (process === undefined) return false
  if (process.unhealthySinceUs !== undefined && nowUs - process.unhealthySinceUs > policy.toleranceUs) return true
  return process.exits >= policy.crashLimit && !isOutOfLoop(process, process, nowUs, policy)
}

/**
 * Whether the running process has been ill for long, and is ill now. A process that is well, that
 * has just started, or of which nothing is known, runs on, however long the ones before it were
 * ill, and however often they exited: with its own next exit, systemd starts something else anyway.
 */
export function isIllNow(health: Process | undefined, nowUs: number, policy: HealthPolicy): boolean {
  const process = health?.process
  if (process?.unhealthySinceUs === undefined || nowUs - process.startedAtUs <= policy.toleranceUs) return false
  return isLongIll(health, nowUs, policy)
}

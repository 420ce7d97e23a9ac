// SPDX-License-Identifier: Apache-2.0
/**
 * The exits of kubelet that nobody requested: which are new, whom they are charged to, and the
 * latest of them. `recurring-exits.ts` says what the latest show. Pure.
 */
import { contentOfKey, isTrialKey, type TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { isFlag, isNumber, isText, listOf, optional, shape, type TypeOf } from '../values/json-shape.ts'
import { type Excuse, type Excused, mayLackRuntime } from './excuse.ts'
import type { Illness } from './illness.ts'
import { chargeExits, type Fold, type HealthPolicy, type Looks } from './looks.ts'
import type { Process, ProcessHealth } from './process.ts'
import { hasEnded, hasEndedUnexecuted, isUnexecuted, type SampleHealth } from './sample.ts'
import type { Starts } from './starts.ts'

/** This many exits of one config within a day are a failure. */
export const EXITS_THAT_FAIL = 10
/** The exits kept of one config: enough to fail on each of two kubelets. */
const MOST_EXITS = 2 * EXITS_THAT_FAIL
/** The exits of so many configs are kept. */
const MOST_CONFIGS = 8

/** One exit of kubelet that was not requested. */
const isKubeletExit = shape({
  /** The content and kubelet that it is charged to. */
  key: isTrialKey,
  /** Empty where the process came and went between two samples. */
  invocationId: isText,
  /** undefined: not known. */
  startedAtUs: optional(isNumber),
  /** When the exit was noticed. */
  atUs: isNumber,
  /** When systemd was to restart kubelet, as far as it waited for that (`RestartSec=`). */
  restartsAtUs: optional(isNumber),
  /** For how long kubelet has started with other configs since then. */
  awayUs: optional(isNumber),
  /** The last words of kubelet. undefined: the journal could not be read, or has not been yet. */
  words: optional(isText),
  /** The signal that ended it. undefined: it exited by itself, or how it ended is not known. */
  killedBy: optional(isText),
  /** The container runtime may have been the reason, although it did not excuse this exit. */
  lackedRuntime: optional(isFlag),
})
export type KubeletExit = TypeOf<typeof isKubeletExit>

export const isExits = shape({
  /** Unrequested exits that are charged to the subject. */
  exits: isNumber,
  /**
   * Unrequested exits that a pause keeps from being charged, since the subject last ran for a whole
   * trial. For reports alone. undefined: none, or there is no pause.
   */
  pausedExits: optional(isNumber),
  /**
   * The invocation whose process a look found ended. That exit is judged, and is not judged again
   * when systemd counts it.
   */
  exitSeenOf: optional(isText),
  /** The latest exits that nothing excuses, of any content. The last one comes last. */
  recentExits: optional(listOf(isKubeletExit)),
})
export type Exits = TypeOf<typeof isExits>

type Known = Starts & Exits & Looks & Illness & Excuse & Process

/** The exits that one look shows, each once. */
interface NewExits {
  /** NRestarts alone tells of them. */
  readonly unseen: number
  /** The process of the unit's invocation has ended, and no look found that before. */
  readonly seen: boolean
  /** As of `Illness`. A process that began later had its runtime. */
  readonly lackedRuntimeUs?: number | undefined
}

interface ExitContext {
  readonly starts: Pick<Starts, 'starts'>
  readonly excused: Excused
  readonly condition: SampleHealth
  /** Kubelet has run for a whole trial. */
  readonly isSettled: boolean
}

interface JudgedExits {
  readonly exits: Exits
  /** Charged to the process that ran. */
  readonly ofProcess: number
  /** Excused, since the container runtime is the reason. */
  readonly excused: number
}

/** Whose the exits are that are new: as all was when the exit was noticed. */
export function foldExits(fold: Fold<Known>, { starts, excused, condition, isSettled }: ExitContext): JudgedExits {
  const { known, ofContent, same, unit, interval, nowUs, subject, policy, sample } = fold
  const news = findNewExits(known, unit)
  // Rule 16: no exit is charged while a look is excused, or before the subject was started.
  const isCharged = condition !== 'excused'
  // Rule 18: an exit of the process that a restart is to replace is what that restart is the answer
  // to.
  const isPredecessors = same !== undefined && same.restartedFrom === same.invocationId && isAlive(same)
  const own = Math.max(0, news.unseen - Number(isPredecessors))
  const isIllThroughout = condition === 'ill' && same?.unhealthySinceUs !== undefined && same.runtimeDownSinceUs === undefined
  const unseen = isCharged && !excused.subject && same?.started === true ? chargeExits(own, interval, isIllThroughout) : 0
  const before = same?.exits ?? 0
  const isRefused = isStartRefused({ exits: before + unseen, recentExits: known?.recentExits, subject }, unit, nowUs, policy)
  const hasExited = news.seen && !isRefused
  const isSeenCharged = isCharged && hasExited && !excused.down && (same !== undefined || starts.starts > 0)
  const seen = isSeenCharged && chargeExits(unseen + 1, interval, isIllThroughout) > unseen
  const countsExcused = !interval.gap && ofContent?.startedSinceUs !== undefined && sample.portTaken === undefined
  const lackedRuntimeUs = mayLackRuntime(fold) ? nowUs : known?.lackedRuntimeUs
  const former = excused.subject ? undefined : findFormerProcess(fold)
  const ofFormer = former && {
    unseen: news.unseen - unseen,
    seen: hasExited && !excused.down && unit.invocationId === former.invocationId,
    lackedRuntimeUs,
  }
  const aged = known && { ...known, recentExits: ageExits(known, nowUs - known.lastSampleUs) }
  const logged = former && ofFormer && aged ? { ...aged, recentExits: logExits(aged, fold, former.key, ofFormer) } : aged
  const isJudged = !isRefused && (news.isCounted || hasEnded(unit.activity))
  return {
    exits: {
      exits: isSettled ? 0 : before + unseen + Number(seen),
      pausedExits: isSettled ? undefined : same?.pausedExits,
      exitSeenOf: isJudged ? unit.invocationId : known?.exitSeenOf,
      recentExits: logExits(logged, fold, subject, { unseen, seen, lackedRuntimeUs }),
    },
    ofProcess: isOfWhatRanLast(known, unit) ? news.unseen + Number(hasExited && !excused.down) : 0,
    excused: countsExcused ? (excused.subject ? news.unseen : 0) + Number(hasExited && excused.down) : 0,
  }
}

/**
 * Rule 14: an exit is judged when a look finds that a process has ended, or else when systemd
 * counts it in NRestarts. Systemd counts an exit only with the start after it, and no longer knows
 * of it where somebody restarts kubelet before that.
 *
 * @param known undefined: this is the first look, and what ended before it was not seen
 */
function findNewExits(known: Known | undefined, unit: KnownUnit): NewExits & { isCounted: boolean } {
  const { invocationId, nRestarts, activity } = unit
  if (known === undefined) return { unseen: 0, seen: false, isCounted: false }
  // Rule 15: all exits between two looks count, also those of processes that no look has seen.
  const counted = countExits(known.lastNRestarts, nRestarts)
  // Systemd counts the exit a moment before the unit has another invocation.
  const isCounted = counted > 0 && known.invocationId === invocationId
  const unseen = Math.max(0, counted - Number(isCountDue(known)))
  return {
    unseen: Math.min(unseen, countExecuted(known, unit)),
    seen: hasEnded(activity) && !hasEndedUnexecuted(unit) && !isCounted && known.exitSeenOf !== invocationId,
    isCounted,
  }
}

/**
 * Systemd counts a start that ended before it executed kubelet like an exit, which that is not.
 * Starts that no look has seen are taken for such ones, too, where one was seen before or after
 * them.
 *
 * @returns how many of the starts that have ended since the last look can have executed kubelet
 */
function countExecuted({ unexecutedSinceUs, process, invocationId }: Known, unit: KnownUnit): number {
  if (unexecutedSinceUs !== undefined && (invocationId !== unit.invocationId || isUnexecuted(unit))) return 0
  return hasEndedUnexecuted(unit) ? Number(process?.invocationId === invocationId) : Number.POSITIVE_INFINITY
}

/**
 * Rule 13: a manual restart or reset-failed puts NRestarts back to 0 (systemd.unit(5),
 * "NRestarts"): what it then shows came after.
 */
function countExits(before: number, now: number): number {
  return now >= before ? now - before : now
}

/** Rule 17: the next exit that systemd counts is the one that a look has found and judged. */
function isCountDue(known: Starts & Exits): boolean {
  return !isAlive(known) && known.lastNRestarts === (known.firstNRestarts ?? known.lastNRestarts)
}

/** Whether the process of the record had not ended at the last look. */
function isAlive({ exitSeenOf, invocationId }: Pick<Starts & Exits, 'exitSeenOf' | 'invocationId'>): boolean {
  return exitSeenOf !== invocationId
}

/**
 * Whether the process that exits is the one that ran last, or systemd has started it from the same
 * config since.
 */
function isOfWhatRanLast(known: (Starts & Process) | undefined, unit: KnownUnit): boolean {
  const last = known?.process
  if (known === undefined || last === undefined) return false
  return last.invocationId === unit.invocationId || contentOfKey(last.key) === contentOfKey(known.subject)
}

/**
 * The process of the same content that was started as another kubelet than is installed: its exit
 * is charged to it.
 */
function findFormerProcess({ known, subject, interval }: Fold<Process>): ProcessHealth | undefined {
  const process = known?.process
  if (process === undefined || process.key === subject || interval.gap) return undefined
  return contentOfKey(process.key) === contentOfKey(subject) ? process : undefined
}

/**
 * Rule 23: systemd refused a start, and kubelet is not known to have exited by itself within the
 * time of a trial: somebody has started it again and again. Each of those processes was stopped for
 * the next one.
 */
export function isStartRefused(
  { exits, recentExits = [], subject }: Pick<Starts & Exits, 'exits' | 'recentExits' | 'subject'>,
  { activity, startLimitHit }: KnownUnit,
  nowUs: number,
  { trialUs }: HealthPolicy,
): boolean {
  const hasExited = exits > 0 || recentExits.some(({ key, atUs }) => key === subject && nowUs - atUs < trialUs)
  return activity === 'failed' && startLimitHit === true && !hasExited
}

export type ExitLog = Pick<Starts & Exits, 'recentExits' | 'subject'>

/** Adds the exits that are new, and charged to the config. */
export function logExits(
  before: Pick<Exits & Starts & Process, 'recentExits' | 'invocationId' | 'exitSeenOf' | 'process'> | undefined,
  { unit, nowUs: atUs }: Pick<Fold<unknown>, 'unit' | 'nowUs'>,
  key: TrialKey,
  { unseen, seen, lackedRuntimeUs }: NewExits,
): readonly KubeletExit[] {
  const log = before?.recentExits ?? []
  // The first of them is that of the process which the last look found alive.
  const ended = before !== undefined && unseen > 0 && isAlive(before) ? [before] : []
  const count = Math.min(EXITS_THAT_FAIL, unseen - ended.length)
  const { startedAtUs, killedBy, restartWait } = unit
  const markOf = (sinceUs: number) => (lackedRuntimeUs !== undefined && sinceUs <= lackedRuntimeUs ? { lackedRuntime: true } : {})
  const waits = restartWait?.untilUs === undefined ? {} : { restartsAtUs: restartWait.untilUs }
  const last = { key, invocationId: unit.invocationId, startedAtUs, atUs, killedBy, ...waits, ...markOf(startedAtUs) }
  return keepLatest([
    ...log,
    ...ended.map(({ invocationId, process }): KubeletExit => {
      const sinceUs = process?.invocationId === invocationId ? process.startedAtUs : undefined
      return { key, invocationId, startedAtUs: sinceUs, atUs, ...markOf(sinceUs ?? 0) }
    }),
    ...Array.from({ length: count }, (): KubeletExit => ({ key, invocationId: '', atUs, ...markOf(atUs) })),
    ...(seen ? [last] : []),
  ])
}

/** The latest exits of each config by itself: the exits of another must not push its own out. */
function keepLatest(exits: readonly KubeletExit[]): readonly KubeletExit[] {
  const newestFirst = exits.toReversed()
  const contents = [...new Set(newestFirst.map(({ key }) => contentOfKey(key)))].slice(0, MOST_CONFIGS)
  const kept = new Set(contents.flatMap((content) => newestFirst.filter(({ key }) => contentOfKey(key) === content).slice(0, MOST_EXITS)))
  return exits.filter((exit) => kept.has(exit))
}

/** Since the last look, kubelet would have started with the subject, and with no other config. */
export function ageExits({ recentExits = [], subject }: ExitLog, sinceUs: number): readonly KubeletExit[] {
  const content = contentOfKey(subject)
  return recentExits.map((exit) => (contentOfKey(exit.key) === content ? exit : { ...exit, awayUs: (exit.awayUs ?? 0) + sinceUs }))
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The exits of kubelet that nobody requested: which are new, whom they are charged to, and the
 * latest of them. The latest show a crash loop that is slower than a trial, in which each process
 * stays healthy for long enough to be promoted. Pure.
 */
import { contentOfKey, isTrialKey, type TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { HOUR_US } from '../values/durations.ts'
import { isFlag, isNumber, isText, listOf, optional, shape, type TypeOf } from '../values/json-shape.ts'
import { type Excuse, type Excused, mayLackRuntime } from './excuse.ts'
import type { Illness } from './illness.ts'
import { chargeExits, type Fold, type HealthPolicy, type Looks } from './looks.ts'
import type { Process, ProcessHealth } from './process.ts'
import { hasEnded, type SampleHealth } from './sample.ts'
import type { Starts } from './starts.ts'

/**
 * The window of exits. Only the time in which kubelet starts with the config counts, not that of
 * another one.
 */
const WINDOW_US = 24 * HOUR_US
/** This many exits within the window are a failure. No more are kept of one config. */
const EXITS_THAT_FAIL = 10
/** The exits of so many configs are kept. */
const MOST_CONFIGS = 8
/** Nobody upgrades a kubelet so often within a few minutes. */
export const KUBELETS_OF_NO_UPGRADE = 3
/** This many exits are worth a warning. */
const EXITS_THAT_WARN = 5

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
function findNewExits(
  known: (Starts & Exits) | undefined,
  { invocationId, nRestarts, activity }: KnownUnit,
): NewExits & { isCounted: boolean } {
  if (known === undefined) return { unseen: 0, seen: false, isCounted: false }
  // Rule 15: all exits between two looks count, also those of processes that no look has seen.
  const counted = countExits(known.lastNRestarts, nRestarts)
  // Systemd counts the exit a moment before the unit has another invocation.
  const isCounted = counted > 0 && known.invocationId === invocationId
  return {
    unseen: Math.max(0, counted - Number(isCountDue(known))),
    seen: hasEnded(activity) && !isCounted && known.exitSeenOf !== invocationId,
    isCounted,
  }
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

type Log = Pick<Starts & Exits, 'recentExits' | 'subject'>

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
  const keys = [...new Set(newestFirst.map(({ key }) => key))].slice(0, MOST_CONFIGS)
  const kept = new Set(keys.flatMap((key) => newestFirst.filter((exit) => exit.key === key).slice(0, EXITS_THAT_FAIL)))
  return exits.filter((exit) => kept.has(exit))
}

/** Since the last look, kubelet would have started with the subject, and with no other config. */
export function ageExits({ recentExits = [], subject }: Log, sinceUs: number): readonly KubeletExit[] {
  return recentExits.map((exit) => (exit.key === subject ? exit : { ...exit, awayUs: (exit.awayUs ?? 0) + sinceUs }))
}

/**
 * Rule 24: the exits of what kubelet starts with next within the window, so many that they tell
 * something.
 */
export function countRecurringExits(record: Log & Pick<Illness, 'healthySinceUs'>, nowUs: number): RecurringExits | undefined {
  const recent = listRecent(record, nowUs)
  const exits = recent.length
  const isOver = record.healthySinceUs !== undefined && (recent.at(-1)?.atUs ?? 0) < record.healthySinceUs
  return exits < EXITS_THAT_WARN ? undefined : { exits, failed: exits >= EXITS_THAT_FAIL, isOver }
}

/**
 * Whether the processes of what kubelet starts with next live for as long as a trial, and exit
 * then, so often that another trial would show nothing.
 */
export function outlivesTrials(record: Log, nowUs: number, { trialUs }: Pick<HealthPolicy, 'trialUs'>): boolean {
  const late = listRecent(record, nowUs).filter(({ startedAtUs, atUs }) => startedAtUs !== undefined && atUs - startedAtUs >= trialUs)
  return late.length >= EXITS_THAT_WARN
}

/**
 * How long the longest-lived process of the subject ran of those that exited on trial, within an
 * hour of their start. Another has to outlive it before its health says anything of other configs.
 */
export function longestLifeOnTrialUs(record: Log, nowUs: number, { trialUs }: Pick<HealthPolicy, 'trialUs'>): number {
  const lives = listRecent(record, nowUs).map(({ atUs, startedAtUs = atUs }) => atUs - startedAtUs)
  return Math.max(0, ...lives.filter((lifeUs) => lifeUs < Math.min(trialUs, HOUR_US)))
}

function listRecent({ recentExits = [], subject }: Log, nowUs: number): readonly KubeletExit[] {
  return recentExits.filter(({ key, atUs, awayUs = 0 }) => key === subject && nowUs - atUs - awayUs < WINDOW_US)
}

/**
 * How often kubelet has exited in a row with the content that it starts with next, as one kubelet
 * after another: something that counts as its identity, such as an environment file, differs at
 * each start. A few upgrades never look like that.
 *
 * @returns 0: not so often that it is a crash loop
 */
export function countVaryingExits({ recentExits = [], subject }: Log, nowUs: number, { crashLimit, trialUs }: HealthPolicy): number {
  const own = recentExits.filter(({ key }) => contentOfKey(key) === contentOfKey(subject))
  const isNext = ({ atUs }: KubeletExit, index: number) => (own[index + 1]?.atUs ?? nowUs) - atUs < trialUs
  const inARow = own.slice(own.findLastIndex((exit, index) => !isNext(exit, index)) + 1)
  const kubelets = new Set(inARow.map(({ key }) => key)).size
  return inARow.length >= crashLimit && kubelets >= KUBELETS_OF_NO_UPGRADE ? inARow.length : 0
}

interface RecurringExits {
  readonly exits: number
  readonly failed: boolean
  /**
   * Kubelet has become healthy after the last of them. The failure was seen then, and what was
   * concluded from it has been dropped since, or lost.
   */
  readonly isOver: boolean
}

/** For messages. */
export function describeRecurringExits({ exits }: { readonly exits: number }): string {
  return `kubelet exited ${exits}${exits >= EXITS_THAT_FAIL ? ' or more' : ''} times within 24 hours`
}

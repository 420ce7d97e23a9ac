/**
 * The latest exits of kubelet. They show a crash loop that is slower than a trial, in which each
 * process stays healthy for long enough to be promoted. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import type { HealthRecord, HealthSample, KubeletExit } from './health.ts'
import { type ChargedExits, isAlive } from './new-exits.ts'
import type { Policy } from './policy.ts'
import { contentOfKey, type TrialKey } from './trial-key.ts'

/** Of the time in which kubelet starts with the config: the time of another one does not count. */
const WINDOW_US = 24 * HOUR_US
/** So many exits within the window are a failure. No more are kept of one config. */
const EXITS_THAT_FAIL = 10
/** The exits of so many configs are kept. */
const MOST_CONFIGS = 8
/** Nobody upgrades a kubelet so often within a few minutes. */
export const KUBELETS_OF_NO_UPGRADE = 3
/** So many are worth a warning. */
const EXITS_THAT_WARN = 5

/** Adds the exits that are new, and charged to the config. */
export function logExits(
  before: Pick<HealthRecord, 'recentExits' | 'invocationId' | 'exitSeenOf' | 'process'> | undefined,
  sample: HealthSample,
  key: TrialKey,
  { unseen, seen }: ChargedExits,
): readonly KubeletExit[] {
  const log = before?.recentExits ?? []
  const { unit, at } = sample
  if (unit.kind === 'unknown' || (unseen === 0 && !seen)) return log
  const atUs = at.monotonicUs
  // The first of them is that of the process which the last look found alive.
  const ended = before !== undefined && unseen > 0 && isAlive(before) ? [before] : []
  const count = Math.min(EXITS_THAT_FAIL, unseen - ended.length)
  return keepLatest([
    ...log,
    ...ended.map(({ invocationId, process }): KubeletExit => {
      const startedAtUs = process?.invocationId === invocationId ? process.startedAtUs : undefined
      return { key, invocationId, startedAtUs, atUs }
    }),
    ...Array.from({ length: count }, (): KubeletExit => ({ key, invocationId: '', atUs })),
    ...(seen ? [{ key, invocationId: unit.invocationId, startedAtUs: unit.startedAtUs, atUs, killedBy: unit.killedBy }] : []),
  ])
}

/** Of each config by itself: the exits of another must not push its own out. */
function keepLatest(exits: readonly KubeletExit[]): readonly KubeletExit[] {
  const newestFirst = exits.toReversed()
  const keys = [...new Set(newestFirst.map(({ key }) => key))].slice(0, MOST_CONFIGS)
  const kept = new Set(keys.flatMap((key) => newestFirst.filter((exit) => exit.key === key).slice(0, EXITS_THAT_FAIL)))
  return exits.filter((exit) => kept.has(exit))
}

/** Since the last look, kubelet would have started with the subject, and with no other config. */
export function ageExits(exits: readonly KubeletExit[] = [], subject: TrialKey, sinceUs: number): readonly KubeletExit[] {
  return exits.map((exit) => (exit.key === subject ? exit : { ...exit, awayUs: (exit.awayUs ?? 0) + sinceUs }))
}

/**
 * The exits of what kubelet starts with next within the window, so many that they tell something.
 */
export function countRecurringExits(record: HealthRecord, nowUs: number): RecurringExits | undefined {
  const recent = listRecent(record, nowUs)
  const exits = recent.length
  const isOver = record.healthySinceUs !== undefined && (recent.at(-1)?.atUs ?? 0) < record.healthySinceUs
  return exits < EXITS_THAT_WARN ? undefined : { exits, failed: exits >= EXITS_THAT_FAIL, isOver }
}

/**
 * Whether the processes of what kubelet starts with next live for as long as a trial, and exit
 * then, so often that another trial would show nothing.
 */
export function outlivesTrials(record: HealthRecord, nowUs: number, { trialUs }: Pick<Policy, 'trialUs'>): boolean {
  const late = listRecent(record, nowUs).filter(({ startedAtUs, atUs }) => startedAtUs !== undefined && atUs - startedAtUs >= trialUs)
  return late.length >= EXITS_THAT_WARN
}

function listRecent({ recentExits = [], subject }: HealthRecord, nowUs: number): readonly KubeletExit[] {
  return recentExits.filter(({ key, atUs, awayUs = 0 }) => key === subject && nowUs - atUs - awayUs < WINDOW_US)
}

/**
 * How often kubelet has exited in a row with the content that it starts with next, as one kubelet
 * after another: something that counts as its identity, such as an environment file, differs at
 * each start. A few upgrades never look like that.
 *
 * @returns 0: not so often that it is a crash loop
 */
export function countVaryingExits(
  { recentExits = [], subject }: Pick<HealthRecord, 'recentExits' | 'subject'>,
  nowUs: number,
  { crashLimit, trialUs }: Pick<Policy, 'crashLimit' | 'trialUs'>,
): number {
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

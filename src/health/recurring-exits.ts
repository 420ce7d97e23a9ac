// SPDX-License-Identifier: Apache-2.0
/**
 * A crash loop that is slower than a trial, in which each process stays healthy for long enough to
 * be promoted, and one that no single kubelet shows, since each start makes another. Pure.
 */
import { contentOfKey } from '../subject/trial-key.ts'
import { HOUR_US } from '../values/durations.ts'
import { EXITS_THAT_FAIL, type ExitLog, type KubeletExit } from './exits.ts'
import type { Illness } from './illness.ts'
import type { HealthPolicy } from './looks.ts'

/**
 * The window of exits. Only the time in which kubelet starts with the config counts, not that of
 * another one.
 */
const WINDOW_US = 24 * HOUR_US
/** This many exits are worth a warning. */
const EXITS_THAT_WARN = 5
/** Nobody upgrades a kubelet so often within the time of the exits. */
export const KUBELETS_OF_NO_UPGRADE = 3

/**
 * Rule 24: the exits of what kubelet starts with next within the window, so many that they tell
 * something.
 */
export function countRecurringExits(record: ExitLog & Pick<Illness, 'healthySinceUs'>, nowUs: number): RecurringExits | undefined {
  const recent = listRecent(record, nowUs)
  const exits = recent.length
  const isOver = record.healthySinceUs !== undefined && (recent.at(-1)?.atUs ?? 0) < record.healthySinceUs
  return exits < EXITS_THAT_WARN ? undefined : { exits, failed: exits >= EXITS_THAT_FAIL, isOver, isVarying: countKubelets(recent) > 1 }
}

/**
 * Whether the processes of what kubelet starts with next live for as long as a trial, and exit
 * then, so often that another trial would show nothing.
 */
export function outlivesTrials(record: ExitLog, nowUs: number, { trialUs }: Pick<HealthPolicy, 'trialUs'>): boolean {
  const late = listRecent(record, nowUs).filter(({ startedAtUs, atUs }) => startedAtUs !== undefined && atUs - startedAtUs >= trialUs)
  return late.length >= EXITS_THAT_WARN
}

/**
 * How long the longest-lived process of the subject ran of those that exited on trial, within an
 * hour of their start. Another has to outlive it before its health says anything of other configs.
 */
export function longestLifeOnTrialUs(record: ExitLog, nowUs: number, { trialUs }: Pick<HealthPolicy, 'trialUs'>): number {
  const lives = listRecent(record, nowUs).map(({ atUs, startedAtUs = atUs }) => atUs - startedAtUs)
  return Math.max(0, ...lives.filter((lifeUs) => lifeUs < Math.min(trialUs, HOUR_US)))
}

/** On whatever kubelet, where each start makes another. */
function listRecent(record: ExitLog, nowUs: number): readonly KubeletExit[] {
  const own = listOfContent(record).filter(({ atUs, awayUs = 0 }) => nowUs - atUs - awayUs < WINDOW_US)
  const kubelets = countKubelets(own)
  return kubelets >= KUBELETS_OF_NO_UPGRADE && kubelets >= own.length / 2 ? own : own.filter(({ key }) => key === record.subject)
}

/** The exits of what kubelet starts with next, on whatever kubelet. */
export function listOfContent({ recentExits = [], subject }: ExitLog): readonly KubeletExit[] {
  return recentExits.filter(({ key }) => contentOfKey(key) === contentOfKey(subject))
}

function countKubelets(exits: readonly KubeletExit[]): number {
  return new Set(exits.map(({ key }) => key)).size
}

/**
 * How often kubelet has exited in a row with the content that it starts with next, as one kubelet
 * after another: something that counts as its identity, such as an environment file, differs at
 * each start. A few upgrades never look like that.
 *
 * @returns 0: not so often that it is a crash loop
 */
export function countVaryingExits(record: ExitLog, nowUs: number, { crashLimit, trialUs }: HealthPolicy): number {
  const own = listOfContent(record)
  const isNext = ({ atUs }: KubeletExit, index: number) => (own[index + 1]?.atUs ?? nowUs) - atUs < trialUs
  const inARow = own.slice(own.findLastIndex((exit, index) => !isNext(exit, index)) + 1)
  return inARow.length >= crashLimit && countKubelets(inARow) >= KUBELETS_OF_NO_UPGRADE ? inARow.length : 0
}

interface RecurringExits {
  readonly exits: number
  readonly failed: boolean
  /**
   * Kubelet has become healthy after the last of them. The failure was seen then, and what was
   * concluded from it has been dropped since, or lost.
   */
  readonly isOver: boolean
  /** Each start makes another kubelet. */
  readonly isVarying: boolean
}

/** For messages. */
export function describeRecurringExits({ exits }: { readonly exits: number }): string {
  return `kubelet exited ${exits}${exits >= EXITS_THAT_FAIL ? ' or more' : ''} times within 24 hours`
}

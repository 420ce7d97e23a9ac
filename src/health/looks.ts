// SPDX-License-Identifier: Apache-2.0
/**
 * One look, and the looks before, into which it is folded. Looks come late where the agent does not
 * run, as on a machine that is paused, or gets no CPU. One late look says nothing of what came
 * before it: what is known stays as it was. If another look was late shortly before, the agent is
 * slow, and what was ill at both ends is taken for ill in between, for a part of that time. Pure;
 * CLOCK_MONOTONIC.
 */
import type { TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { isNumber, optional, shape, type TypeOf } from '../values/json-shape.ts'
import { type HealthSample, hasEndedUnexecuted } from './sample.ts'

/** The limits of health, in microseconds but for the number of exits. */
export interface HealthPolicy {
  readonly trialUs: number
  readonly startDeadlineUs: number
  readonly toleranceUs: number
  readonly crashLimit: number
}

export const isLooks = shape({
  lastSampleUs: isNumber,
  /**
   * How many of the latest looks came late, since looks in time covered a whole tolerance.
   * undefined: none.
   */
  lateLooks: optional(isNumber),
  /** When the last of them was. */
  lastLateUs: optional(isNumber),
  /**
   * How much of the time of this boot counts for nothing, since nobody looked. undefined: none.
   */
  unseenUs: optional(isNumber),
  /** When systemd is to restart kubelet, which waited for that at the last look. */
  restartsAtUs: optional(isNumber),
})
export type Looks = TypeOf<typeof isLooks>

/** One look, and what is recorded of those before. */
export interface Fold<Before> {
  readonly sample: HealthSample
  readonly unit: KnownUnit
  readonly nowUs: number
  /** The content that kubelet starts with next, on this kubelet. */
  readonly subject: TrialKey
  readonly policy: HealthPolicy
  /** The record of this boot. */
  readonly known: Before | undefined
  /** The same, if it is about this content, on whatever kubelet. */
  readonly ofContent: Before | undefined
  /** The same, if it is about this subject. */
  readonly same: Before | undefined
  /** The same, if it is also about this invocation of the unit. */
  readonly ofProcess: Before | undefined
  readonly interval: Interval
  readonly runsSubject: boolean
  /** If the process is new, systemd has started it by itself. */
  readonly isAutomatic: boolean
  /** If the process is new, neither systemd nor the agent has started it. */
  readonly isByOthers: boolean
}

/** The time between this look and the one before. */
interface Interval {
  /** The time of the look before. undefined: there was none. */
  readonly lastUs: number | undefined
  readonly nowUs: number
  /** Nobody looked for longer than is tolerated. */
  readonly gap: boolean
  /**
   * How often this was so, the present gap included, since looks in time covered a whole tolerance:
   * a single one between two late ones does not make the agent fast.
   */
  readonly lateLooks: number
  /** When the last of them was. */
  readonly lastLateUs: number | undefined
  /** How much of the interval counts for a kubelet that is ill at both of its ends. */
  readonly countedUs: number
}

export function beginInterval(known: Looks | undefined, unit: KnownUnit, nowUs: number, { toleranceUs }: HealthPolicy): Interval {
  if (known === undefined) return { lastUs: undefined, nowUs, gap: true, lateLooks: 0, lastLateUs: undefined, countedUs: 0 }
  const lastUs = known.lastSampleUs
  // Rule 11: no health and no trial runs through a gap, and an exit in it is not charged.
  const gap = nowUs - lastUs > toleranceUs
  const isOver = !gap && nowUs - (known.lastLateUs ?? 0) >= toleranceUs
  const lateLooks = isOver ? 0 : (known.lateLooks ?? 0) + Number(gap)
  const lastLateUs = gap ? nowUs : isOver ? undefined : known.lastLateUs
  const ranUs = nowUs - lastUs - findWaitedUs(known, unit, nowUs)
  const countedUs = gap ? Math.min(ranUs, areLate({ lateLooks }) ? toleranceUs / 2 : 0) : ranUs
  return { lastUs, nowUs, gap, lateLooks, lastLateUs, countedUs }
}

export function foldLooks({ known, nowUs, interval, unit }: Fold<Looks>): Looks {
  const { lateLooks, lastLateUs, lastUs = nowUs, gap, countedUs } = interval
  const unseenUs = (known?.unseenUs ?? 0) + (gap ? nowUs - lastUs - countedUs : 0)
  return {
    lastSampleUs: nowUs,
    lateLooks: lateLooks || undefined,
    lastLateUs,
    unseenUs: unseenUs || undefined,
    restartsAtUs: hasEndedUnexecuted(unit) ? undefined : unit.restartWait?.untilUs,
  }
}

/** The latest looks come late, not just one. */
export function areLate({ lateLooks = 0 }: Pick<Looks, 'lateLooks'>): boolean {
  return lateLooks > 1
}

/** While systemd waits to restart kubelet (`RestartSec=`), that is no illness. */
function findWaitedUs({ lastSampleUs, restartsAtUs = 0 }: Looks, unit: KnownUnit, nowUs: number): number {
  const { activity, restartWait } = unit
  // A start waits in systemd's queue for other units, or for the agent itself. The process that ran
  // before that may have been ill.
  if (activity === 'queued') return nowUs - Math.max(lastSampleUs, restartWait?.sinceUs ?? lastSampleUs)
  // Without an exit of kubelet, nothing else ends such starts, which may fail at once.
  if (hasEndedUnexecuted(unit)) return 0
  const fromUs = restartsAtUs > lastSampleUs ? lastSampleUs : Math.max(lastSampleUs, restartWait?.sinceUs ?? nowUs)
  return Math.max(0, Math.min(nowUs, restartWait?.untilUs ?? restartsAtUs) - fromUs)
}

/**
 * @param beforeUs since when it was ill at the look before. undefined: it was not, or that illness
 * ended
 * @returns since when it has been ill, as if all time counted
 */
export function illSinceUs(beforeUs: number | undefined, { lastUs, nowUs, countedUs }: Interval): number {
  return beforeUs === undefined || lastUs === undefined ? nowUs : nowUs - (lastUs - beforeUs) - countedUs
}

/**
 * @param isIllThroughout it was ill at the look before, and is ill now
 * @returns how many of the exits since the look before are charged
 */
export function chargeExits(exits: number, { gap, lateLooks }: Interval, isIllThroughout: boolean): number {
  if (!gap) return exits
  return areLate({ lateLooks }) && isIllThroughout ? Math.min(1, exits) : 0
}

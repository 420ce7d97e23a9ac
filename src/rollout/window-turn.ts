// SPDX-License-Identifier: Apache-2.0
/**
 * The windows of the plan in the rules: what a node starts waits for one, by claim or without.
 * Pure. Its own time is CLOCK_MONOTONIC, as in every decision; that of the windows is the API
 * server's.
 */
import type { Plan } from './plan.ts'
import type { RolloutTime } from './view.ts'
import { describeTime, utcOffsets, windowAt, type ZoneOffsets } from './windows.ts'

export type WindowTurn =
  /** The plan has no windows, or does not want this content to wait for them. */
  | { readonly kind: 'none' }
  | { readonly kind: 'open'; readonly opensUs: number; readonly closesUs: number }
  | { readonly kind: 'closed'; readonly opensUs: number; readonly closesUs: number; readonly detail: string }
  /** When one opens is not known. */
  | { readonly kind: 'unknown'; readonly detail: string }

export function findWindow(plan: Plan, hash: string, time: RolloutTime | undefined, nowUs: number): WindowTurn {
  const { windows, timeZone, now } = plan
  if (windows.length === 0 || (now !== undefined && hash.startsWith(now))) return { kind: 'none' }
  if (time === undefined) return { kind: 'unknown', detail: 'its plan has windows, and the API server has not told the time yet' }
  const zone = findOffsets(timeZone, time)
  if (typeof zone === 'string') return { kind: 'unknown', detail: zone }
  const { nowMs } = time
  const window = windowAt(windows, zone, nowMs)
  // Rounded, so that one opening is the same time in each decision.
  const toUs = (ms: number): number => nowUs + Math.round((ms - nowMs) * 1000)
  switch (window.kind) {
    case 'open':
      return { kind: 'open', opensUs: toUs(window.opensMs), closesUs: toUs(window.closesMs) }
    case 'closed': {
      const { next } = window
      if (next === undefined) return { kind: 'unknown', detail: 'no window of its plan opens in the next two weeks' }
      const detail = `its windows are closed; the next one opens on ${describeTime(next.opensMs, zone)}`
      return { kind: 'closed', opensUs: toUs(next.opensMs), closesUs: toUs(next.closesMs), detail }
    }
    case 'unknown':
      return { kind: 'unknown', detail: describeUnknown(timeZone) }
  }
}

/**
 * In how long the last nodes start a rollout that is open to all of them: see `goSpread`.
 *
 * @returns undefined: in a window after this one, or that is not known
 */
export function untilLastTurnUs({ spreadUs }: Plan, window: WindowTurn, nowUs: number): number | undefined {
  if (window.kind === 'none') return spreadUs
  if (window.kind === 'unknown') return undefined
  const { opensUs, closesUs } = window
  const atUs = Math.max(nowUs, opensUs) + Math.min(spreadUs, closesUs - opensUs)
  return atUs <= closesUs ? atUs - nowUs : undefined
}

function findOffsets(timeZone: string, { nowMs, zone }: RolloutTime): ZoneOffsets | string {
  if (timeZone === 'UTC') return utcOffsets(nowMs)
  if (zone === undefined || (zone.ok ? zone.offsets.timeZone : zone.timeZone) !== timeZone) return describeUnknown(timeZone)
  return zone.ok ? zone.offsets : `its plan has windows, and ${zone.detail}`
}

function describeUnknown(timeZone: string): string {
  return `its plan has windows, and this node has not read the time zone ${timeZone} yet`
}

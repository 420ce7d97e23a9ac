// SPDX-License-Identifier: Apache-2.0
/**
 * The zones, the rest and the windows of a plan, for `rollout` of the agent and of the plugin, by
 * the clock of this machine. Pure: reads the time zone itself, which the agent's own process does
 * not.
 */
import { type Plan, zoneOrderOf } from '../rollout/plan.ts'
import { answerTimeZone } from '../rollout/time-zone.ts'
import type { ZoneAnswer } from '../rollout/view.ts'
import { findWindow, type WindowTurn } from '../rollout/window-turn.ts'
import { DAY_MS, describeTime, listSkipped, WINDOW_LOOKAHEAD_MS } from '../rollout/windows.ts'
import { formatDuration } from '../values/durations.ts'

/** In a year each change of the clocks comes. */
const YEAR_MS = 366 * DAY_MS
const BACK_MS = 10 * DAY_MS

/** For programs. */
export interface PlanDocument {
  readonly zones: { readonly label: string; readonly names: readonly string[] } | null
  readonly restSeconds: number
  readonly windows: WindowsDocument | null
}

interface WindowsDocument {
  readonly windows: readonly string[]
  readonly timeZone: string
  /** `now`: the plan lets this content start at any time. `unknown`: see `detail`. */
  readonly state: 'open' | 'closed' | 'now' | 'unknown'
  readonly detail: string
  /** Windows that do not open on a day of the next year, since the clocks skip them. */
  readonly skipped: readonly string[]
}

export function documentPlan(plan: Plan, hash: string, nowMs: number): PlanDocument {
  const zones = zoneOrderOf(plan)
  return {
    zones: zones === undefined ? null : { label: zones.label, names: zones.zones },
    restSeconds: plan.restUs / 1e6,
    windows: plan.windows.length === 0 ? null : documentWindows(plan, hash, nowMs),
  }
}

/** For what waits for a window beside the nodes. */
export function findWindowNow(plan: Plan, hash: string, nowMs: number, nowUs: number): WindowTurn {
  const zone = plan.windows.length === 0 ? undefined : answerTimeZone(plan.timeZone, nowMs - BACK_MS, nowMs + WINDOW_LOOKAHEAD_MS)
  return findWindow(plan, hash, { nowMs, zone }, nowUs)
}

/** The windows that do not open on a day of the next year, since the clocks skip them. */
export function findSkipped(
  { windows, timeZone }: Plan,
  nowMs: number,
): { readonly ok: true; readonly windows: readonly string[] } | { readonly ok: false; readonly detail: string } {
  if (windows.length === 0) return { ok: true, windows: [] }
  const zone = yearOf(timeZone, nowMs)
  return zone.ok ? { ok: true, windows: listSkipped(windows, zone.offsets) } : zone
}

function yearOf(timeZone: string, nowMs: number): ZoneAnswer {
  return answerTimeZone(timeZone, nowMs - BACK_MS, nowMs + YEAR_MS)
}

function documentWindows(plan: Plan, hash: string, nowMs: number): WindowsDocument {
  const { windows, timeZone } = plan
  const zone = yearOf(timeZone, nowMs)
  const window = findWindow(plan, hash, { nowMs, zone }, 0)
  const skipped = zone.ok ? listSkipped(windows, zone.offsets) : []
  return { windows: windows.map(({ text }) => text), timeZone, ...describeWindow(window, zone, nowMs), skipped }
}

function describeWindow(window: WindowTurn, zone: ZoneAnswer, nowMs: number): Pick<WindowsDocument, 'state' | 'detail'> {
  if (window.kind === 'none') return { state: 'now', detail: 'the plan lets this content start now' }
  if (window.kind !== 'open') return { state: window.kind, detail: window.detail }
  const closesMs = nowMs + window.closesUs / 1000
  return { state: 'open', detail: zone.ok ? `open until ${describeTime(closesMs, zone.offsets)}` : 'open' }
}

/** Rows of a table. None for a plan without these words. */
export function describePlan({ zones, restSeconds, windows }: PlanDocument): readonly (readonly [name: string, text: string])[] {
  const rows: [string, string][] = []
  if (zones !== null) rows.push(['Zones', `${zones.names.join(', ')} (${zones.label})`])
  if (restSeconds > 0) rows.push(['Rest', `${formatDuration(restSeconds * 1e6)} in each stage, before nodes claim`])
  if (windows !== null) rows.push(['Windows', `${windows.windows.join(', ')} (${windows.timeZone}): ${windows.detail}`])
  for (const skipped of windows?.skipped ?? []) rows.push(['Not open', `${skipped}: the clocks skip it`])
  return rows
}

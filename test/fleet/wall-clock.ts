// SPDX-License-Identifier: Apache-2.0
/**
 * The clocks of some time zones by the rules of their laws, and whether a window is open on them:
 * written a second time, without the agent's own parser and without ICU. A window is open while the
 * clock shows a time within it.
 */

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY_MS = 24 * HOUR_MS
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

interface Summer {
  readonly extraMs: number
  /** When it begins and ends in this year, in UTC. Where it is the south, it ends first. */
  readonly begins: (year: number) => number
  readonly ends: (year: number) => number
}

interface Zone {
  readonly offsetMs: number
  readonly summer?: Summer
}

const ZONES: Readonly<Record<string, Zone>> = {
  UTC: { offsetMs: 0 },
  'Asia/Kathmandu': { offsetMs: 5.75 * HOUR_MS },
  'Europe/Berlin': {
    offsetMs: HOUR_MS,
    summer: { extraMs: HOUR_MS, begins: (year) => sunday(year, 2, -1) + HOUR_MS, ends: (year) => sunday(year, 9, -1) + HOUR_MS },
  },
  'America/New_York': {
    offsetMs: -5 * HOUR_MS,
    summer: { extraMs: HOUR_MS, begins: (year) => sunday(year, 2, 2) + 7 * HOUR_MS, ends: (year) => sunday(year, 10, 1) + 6 * HOUR_MS },
  },
  'Australia/Lord_Howe': {
    offsetMs: 10.5 * HOUR_MS,
    summer: {
      extraMs: HOUR_MS / 2,
      begins: (year) => sunday(year, 9, 1) - 8.5 * HOUR_MS,
      ends: (year) => sunday(year, 3, 1) - 9 * HOUR_MS,
    },
  },
}

export const TIME_ZONES = ['UTC', 'Asia/Kathmandu', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const

/** Midnight in UTC of the first, second or last Sunday of a month. */
function sunday(year: number, month: number, which: 1 | 2 | -1): number {
  const first = Date.UTC(year, month + (which === -1 ? 1 : 0), 1)
  const days = (7 - new Date(first).getUTCDay()) % 7
  return first + (days + (which === -1 ? -7 : 7 * (which - 1))) * DAY_MS
}

/** The time that clocks show, as if it were one in UTC. */
export function localMs(timeZone: string, ms: number): number {
  const zone = ZONES[timeZone]
  if (zone === undefined) throw new Error(`nobody wrote down the law of ${timeZone}`)
  const { offsetMs, summer } = zone
  if (summer === undefined) return ms + offsetMs
  const year = new Date(ms).getUTCFullYear()
  const [begins, ends] = [summer.begins(year), summer.ends(year)]
  const isSummer = begins < ends ? ms >= begins && ms < ends : ms >= begins || ms < ends
  return ms + offsetMs + (isSummer ? summer.extraMs : 0)
}

/** Whether the plan's text lets nodes start: it has no windows, or one is open. */
export function isOpen(planText: string | undefined, ms: number): boolean {
  const windows = /windows: \[([^\]]*)\]/.exec(planText ?? '')?.[1]
  if (windows === undefined) return true
  const local = localMs(/timeZone: ([^\s,]+)/.exec(planText ?? '')?.[1] ?? 'UTC', ms)
  const day = Math.floor(local / DAY_MS)
  const minute = Math.floor((local - day * DAY_MS) / MINUTE_MS)
  return windows.split(', ').some((window) => isWithin(window, (day + 4) % 7, minute))
}

/** @param weekday 0: Sunday */
function isWithin(window: string, weekday: number, minute: number): boolean {
  const [, first = '', last = first, from = '', to = ''] = /^(\w{3})(?:-(\w{3}))? (\S{5})-(\S{5})$/.exec(window) ?? []
  const opensOn = (day: number): boolean => (day - DAYS.indexOf(first) + 7) % 7 <= (DAYS.indexOf(last) - DAYS.indexOf(first) + 7) % 7
  const [opens, closes] = [minutesOf(from), minutesOf(to)]
  if (closes > opens) return opensOn(weekday) && minute >= opens && minute < closes
  return (opensOn(weekday) && minute >= opens) || (opensOn((weekday + 6) % 7) && minute < closes)
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}

/** When windows open or close next, to five minutes. undefined: not before `untilMs`. */
export function nextTurn(planText: string | undefined, fromMs: number, untilMs: number): number | undefined {
  const was = isOpen(planText, fromMs)
  const step = 5 * MINUTE_MS
  for (let ms = (Math.floor(fromMs / step) + 1) * step; ms < untilMs; ms += step) if (isOpen(planText, ms) !== was) return ms
  return undefined
}

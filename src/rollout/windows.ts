// SPDX-License-Identifier: Apache-2.0
/**
 * The windows of a plan: when nodes may start a content, as `[Mon-Fri 22:00-05:00]` in the plan's
 * time zone. A window is open while the clocks of that zone show a time within it. So one that lies
 * in the hour which is skipped in spring does not open that night, and the hour that comes twice in
 * autumn counts twice. The day is that on which the window opens. Pure: the offsets of the time
 * zone are passed in, since reading them costs memory that the agent's own process does not have.
 */
import { isNumber, isText, listOf, shape, type TypeOf } from '../values/json-shape.ts'

export interface Window {
  /** Days on which it opens. 0: Sunday. */
  readonly days: readonly number[]
  /** Minutes from the midnight of that day. */
  readonly opensMinute: number
  /** Above 24 hours where it closes on the next day. */
  readonly closesMinute: number
  /** As the plan has it, for people. */
  readonly text: string
}

/** The offsets of a time zone from UTC, between two times. JSON. */
export const isZoneOffsets = shape({
  timeZone: isText,
  fromMs: isNumber,
  untilMs: isNumber,
  /** In the order of time. The first begins at `fromMs`. */
  offsets: listOf(shape({ sinceMs: isNumber, offsetMs: isNumber })),
})
export type ZoneOffsets = TypeOf<typeof isZoneOffsets>

interface Span {
  readonly opensMs: number
  readonly closesMs: number
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const DAY_MINUTES = 24 * 60
const MINUTE_MS = 60_000
export const DAY_MS = DAY_MINUTES * MINUTE_MS
/** A week and a day: a window that is always open has no opening that matters. */
export const WINDOW_LOOKBACK_MS = 8 * DAY_MS
/** Two weeks and a day: a window may be skipped once. */
export const WINDOW_LOOKAHEAD_MS = 15 * DAY_MS

const DAY = `(${DAYS.join('|')})`
const WINDOW = new RegExp(`^${DAY}(?:-${DAY})? ([01][0-9]|2[0-3]):([0-5][0-9])-(?:([01][0-9]|2[0-3]):([0-5][0-9])|24:00)$`)

/** @returns undefined: it is none */
export function parseWindow(text: string): Window | undefined {
  const [matched, first, last = first, hour, minute, closesHour = '24', closesMinute = '0'] = WINDOW.exec(text) ?? []
  if (matched === undefined || first === undefined || last === undefined) return undefined
  const from = DAYS.indexOf(first)
  const count = ((DAYS.indexOf(last) - from + 7) % 7) + 1
  const opens = Number(hour) * 60 + Number(minute)
  const closes = Number(closesHour) * 60 + Number(closesMinute)
  if (opens === closes) return undefined
  return {
    days: Array.from({ length: count }, (_, index) => (from + index) % 7),
    opensMinute: opens,
    closesMinute: closes > opens ? closes : closes + DAY_MINUTES,
    text,
  }
}

/** UTC needs no table. */
export function utcOffsets(nowMs: number): ZoneOffsets {
  const fromMs = nowMs - WINDOW_LOOKBACK_MS
  return { timeZone: 'UTC', fromMs, untilMs: nowMs + WINDOW_LOOKAHEAD_MS, offsets: [{ sinceMs: fromMs, offsetMs: 0 }] }
}

type WindowTime =
  | ({ readonly kind: 'open' } & Span)
  /** `next` undefined: none opens in the time that the offsets cover. */
  | { readonly kind: 'closed'; readonly next: Span | undefined }
  /** The offsets do not cover this time. */
  | { readonly kind: 'unknown' }

/** Windows that touch are one: a week end is open from its beginning to its end. */
export function windowAt(windows: readonly Window[], zone: ZoneOffsets, nowMs: number): WindowTime {
  if (nowMs < zone.fromMs || nowMs >= zone.untilMs) return { kind: 'unknown' }
  const around = {
    ...zone,
    fromMs: Math.max(zone.fromMs, nowMs - WINDOW_LOOKBACK_MS),
    untilMs: Math.min(zone.untilMs, nowMs + WINDOW_LOOKAHEAD_MS),
  }
  const next = listSpans(windows, around).find(({ closesMs }) => closesMs > nowMs)
  if (next === undefined || next.opensMs > nowMs) return { kind: 'closed', next }
  return { kind: 'open', ...next }
}

function listSpans(windows: readonly Window[], zone: ZoneOffsets): readonly Span[] {
  const spans = windows.flatMap((window) => daysOf(zone).flatMap((day) => openingsOn(window, day, zone)))
  const merged: Span[] = []
  for (const span of spans.sort((a, b) => a.opensMs - b.opensMs)) {
    const before = merged.at(-1)
    if (before === undefined || span.opensMs > before.closesMs) merged.push(span)
    else merged[merged.length - 1] = { ...before, closesMs: Math.max(before.closesMs, span.closesMs) }
  }
  return merged
}

/**
 * The days, counted from 1970-01-01, on which a window can open. A time zone is less than a day
 * from UTC.
 */
function daysOf({ fromMs, untilMs }: ZoneOffsets): readonly number[] {
  const first = Math.floor(fromMs / DAY_MS) - 2
  return Array.from({ length: Math.floor(untilMs / DAY_MS) + 2 - first }, (_, index) => first + index)
}

/** When the window of one day is open. None: the clocks skip it. Two: they show it twice. */
function openingsOn(window: Window, day: number, { offsets, fromMs, untilMs }: ZoneOffsets): readonly Span[] {
  if (!window.days.includes(weekdayOf(day))) return []
  return offsets
    .map(({ sinceMs, offsetMs }, index) => {
      const midnightMs = day * DAY_MS - offsetMs
      return {
        opensMs: Math.max(midnightMs + window.opensMinute * MINUTE_MS, sinceMs, fromMs),
        closesMs: Math.min(midnightMs + window.closesMinute * MINUTE_MS, offsets[index + 1]?.sinceMs ?? untilMs, untilMs),
      }
    })
    .filter(({ opensMs, closesMs }) => opensMs < closesMs)
}

/** 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

/** As "Mon 2026-11-30 22:00 (Europe/Berlin)". */
export function describeTime(ms: number, { timeZone, offsets }: ZoneOffsets): string {
  const { offsetMs } = offsets.findLast(({ sinceMs }) => sinceMs <= ms) ?? { offsetMs: 0 }
  const local = ms + offsetMs
  const [date = '', time = ''] = new Date(local).toISOString().split('T')
  return `${DAYS[weekdayOf(Math.floor(local / DAY_MS))]} ${date} ${time.slice(0, 5)} (${timeZone})`
}

/**
 * The windows that do not open on a day, since the clocks skip them, as "Sun 02:00-03:00 on Sun
 * 2027-03-28".
 */
export function listSkipped(windows: readonly Window[], zone: ZoneOffsets): readonly string[] {
  // At its ends, the range cuts windows off.
  const inner = daysOf(zone).slice(4, -4)
  return windows.flatMap((window) =>
    inner
      .filter((day) => window.days.includes(weekdayOf(day)) && openingsOn(window, day, zone).length === 0)
      .map((day) => `${window.text} on ${DAYS[weekdayOf(day)]} ${new Date(day * DAY_MS).toISOString().slice(0, 10)}`),
  )
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The offsets of a time zone, as ICU has them. Pure. Loading that costs a process some 8 MB, so the
 * helper and the commands do it, and the agent's own process does not.
 */
import type { ZoneAnswer } from './view.ts'
import { DAY_MS, type ZoneOffsets } from './windows.ts'

/** No time zone changes its offset twice in this time. */
const STEP_MS = DAY_MS / 8
const SECOND_MS = 1000

/** As the helper tells it. */
export function answerTimeZone(timeZone: string, fromMs: number, untilMs: number): ZoneAnswer {
  const offsets = readTimeZone(timeZone, fromMs, untilMs)
  if (offsets !== undefined) return { ok: true, offsets }
  return { ok: false, timeZone, detail: `there is no time zone ${timeZone}: correct timeZone in the plan` }
}

/** @returns undefined: there is no such time zone */
export function readTimeZone(timeZone: string, fromMs: number, untilMs: number): ZoneOffsets | undefined {
  const offsetAt = openTimeZone(timeZone)
  if (offsetAt === undefined) return undefined
  const from = Math.floor(fromMs / SECOND_MS) * SECOND_MS
  let before = offsetAt(from)
  const offsets = [{ sinceMs: from, offsetMs: before }]
  for (let ms = from; ms < untilMs; ms += STEP_MS) {
    const after = offsetAt(ms + STEP_MS)
    if (after === before) continue
    before = after
    const sinceMs = findChange(offsetAt, ms, ms + STEP_MS)
    offsets.push({ sinceMs, offsetMs: offsetAt(sinceMs) })
  }
  return { timeZone, fromMs: from, untilMs, offsets }
}

type OffsetAt = (ms: number) => number

/** The first second after `beforeMs` that has another offset. */
function findChange(offsetAt: OffsetAt, beforeMs: number, afterMs: number): number {
  let [low, high] = [beforeMs, afterMs]
  while (high - low > SECOND_MS) {
    const middle = low + Math.floor((high - low) / 2 / SECOND_MS) * SECOND_MS
    if (offsetAt(middle) === offsetAt(low)) low = middle
    else high = middle
  }
  return high
}

function openTimeZone(timeZone: string): OffsetAt | undefined {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields })
    return (ms) => {
      const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
      const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part
      return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / SECOND_MS) * SECOND_MS
    }
  } catch {
    // A RangeError: ICU does not know it.
    return undefined
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Makes a failing schedule short: leaves out events, and shortens the pauses, while it still breaks
 * the same invariant. What is left can be read, and kept as a regression.
 */
import { errorMessage } from '../../src/values/errors.ts'
import { runSchedule } from './run.ts'
import type { Schedule, Timed } from './schedule.ts'

/**
 * The invariant that the schedule breaks, such as `invariant 6`: the text after it names configs
 * and times.
 */
export async function findBroken(schedule: Schedule): Promise<string | undefined> {
  try {
    await runSchedule(schedule)
    return undefined
  } catch (error) {
    return errorMessage(error).split(':', 1)[0] ?? ''
  }
}

export async function shrink(schedule: Schedule): Promise<Schedule> {
  const broken = await findBroken(schedule)
  if (broken === undefined) return schedule
  let shortest = schedule
  const tries = async (events: readonly Timed[]): Promise<boolean> => {
    const candidate = { ...schedule, events }
    if ((await findBroken(candidate)) !== broken) return false
    shortest = candidate
    return true
  }
  for (let before = -1; before !== measure(shortest); ) {
    before = measure(shortest)
    for (let at = shortest.events.length - 1; at >= 0; at -= 1) {
      // The event's pause stays, so that the others happen at the same time; or goes with it.
      if (!(await tries(withoutEvent(shortest.events, at, true)))) await tries(withoutEvent(shortest.events, at, false))
    }
    for (let at = 0; at < shortest.events.length; at += 1) {
      const { events } = shortest
      const half = events.map((timed, index) => (index === at ? { ...timed, afterSeconds: Math.floor(timed.afterSeconds / 2) } : timed))
      if (events[at]?.afterSeconds !== 0) await tries(half)
    }
  }
  return shortest
}

function measure({ events }: Schedule): number {
  return events.reduce((sum, { afterSeconds }) => sum + 1e6 + afterSeconds, 0)
}

function withoutEvent(events: readonly Timed[], at: number, keepsPause: boolean): readonly Timed[] {
  const pause = keepsPause ? (events[at]?.afterSeconds ?? 0) : 0
  const next = (timed: Timed) => ({ ...timed, afterSeconds: timed.afterSeconds + pause })
  return events.flatMap((timed, index) => (index === at ? [] : index === at + 1 ? [next(timed)] : [timed]))
}

/** One part of a long simulation, small enough to be shared among processes. */
import { runSchedule } from './run.ts'
import { scheduleOf } from './stories.ts'
import { listCrashPoints, type OnFailure, sweepCrashes, sweepSeeds, type WithCrash } from './sweep.ts'

export type Part =
  | { readonly kind: 'seeds'; readonly from: number; readonly count: number; readonly crash: WithCrash }
  /** Every so many crash points of a story, so that all CPUs share the longest one. */
  | { readonly kind: 'crashes'; readonly story: string; readonly slice: number; readonly of: number }

/** With fewer operations the story has not happened. */
const FEWEST_CRASHES = 120

/** @returns how many runs there were */
export async function runPart(part: Part, failed: OnFailure): Promise<number> {
  if (part.kind === 'seeds') {
    await sweepSeeds(part.from, part.count, failed, part.crash)
    return part.count
  }
  const schedule = scheduleOf(part.story)
  const calm = await runSchedule(schedule)
  const points = listCrashPoints(calm.operations)
  if (points.length <= FEWEST_CRASHES) {
    failed(`only ${points.length} crashes: the story did not happen`)
    return 1
  }
  const slice = points.filter((_, index) => index % part.of === part.slice)
  await sweepCrashes(schedule, slice, calm, failed)
  return slice.length
}

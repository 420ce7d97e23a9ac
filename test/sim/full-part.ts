/**
 * One part of `npm run test:sim`, in a process of its own: reads its task from the command line and
 * sends its outcome to the parent.
 */
import { runSchedule } from './run.ts'
import { scheduleOf } from './stories.ts'
import { listCrashPoints, sweepCrashes, sweepSeeds } from './sweep.ts'

export type Part =
  | { readonly kind: 'seeds'; readonly from: number; readonly count: number }
  /** Every so many crash points of a story, so that all CPUs share the longest one. */
  | { readonly kind: 'crashes'; readonly story: string; readonly slice: number; readonly of: number }

export interface Outcome {
  readonly runs: number
  /** A line for each run that failed. */
  readonly failures: readonly string[]
}

/** With fewer operations the story has not happened. */
const FEWEST_CRASHES = 100

async function run(part: Part): Promise<Outcome> {
  if (part.kind === 'seeds') return { runs: part.count, failures: await sweepSeeds(part.from, part.count) }
  const schedule = scheduleOf(part.story)
  const calm = await runSchedule(schedule)
  const points = listCrashPoints(calm.operations)
  if (points.length <= FEWEST_CRASHES) return { runs: 1, failures: [`only ${points.length} crashes: the story did not happen`] }
  const slice = points.filter((_, index) => index % part.of === part.slice)
  return { runs: slice.length, failures: await sweepCrashes(schedule, slice, calm) }
}

process.send?.(await run(JSON.parse(process.argv[2] ?? '')))

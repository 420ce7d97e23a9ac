// SPDX-License-Identifier: Apache-2.0
/** One part of a long simulation, small enough to be shared among processes. */
import { runSchedule } from './run.ts'
import { scheduleOf } from './stories.ts'
import { listCrashPoints, type OnFailure, sweepCrashes, sweepSeeds, type Variation } from './sweep.ts'
import { hashOf, traceOf } from './trace.ts'

export type Part =
  | { readonly kind: 'seeds'; readonly from: number; readonly count: number; readonly variation: Variation }
  /** Every so many crash points of a story, so that all CPUs share the longest one. */
  | { readonly kind: 'crashes'; readonly story: string; readonly slice: number; readonly of: number }
  | { readonly kind: 'traces'; readonly names: readonly string[] }

export interface Done {
  readonly runs: number
  /** Of the part `traces`: names and hashes. */
  readonly traces?: readonly (readonly [string, string])[]
}

/** With fewer operations the story has not happened. */
const FEWEST_CRASHES = 120

export async function runPart(part: Part, failed: OnFailure): Promise<Done> {
  if (part.kind === 'seeds') {
    await sweepSeeds(part.from, part.count, failed, part.variation)
    return { runs: part.count }
  }
  if (part.kind === 'traces') {
    const traces: [string, string][] = []
    for (const name of part.names) traces.push([name, hashOf(await traceOf(name))])
    return { runs: traces.length, traces }
  }
  const schedule = scheduleOf(part.story)
  const calm = await runSchedule(schedule)
  const points = listCrashPoints(calm.operations)
  if (points.length <= FEWEST_CRASHES) {
    failed(`only ${points.length} crashes: the story did not happen`)
    return { runs: 1 }
  }
  const slice = points.filter((_, index) => index % part.of === part.slice)
  await sweepCrashes(schedule, slice, calm, failed)
  return { runs: slice.length }
}

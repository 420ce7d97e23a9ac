// SPDX-License-Identifier: Apache-2.0
/**
 * Crashes at a sample of the operations of each story: the node must settle where it settles
 * without the crash (invariant 4). `npm run test:sim` crashes at every operation.
 */
import t from 'tap'
import { runSchedule } from './run.ts'
import { STORIES, scheduleOf } from './stories.ts'
import { listCrashPoints, sweepCrashes } from './sweep.ts'

/**
 * Each story takes every 31st crash point. 31 is odd, so all four kinds of crash come up in every
 * story.
 */
const STRIDE = 31
/**
 * Added to a story's first crash point for each story before it, so that stories crash at different
 * points.
 */
const SHIFT = 7

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

for (const [index, story] of Object.keys(STORIES).entries()) {
  t.test(story, async (t) => {
    const schedule = scheduleOf(story)
    const calm = await runSchedule(schedule)
    const points = listCrashPoints(calm.operations).filter((_, at) => at % STRIDE === (index * SHIFT) % STRIDE)
    t.ok(points.length >= 6, `${points.length} crashes`)
    await sweepCrashes(schedule, points, calm, (failure) => t.fail(failure))
  })
}

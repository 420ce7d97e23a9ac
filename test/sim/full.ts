// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run test:sim`: the whole simulation, in one process per CPU. Random schedules, also with
 * faults that stop, and a crash at every operation of every story. The last line counts the runs.
 */
import { availableParallelism } from 'node:os'
import type { Part } from './part.ts'
import { type Outcome, runParts } from './pool.ts'
import { STORIES } from './stories.ts'
import type { Variation } from './sweep.ts'

/** As many as the five minutes of CPU afford that are left beside the crashes. */
const SEEDS = 200
/** Of these, so many also with faults that stop. */
const STOPPED = 100
const SEEDS_AT_ONCE = 50
/** Of the crash points of a story. */
const SLICES = 4
/** Of one part: what breaks one run often breaks all of them. */
const MOST_FAILURES_SHOWN = 10

const queue: Part[] = [
  ...Object.keys(STORIES).flatMap((story) =>
    Array.from({ length: SLICES }, (_, slice): Part => ({ kind: 'crashes', story, slice, of: SLICES })),
  ),
  ...listSeeds(SEEDS, 'plain'),
  ...listSeeds(STOPPED, 'stops'),
]

function listSeeds(seeds: number, variation: Variation): readonly Part[] {
  return Array.from({ length: seeds / SEEDS_AT_ONCE }, (_, index) => {
    return { kind: 'seeds', from: 1 + index * SEEDS_AT_ONCE, count: SEEDS_AT_ONCE, variation }
  })
}

let passed = 0
let failed = 0

function done(part: Part, { runs, failures }: Outcome): void {
  passed += runs - failures.length
  failed += failures.length
  const title =
    part.kind === 'crashes'
      ? `crashes: ${part.story} (${part.slice + 1}/${part.of})`
      : part.kind === 'seeds'
        ? `seeds ${part.from} to ${part.from + part.count - 1}${part.variation === 'stops' ? ', whose faults stop' : ''}`
        : 'traces'
  console.log(`${failures.length === 0 ? 'ok' : 'FAILED'}  ${title} (${runs} runs)`)
  for (const failure of failures.slice(0, MOST_FAILURES_SHOWN)) console.log(`        ${failure}`)
  const hidden = failures.length - MOST_FAILURES_SHOWN
  if (hidden > 0) console.log(`        and ${hidden} more`)
}

await runParts(() => queue.shift(), availableParallelism(), { done })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Part } from './part.ts'
import { type Outcome, runParts } from './pool.ts'

const SEEDS: Part = { kind: 'seeds', from: 1, count: 2, variation: 'crashes' }
const NO_STORY: Part = { kind: 'crashes', story: 'none', slice: 0, of: 1 }

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

t.test('one process runs all parts, and says at once what fails', async (t) => {
  const queue = [NO_STORY, SEEDS]
  const outcomes: [Part, Outcome][] = []
  const failures: [Part, string][] = []
  await runParts(() => queue.shift(), 1, {
    failed: (part, failure) => failures.push([part, failure]),
    done: (part, outcome) => outcomes.push([part, outcome]),
  })
  t.match(failures, [[NO_STORY, /^only \d+ crashes: the story did not happen$/]])
  t.match(outcomes, [
    [NO_STORY, { runs: 1, failures: [/^only /] }],
    [SEEDS, { runs: 2, failures: [] }],
  ])
})

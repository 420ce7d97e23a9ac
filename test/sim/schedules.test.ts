// SPDX-License-Identifier: Apache-2.0
/**
 * Random schedules, with every invariant checked after every step. `npm run test:sim` runs 200 of
 * them, `npm run sim -- --seeds N` any number.
 */
import t from 'tap'
import { sweepSeeds } from './sweep.ts'

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

t.test('seeds 1 to 50', async (t) => {
  await sweepSeeds(1, 50, (failure) => t.fail(failure))
  t.pass('each was run')
})

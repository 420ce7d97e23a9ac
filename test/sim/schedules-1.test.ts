/** Random schedules, every invariant after every step. `npm run sim -- --seeds N` runs more of them. */
import t from 'tap'
import { sweepSeeds } from './sweep.ts'

t.test('seeds 1 to 1000', { timeout: 600_000 }, (t) => sweepSeeds(t, 1, 1000))

/** The second half, in a file of its own so that both run at once. */
import t from 'tap'
import { sweepSeeds } from './sweep.ts'

t.test('seeds 1001 to 2000', { timeout: 600_000 }, (t) => sweepSeeds(t, 1001, 1000))

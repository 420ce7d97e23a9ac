/** Every schedule that once broke an invariant. */
import t from 'tap'
import { REGRESSIONS } from './regressions.ts'
import { runSchedule } from './run.ts'

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

for (const [cause, schedule] of Object.entries(REGRESSIONS)) {
  t.test(cause, async (t) => {
    await runSchedule(schedule)
    t.pass('no invariant is broken')
  })
}

// SPDX-License-Identifier: Apache-2.0
/** Every schedule that once broke an invariant, and each way in which a config has to be left. */
import t from 'tap'
import { LEAVINGS, REGRESSIONS } from './regressions.ts'
import { runSchedule } from './run.ts'

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

for (const [cause, { crash, ...schedule }] of Object.entries(REGRESSIONS)) {
  t.test(cause, async (t) => {
    await runSchedule(schedule, crash && { crash })
    t.pass('no invariant is broken')
  })
}

for (const [way, leaving] of Object.entries(LEAVINGS)) {
  t.test(way, async (t) => {
    const settled = await runSchedule(leaving)
    t.match(settled.assigned, `# behaviour: ${leaving.assigned}`)
    t.match(settled.runs, `# behaviour: ${leaving.runs}`)
    t.equal(settled.lastKnownGood, settled.runs)
  })
}

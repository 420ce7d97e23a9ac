/** Every schedule that once broke an invariant, and each kind of evidence alone. */
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

for (const behaviour of ['loses-lease', 'not-ready', 'breaks-serving', 'loses-static-pods', 'refuses-pods'] as const) {
  t.test(`evidence: a config that ${behaviour} is rolled back`, async (t) => {
    const settled = await runSchedule({
      seed: 4,
      node: { evidence: true },
      events: [
        { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
        { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
        { afterSeconds: 1000, event: { kind: 'edit', name: 'red', behaviour } },
      ],
    })
    t.match(settled.assigned, `# behaviour: ${behaviour}`)
    t.match(settled.runs, '# behaviour: good')
    t.equal(settled.lastKnownGood, settled.runs)
  })
}

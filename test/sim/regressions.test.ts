/** Every schedule that once broke an invariant, and each kind of evidence alone. */
import t, { type Test } from 'tap'
import type { Behaviour } from './behaviour.ts'
import type { NodeKind } from './node-kind.ts'
import { REGRESSIONS } from './regressions.ts'
import { runSchedule } from './run.ts'
import type { Timed } from './schedule.ts'

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

const LEAVES_STATE: readonly Timed[] = [
  { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
  { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
  { afterSeconds: 1000, event: { kind: 'edit', name: 'red', behaviour: 'leaves-state' } },
]

for (const journal of [true, false]) {
  for (const activation of ['env', 'file', 'drop-in'] as const) {
    const about = `${activation}, ${journal ? 'with' : 'without'} a journal`
    t.test(`what a config left kills its fallbacks until a person deletes it: ${about}`, async (t) => {
      const settled = await runSchedule({ seed: 4, node: { activation, journal }, events: LEAVES_STATE })
      t.match(settled.assigned, '# behaviour: leaves-state')
      t.match(settled.runs, '# behaviour: good')
      t.equal(settled.lastKnownGood, settled.runs)
    })

    t.test(`a good config is wanted while what another left kills it: ${about}`, async (t) => {
      const edit: Timed = { afterSeconds: 100, event: { kind: 'edit', name: 'red', behaviour: 'slow-start' } }
      const settled = await runSchedule({ seed: 4, node: { activation, journal }, events: [...LEAVES_STATE, edit] })
      t.match(settled.runs, '# behaviour: slow-start')
      t.equal(settled.lastKnownGood, settled.runs)
    })
  }
}

for (const [cause, schedule] of Object.entries(REGRESSIONS)) {
  t.test(cause, async (t) => {
    await runSchedule(schedule)
    t.pass('no invariant is broken')
  })
}

/** A good config is promoted, and then edited to one that has to be left. */
async function isLeftForLastKnownGood(t: Test, node: Partial<NodeKind>, behaviour: Behaviour): Promise<void> {
  const settled = await runSchedule({
    seed: 4,
    node,
    events: [
      { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
      { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
      { afterSeconds: 1000, event: { kind: 'edit', name: 'red', behaviour } },
    ],
  })
  t.match(settled.assigned, `# behaviour: ${behaviour}`)
  t.match(settled.runs, '# behaviour: good')
  t.equal(settled.lastKnownGood, settled.runs)
}

for (const behaviour of ['loses-lease', 'not-ready', 'breaks-serving', 'loses-static-pods', 'refuses-pods'] as const) {
  t.test(`evidence: a config that ${behaviour} is rolled back`, (t) => isLeftForLastKnownGood(t, { evidence: true }, behaviour))
}

for (const activation of ['env', 'file', 'drop-in'] as const) {
  t.test(`a config with which the machine resets is left for last-known-good: ${activation}`, (t) =>
    isLeftForLastKnownGood(t, { activation }, 'resets-node'),
  )
}

import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { openRecords } from '../../src/decision/follow-assignment.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess } from '../../src/decision/target.ts'
import { A, B, hold, runs, runsNothing, snapshot, startsWith, wants } from './snapshots.ts'

const FRESH: Partial<Snapshot> = {
  assigned: { kind: 'source', source: 'local', absent: true },
  assignedContent: hold('local').content,
  lastKnownGood: hold('local'),
  previous: hold('local'),
  ...startsWith('local'),
  ...runs('local'),
}

t.test('a node that nothing was assigned to yet shows that in its directory', async (t) => {
  for (const [what, desired] of [
    ['nothing is assigned', wants('local')],
    ['something is', wants(B)],
    ['the API server has not answered', { desired: { kind: 'unknown', detail: 'no answer' } }],
  ] as const) {
    const fresh = snapshot({ ...FRESH, ...desired })
    const step = nextStep(fresh)
    t.same(step, { kind: 'open-records', lastKnownGood: 'local' }, what)
    if (step.kind === 'wait') continue
    const written = effectsOf(step, fresh).flatMap((effect) => (effect.kind === 'put' ? [[effect.record, effect.value]] : []))
    t.same(written, [
      ['last-known-good', 'local'],
      ['assigned', 'local'],
    ])
  }
})

t.test('a last-known-good that is still there is kept', async (t) => {
  t.same(openRecords(assess(snapshot({ ...FRESH, lastKnownGood: hold(A) }))), { kind: 'open-records', lastKnownGood: A })
})

t.test('one that is damaged is kept, too', async (t) => {
  t.equal(openRecords(assess(snapshot({ ...FRESH, damagedFallbacks: ['last-known-good'] }))), undefined)
})

t.test('no record is written where it may have been lost, or is there', async (t) => {
  for (const [what, changes] of Object.entries({
    'it is there': { assigned: { kind: 'source', source: 'local' } },
    'kubelet runs a checkpoint': runs(A),
    'kubelet starts with a checkpoint': startsWith(A),
    'kubelet does not run': runsNothing('stopped'),
    'what kubelet starts with is not known': { nextStart: { kind: 'unknown', detail: 'unreadable' } },
    'systemd does not answer': { unit: { kind: 'unknown', detail: 'timeout' }, running: { kind: 'unknown', detail: 'timeout' } },
  } as const satisfies Record<string, object>)) {
    t.equal(openRecords(assess(snapshot({ ...FRESH, ...(changes as Partial<Snapshot>) }))), undefined, what)
  }
})

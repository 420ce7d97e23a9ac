// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  C,
  contentOf,
  crashing,
  decide,
  fallenBack,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  lost,
  READY_FOR_B,
  runs,
  runsNothing,
  startsWith,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

t.test('while systemd is stopping it nothing is done or judged', async (t) => {
  t.match(nextStep(inTrial({ ...crashing(B), ...runsNothing('stopping') })), { kind: 'wait', phase: 'restarting' })
  t.match(decide({ ...wants(B), ...runsNothing('stopping') }), { kind: 'wait', phase: 'restarting', detail: 'kubelet is stopping' })
})

t.test('while systemd does not answer the assignment is followed, and nothing else', async (t) => {
  const silent = { unit: { kind: 'unknown', detail: 'the bus is gone' } } as const
  t.match(decide({ ...wants(B), ...silent }), { kind: 'assign', source: B })
  t.match(decide({ ...READY_FOR_B, ...silent }), { kind: 'wait', phase: 'unknown', detail: 'the bus is gone' })
})

t.test('a unit that is not wired blocks activation, not assignment', async (t) => {
  const broken = (reason: 'overridden' | 'dynamic-config-dir') => ({ unit: unit({ wiring: { kind: 'broken', reason, detail: reason } }) })
  t.match(decide({ ...wants(B), ...broken('overridden') }), { kind: 'assign' }, 'the assignment is followed')
  t.match(decide({ ...READY_FOR_B, ...broken('overridden') }), { kind: 'wait', phase: 'blocked', detail: 'overridden' })
  t.match(decide(broken('overridden')), { kind: 'wait', phase: 'settled', detail: 'overridden' }, 'what is wanted runs already')
  t.match(decide({ ...wants(B), ...broken('dynamic-config-dir') }), { kind: 'wait', phase: 'blocked' }, 'two controllers: touch nothing')
})

t.test('a damaged meta/assigned is unknown, never local', async (t) => {
  const damaged = { assigned: { kind: 'damaged', detail: 'garbage' }, assignedContent: undefined } as const
  t.match(decide(damaged), { kind: 'assign', source: A }, 'the cluster says it anew')
  t.match(decide({ ...damaged, ...wants('local') }), { kind: 'reset-to-local', from: undefined })
  const untold = { ...damaged, desired: { kind: 'unknown', detail: '' } } as const
  t.match(decide(untold), { kind: 'wait', phase: 'unknown', detail: /was damaged/ }, 'unknown is not local')
  t.match(decide({ ...untold, nextStart: { kind: 'unknown', detail: '' } }), { kind: 'wait', phase: 'unknown', detail: /was damaged/ })
  t.match(decide({ ...untold, lastKnownGood: lost(A) }), { kind: 'wait' }, 'a lost fallback may be what is assigned')
  const failing = { ...untold, ...startsWith(B), ...crashing(B), ...accepts(A, B) }
  t.match(decide(failing), { kind: 'condemn', verdict: { key: keyOf(B) }, next: A }, 'what fails is left all the same')
  t.match(decide({ ...failing, ...judged(verdict(B, 'provisional')) }), { kind: 'activate', target: A })
  const rested = { ...untold, ...startsWith(B), ...runs(B), health: health(B), proven: keyOf(B) }
  t.match(decide(rested), { kind: 'wait', phase: 'unknown' }, 'and nothing is promoted')

  const localFails = { ...untold, ...startsWith('local'), ...crashing('local') }
  t.match(decide(localFails), { kind: 'condemn', next: A }, 'local may be a fallback that fails')
  const all = judged(...[A, B, 'local' as const].map((source) => verdict(source, 'provisional')))
  t.match(decide({ ...localFails, ...all }), { kind: 'activate', target: A }, 'and where everything failed, the node was at fault')
  t.match(
    decide({ ...untold, ...all }),
    { kind: 'forgive', drop: [keyOf(A), keyOf('local')], suspend: [{ key: keyOf(B) }] },
    'for every config, known or not',
  )
  const nothingElse = { lastKnownGood: hold('local'), previous: hold('local') }
  t.match(decide({ ...localFails, ...nothingElse }), { kind: 'wait' }, 'but where there never was another, it is the administrator’s')

  t.match(decide({ lastKnownGood: lost(C) }), { kind: 'forget-fallback', record: 'last-known-good', source: C })
  t.match(decide({ previous: lost(C) }), { kind: 'forget-fallback', record: 'previous', source: C })
  const gone = { ...assignedTo(A), assignedContent: undefined, lastKnownGood: lost(A) }
  t.match(decide(gone), { kind: 'assign', source: A }, 'the cluster still has it')

  t.match(decide({ nextStart: { kind: 'unknown', detail: 'garbage' } }), { kind: 'activate', target: A }, 'kubelet.env is written anew')
})

t.test('requests', async (t) => {
  const ask = (facts: Partial<Snapshot['requests']>) =>
    ({ requests: { hold: 'none', rollback: undefined, retry: false, ...facts } }) as const

  t.test('retry drops every verdict', async (t) => {
    const facts = { ...ask({ retry: true }), ...judged(verdict(B, 'confirmed'), verdict(C, 'refused')) }
    t.match(nextStep(fallenBack(facts)), { kind: 'forgive', drop: [keyOf(B), keyOf(C)], requested: true })
    t.match(decide(ask({ retry: true })), { kind: 'forgive', drop: { length: 0 }, requested: true }, 'and is done even where there is none')
  })

  t.test('rollback condemns what runs, for good', async (t) => {
    t.match(nextStep(inTrial(ask({ rollback: { content: contentOf(B) } }))), {
      kind: 'condemn',
      verdict: { key: keyOf(B), state: 'confirmed', reason: 'requested' },
      next: A,
      requested: true,
    })
    t.match(nextStep(inTrial(ask({ rollback: { content: contentOf(A) } }))), { kind: 'drop-rollback' }, 'it was about something else')
    t.match(decide({ ...LOCAL_EVERYWHERE, ...wants('local'), ...ask({ rollback: { content: 'local' } }) }), { kind: 'drop-rollback' })
  })

  t.test('paused: assigned is followed, kubelet is left alone', async (t) => {
    const paused = ask({ hold: 'paused' })
    t.match(decide({ ...wants(B), ...paused }), { kind: 'assign' })
    t.match(decide({ ...READY_FOR_B, ...paused }), { kind: 'wait', phase: 'paused' })
    t.match(decide({ ...READY_FOR_B, ...startsWith(B), ...paused }), { kind: 'wait', phase: 'paused' })
    t.match(decide(paused), { kind: 'wait', phase: 'settled' }, 'where there is nothing to do it is no matter')
  })
})

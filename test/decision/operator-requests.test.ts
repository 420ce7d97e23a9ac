import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import {
  A,
  B,
  C,
  contentOf,
  decide,
  fallenBack,
  inTrial,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  READY_FOR_B,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

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

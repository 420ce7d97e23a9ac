import fc from 'fast-check'
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import { findAwaited } from '../../src/decision/wait.ts'
import { anySnapshot } from './any-snapshot.ts'

t.test('what is awaited lies ahead of a decision to wait for it, and belongs to its phase', async () => {
  const property = fc.property(anySnapshot, (of) => {
    const step = nextStep(of)
    if (step.kind !== 'wait') return true
    const { trial, waitUntilUs } = findAwaited(of, step.phase)
    const nowUs = of.now.monotonicUs
    if (trial !== undefined && (step.phase !== 'in-trial' || trial.untilUs - trial.sinceUs !== of.policy.trialUs)) return false
    if (waitUntilUs === undefined) return true
    return (step.phase === 'spread' || step.phase === 'restart-limit') && waitUntilUs > nowUs && step.untilUs <= waitUntilUs
  })
  fc.assert(property, { numRuns: 5000 })
})

t.test('where systemd is silent nothing is awaited', async (t) => {
  const [of] = fc.sample(anySnapshot, { numRuns: 1, seed: 1 })
  if (of === undefined) throw new Error('no sample')
  t.same(findAwaited({ ...of, unit: { kind: 'unknown', detail: '' } }, 'spread'), { trial: undefined, waitUntilUs: undefined })
})

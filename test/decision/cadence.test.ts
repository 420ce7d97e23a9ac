import fc from 'fast-check'
import t from 'tap'
import { PHASES, type Phase } from '../../src/decision/phases.ts'
import { cadenceUs } from '../../src/decision/wait.ts'
import { A, B, health, INVOCATION, inTrial, keyOf, MINUTE_US, NOW_US, POLICY, runs, SECOND_US, snapshot } from './snapshots.ts'

const PROCESS = { key: keyOf(B), invocationId: INVOCATION, startedAtUs: 0, wasHealthy: true, unhealthySinceUs: undefined, exits: 0 }

t.test('a settled node is looked at rarely, a restarting one closely', async (t) => {
  t.equal(cadenceUs(snapshot(), 'settled'), 20 * SECOND_US)
  t.equal(cadenceUs(snapshot(), 'restarting'), SECOND_US)
})

t.test('a settled node that turns ill, or was never looked at, is looked at closely', async (t) => {
  const ill = { healthySinceUs: undefined, unhealthySinceUs: NOW_US }
  t.equal(cadenceUs(snapshot({ health: health(A, ill) }), 'settled'), SECOND_US)
  t.equal(cadenceUs(snapshot({ health: undefined }), 'settled'), SECOND_US)
})

t.test('a trial is looked at closely while kubelet is young or not healthy', async (t) => {
  t.equal(cadenceUs(inTrial(), 'in-trial'), 5 * SECOND_US)
  t.equal(cadenceUs(inTrial(runs(B, { startedAgoUs: MINUTE_US })), 'in-trial'), SECOND_US)
  t.equal(cadenceUs(inTrial({ running: { kind: 'none' } }), 'in-trial'), SECOND_US)
  t.equal(cadenceUs(inTrial({ health: health(B, { healthySinceUs: undefined }) }), 'fallen-back'), SECOND_US)
})

t.test('a kubelet that runs on in place of what it starts with next is looked at rarely once it is steady', async (t) => {
  const sinceUs = NOW_US - POLICY.trialUs - SECOND_US
  const process = { ...PROCESS, healthySinceUs: sinceUs }
  const runsOn = { ...runs(B, { startedAgoUs: 2 * POLICY.trialUs }), health: health(A, { healthySinceUs: undefined, process }) }
  t.equal(cadenceUs(snapshot(runsOn), 'refused'), 20 * SECOND_US)
  const other = { ...process, invocationId: 'another' }
  t.equal(cadenceUs(snapshot({ ...runsOn, health: health(A, { healthySinceUs: undefined, process: other }) }), 'refused'), SECOND_US)
})

t.test('never so rarely that a pause between two looks counts as a gap, nor so often that it spins', async () => {
  const limits = fc.record({ toleranceUs: fc.integer({ min: 1e6, max: 3600e6 }), startDeadlineUs: fc.integer({ min: 1e6, max: 3600e6 }) })
  fc.assert(
    fc.property(limits, fc.constantFrom(...(Object.keys(PHASES) as Phase[])), (changed, phase) => {
      const everyUs = cadenceUs(snapshot({ policy: { ...POLICY, ...changed } }), phase)
      return everyUs >= 100e3 && everyUs <= changed.toleranceUs / 2 && everyUs <= changed.startDeadlineUs / 2
    }),
  )
})

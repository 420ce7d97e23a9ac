// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { PHASES, type Phase } from '../../src/decision/phases.ts'
import type { SpreadRecord } from '../../src/decision/records.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Action } from '../../src/decision/step.ts'
import { assess } from '../../src/decision/target.ts'
import { cadenceUs, findAwaited, findEndUs, findSharedSpread, findSpreadTurn, spreadDelayUs, wait } from '../../src/decision/wait.ts'
import { describeSource } from '../../src/subject/config-source.ts'
import { anySnapshot } from './any-snapshot.ts'
import {
  A,
  A_EDITED,
  B,
  BOOT,
  configMap,
  crashing,
  decide,
  health,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  MINUTE_US,
  NOW_US,
  POLICY,
  READY_FOR_B,
  restartTo,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

const PROCESS = { key: keyOf(B), invocationId: INVOCATION, startedAtUs: 0, wasHealthy: true, unhealthySinceUs: undefined, exits: 0 }

t.test('a settled node is looked at rarely, a restarting one closely', async (t) => {
  t.equal(cadenceUs(snapshot(), 'settled'), 20 * SECOND_US)
  t.equal(cadenceUs(snapshot(), 'restarting'), SECOND_US)
})

t.test('a settled node that turns ill, or was never looked at, is looked at closely', async (t) => {
  const ill = { healthySinceUs: undefined, unhealthySinceUs: NOW_US }
  t.equal(cadenceUs(snapshot({ health: health(A, ill) }), 'settled'), SECOND_US)
  t.equal(cadenceUs(snapshot({ health: undefined }), 'settled'), SECOND_US)
  const process = { ...PROCESS, healthySinceUs: undefined, unhealthySinceUs: NOW_US }
  t.equal(cadenceUs(snapshot({ health: health(A, { process }) }), 'settled'), SECOND_US, 'what runs is')
})

t.test('a trial is looked at closely while kubelet is young or not healthy', async (t) => {
  t.equal(cadenceUs(inTrial(), 'in-trial'), 5 * SECOND_US)
  const long = inTrial({ ...runs(B), health: health(B, { healthySinceUs: NOW_US - 2 * POLICY.trialUs }) })
  t.equal(cadenceUs(long, 'in-trial'), 5 * SECOND_US, 'however long it lasts')
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

t.test('what is awaited, and until when', async (t) => {
  const nothing = { trial: undefined, waitUntilUs: undefined }
  const trial = { sinceUs: NOW_US - 5 * MINUTE_US, untilUs: NOW_US + 5 * MINUTE_US }
  t.same(findAwaited(inTrial(), 'in-trial'), { ...nothing, trial })
  t.same(findAwaited(inTrial(), 'settled'), nothing)

  const spread = { bootId: BOOT, source: B, sinceUs: NOW_US }
  const untilUs = NOW_US + spreadDelayUs('node-1', B, POLICY.spreadUs)
  const restarts = Array.from({ length: POLICY.restartsPerHour }, (_, index) => restartTo(A, { atUs: NOW_US - (50 - index) * MINUTE_US }))
  const waits = { ...READY_FOR_B, ...startsWith(B), health: health(B), spread, restarts }
  t.same(findAwaited(snapshot(waits), 'spread'), { ...nothing, waitUntilUs: untilUs })
  t.same(findAwaited(snapshot({ ...waits, spread: undefined }), 'spread'), nothing, 'its turn has come')
  t.same(findAwaited(snapshot(waits), 'restart-limit'), { ...nothing, waitUntilUs: NOW_US + 10 * MINUTE_US })
  t.same(findAwaited(snapshot({ ...waits, restarts: [] }), 'restart-limit'), nothing, 'the limit is not reached')
  const asked = { restarts: [restartTo(B, { atUs: NOW_US - SECOND_US, invocationBefore: INVOCATION })] }
  t.same(findAwaited(snapshot({ ...waits, ...asked }), 'restart-limit'), nothing, 'it is being restarted')
  t.same(findAwaited(snapshot(waits), 'restarting'), nothing)
  const { target } = assess(snapshot(waits))
  if (target === undefined) throw new Error('B is the target')
  const silent = snapshot({ ...waits, unit: { kind: 'unknown', detail: '' } })
  t.equal(findEndUs(silent, 'restart-limit', target), undefined, 'nobody knows what the restarts have come to')
})

t.test('what was due in the past is not waited for', async (t) => {
  const untilUs = (atUs?: number) => wait(snapshot(), 'settled', '', atUs).untilUs
  t.equal(untilUs(), NOW_US + 20 * SECOND_US)
  t.equal(untilUs(NOW_US + 1), NOW_US + 1)
  for (const past of [NOW_US - 1, NOW_US]) t.equal(untilUs(past), NOW_US + 20 * SECOND_US)
})

const NOW = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }
const DELAY_US = spreadDelayUs('node-1', A, POLICY.spreadUs)

t.test('the delay is in range, whole, and the same whenever it is asked', async () => {
  const source = fc.record({ name: fc.string(), resourceVersion: fc.string() })
  fc.assert(
    fc.property(fc.string(), source, fc.integer({ min: 0, max: 24 * 60 * MINUTE_US }), (node, { name, resourceVersion }, spreadUs) => {
      const delayUs = spreadDelayUs(node, configMap(name, resourceVersion), spreadUs)
      return (
        Number.isInteger(delayUs) &&
        delayUs >= 0 &&
        (delayUs < spreadUs || spreadUs === 0) &&
        delayUs === spreadDelayUs(node, configMap(name, resourceVersion), spreadUs)
      )
    }),
  )
})

t.test('each version of the agent gives a node the same delay', async (t) => {
  t.equal(spreadDelayUs('node-1', A, 100e6), 82_721_464)
  t.equal(spreadDelayUs('node-1', 'local', 100e6), 43_188_245)
})

t.test('a fleet is spread evenly, and anew at each edit', async (t) => {
  const nodes = Array.from({ length: 1000 }, (_, index) => `node-${index}`)
  const early = nodes.filter((node) => spreadDelayUs(node, A, 100) < 50).length
  t.ok(early > 430 && early < 570, `${early} of 1000 in the first half`)
  const again = nodes.filter((node) => spreadDelayUs(node, A, 100) < 50 && spreadDelayUs(node, A_EDITED, 100) < 50).length
  t.ok(again > 180 && again < 320, `${again} of them in the first half at the next edit, too`)
})

t.test('a spread waits only for its own source, in its own boot', async (t) => {
  const spread = { bootId: BOOT, source: A, sinceUs: NOW_US - DELAY_US + 1 }
  const turnBy = (record: SpreadRecord | undefined, policy = POLICY) =>
    findSpreadTurn({ nodeName: 'node-1', now: NOW, spread: record, policy }, A)
  const turn = (facts: Partial<SpreadRecord> = {}, policy = POLICY) => turnBy({ ...spread, ...facts }, policy)
  t.match(turn(), { kind: 'wait-until', atUs: NOW_US + 1, detail: 'shared changes are spread over 2m' }, 'until its time')
  t.same(turn({ sinceUs: NOW_US - DELAY_US }), { kind: 'go' }, 'and not longer')
  t.same(turnBy(undefined), { kind: 'go' }, 'no in-place edit')
  t.same(turn({ own: true }), { kind: 'go' }, "a change of the Node's own")
  t.equal(findSharedSpread({ now: NOW, spread }, A), spread)
  t.equal(findSharedSpread({ now: NOW, spread: { ...spread, own: true } }, A), undefined)
  t.equal(findSharedSpread({ now: NOW, spread }, B), undefined)
  t.same(turn({ source: B }), { kind: 'go' }, 'the edit of another one')
  t.same(turn({ bootId: 'boot-0' }), { kind: 'go' }, 'an edit before the boot')
  t.same(turn({ sinceUs: NOW_US }, { ...POLICY, spreadUs: 0 }), { kind: 'go' }, 'no spread')
  const facts = { sinceUs: 0, factsSinceUs: NOW_US - MINUTE_US + 1 }
  const held = { kind: 'wait-until', atUs: NOW_US + 1, detail: /^the facts .* must have held for 1m$/, isOfFacts: true }
  t.match(turn(facts), held, 'what is computed waits until its facts have held')
  t.same(turn({ ...facts, factsSinceUs: NOW_US - MINUTE_US }), { kind: 'go' })
  t.match(turn({ factsSinceUs: 0 }), { detail: /^shared changes/ }, 'and then as an edit does')
})

t.test('a step that failed is left alone for a while', async (t) => {
  const failed = (step: Action['kind'], inUs = 10 * SECOND_US, about = '') => ({
    troubles: [{ step, about, detail: 'disk full', retryAtUs: NOW_US + inUs }],
  })
  t.match(decide({ ...wants(B), ...failed('assign') }), { kind: 'wait', phase: 'settled', untilUs: NOW_US + 10 * SECOND_US })
  t.match(decide({ ...wants(B), ...failed('assign', 0) }), { kind: 'assign' }, 'and then tried again')
  t.match(decide({ ...READY_FOR_B, ...failed('preflight') }), { kind: 'activate' }, 'other steps go on')

  t.test('which does not keep a node from falling back', async (t) => {
    const condemned = { ...crashing(B), ...judged(verdict(B, 'provisional')) }
    for (const step of ['assign', 'prove', 'promote', 'prune', 'confirm', 'preflight', 'forget-fallback'] as const) {
      t.match(nextStep(inTrial({ ...condemned, ...failed(step) })), { kind: 'activate', target: A }, step)
    }
    t.match(nextStep(inTrial({ ...condemned, ...failed('activate') })), { kind: 'activate', target: A }, 'nor does another activation')
    const unjudged = { ...condemned, accepted: new Map(), ...failed('preflight', 10 * SECOND_US, describeSource(A)) }
    t.match(nextStep(inTrial(unjudged)), { kind: 'activate', target: A }, 'nor a preflight that cannot be carried out')
  })

  t.test('a fallback that cannot be written has left local behind, and that is what is to run', async (t) => {
    const condemned = {
      ...judged(verdict(B, 'provisional')),
      ...failed('activate', 10 * SECOND_US, describeSource(A)),
      ...startsWith('local'),
    }
    const fresh = { health: health('local', { started: false, healthySinceUs: undefined, lastProcess: health(B).lastProcess }) }
    t.match(nextStep(inTrial({ ...condemned, ...runsNothing('auto-restart'), ...fresh })), {
      kind: 'restart',
      to: 'local',
      record: { target: keyOf('local'), fallback: true },
    })
  })

  t.test('a trial that is over and cannot be written down is waited for at the usual pace', async (t) => {
    const over = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - 2 * POLICY.trialUs }) }
    const step = nextStep(inTrial({ ...over, ...failed('prove') }))
    t.ok(step.kind === 'wait' && step.untilUs > NOW_US)
  })
})

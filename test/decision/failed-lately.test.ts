import t from 'tap'
import { describeSource } from '../../src/decision/config-source.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Action } from '../../src/decision/step.ts'
import {
  A,
  B,
  crashing,
  decide,
  health,
  inTrial,
  judged,
  keyOf,
  NOW_US,
  POLICY,
  READY_FOR_B,
  runs,
  runsNothing,
  SECOND_US,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

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

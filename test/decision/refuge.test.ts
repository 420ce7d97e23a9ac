// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findRefuge, mustLeaveProcess } from '../../src/decision/refuge.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess, type TargetSituation } from '../../src/decision/target.ts'
import {
  A,
  assignedTo,
  B,
  fallenBack,
  health,
  hold,
  judged,
  keyOf,
  NOW_US,
  READY,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

function situate(facts: Partial<Snapshot>): TargetSituation {
  return assess(snapshot(facts)) as TargetSituation
}

t.test('the target is a refuge where it needs no preflight', async (t) => {
  const refuge = (source: typeof A | 'local', facts: Partial<Snapshot>) => {
    const step = findRefuge(situate({ ...wants(source), ...assignedTo(source), ...startsWith(B), ...runs(B), ...facts }), READY, {
      source: B,
    })
    return step?.kind === 'activate' ? step.target : step
  }
  const unproven = { lastKnownGood: hold('local'), proven: undefined }
  t.equal(refuge('local', { lastKnownGood: hold(B) }), 'local')
  t.equal(refuge(A, { ...unproven, ...runs(A) }), A, 'it runs')
  t.equal(refuge(A, {}), A, 'it is last-known-good')
  t.equal(refuge(A, unproven), 'local', 'it needs one')
  t.equal(refuge(A, judged(verdict(A, 'confirmed'))), 'local', 'not what has failed')
})

const ILL = { wasHealthy: false, healthySinceUs: undefined, unhealthySinceUs: NOW_US - 600 * SECOND_US, exits: 0 }
const EXITED = { ...runsNothing('auto-restart'), health: health(B, { lastProcess: undefined }) }

t.test('a process is left for a fallback, for a verdict on it, or because it hangs', async (t) => {
  const mustLeave = (facts: Partial<Snapshot>, next = A) => mustLeaveProcess(situate(facts), { key: keyOf(next) })
  const { running } = runs(B)
  if (running?.kind !== 'known') throw new Error('it runs')
  const hangs = { ...runs(B), health: health(B, { process: { ...running, ...ILL } }) }
  t.equal(mustLeave(hangs), true)
  t.equal(mustLeave(hangs, B), false, 'it is what kubelet starts with next')
  t.equal(mustLeave({ ...hangs, ...runs(B), health: health(B) }), false, 'it is well')
  t.equal(mustLeave({ ...hangs, ...runsNothing('auto-restart') }), false, 'nothing runs that could hang')

  t.equal(mustLeave({ ...fallenBack(), ...runs(B) }), true)
  t.equal(mustLeave(fallenBack()), false, 'the fallback runs')
  t.equal(mustLeave({ ...fallenBack(), ...EXITED }), true)

  const condemned = judged(verdict(B, 'confirmed'))
  t.equal(mustLeave({ ...runs(B), ...condemned }), true)
  t.equal(mustLeave({ ...runsNothing('auto-restart'), health: health(B), ...condemned }), true, 'it ran last')
  t.equal(mustLeave({ ...EXITED, ...condemned }), false, 'nothing is known to have run')
  t.equal(mustLeave({ ...EXITED, health: undefined, ...condemned }), false, 'nor where nothing is recorded')
})

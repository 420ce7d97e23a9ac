// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { chooseLeft, isLocalRefused, listLeft } from '../../src/decision/left.ts'
import { choosePrunable } from '../../src/decision/prune.ts'
import { assess } from '../../src/decision/target.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  C,
  crashing,
  decide,
  hold,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  lost,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

/** The assignment was removed while A ran. */
const RETURNING = { ...LOCAL_EVERYWHERE, ...wants('local'), ...startsWith(A), ...runs(A), left: [hold(A), hold(B)] }
const REFUSED = judged(verdict('local', 'refused'))

t.test('what a return to local leaves: what runs, and what it would fall back to', async (t) => {
  const of = (piece: object) => chooseLeft(snapshot({ lastKnownGood: hold(A), previous: hold(B), ...piece }))
  t.same(of({ ...startsWith(C), ...runs(C) }), [C, A, B])
  t.same(of({ ...startsWith(A), ...runs(A) }), [A, B], 'each content once')
  t.same(of({ ...startsWith(A), ...runsNothing('stopped') }), [A, B], 'what starts next')
  t.same(of({ ...startsWith(C), ...runsNothing('stopped') }), [C, A, B], 'also where it was not promoted')
  t.same(of({ ...startsWith(A), ...runs('local') }), [], 'local runs already')
  const earlier = { ...LOCAL_EVERYWHERE, left: [hold(A)] }
  t.same(of({ ...earlier, ...startsWith(C), ...runs(C) }), [C, A], 'with what an earlier return left')
  t.same(of({ ...earlier, ...startsWith('local'), ...runs('local') }), [A], 'which is not over')
  t.same(of({ ...startsWith(A), ...runs(A), previous: lost(B) }), [A], 'without a checkpoint there is no way back')
  t.same(of({ ...startsWith(A), ...runs(A), ...judged(verdict(A, 'provisional')) }), [B], 'nor to what failed')
  const unknown = { unit: { kind: 'unknown', detail: 'no bus' }, ...judged(verdict(A, 'provisional', { anyKubelet: true })) }
  t.same(of({ ...startsWith(A), ...runs(A), ...unknown }), [A, B], 'if it is known which kubelet is installed')
})

t.test('it counts until something newer has passed its trial, and keeps its checkpoints', async (t) => {
  t.same(listLeft(snapshot(RETURNING)), RETURNING.left)
  t.same(listLeft(snapshot({ ...RETURNING, ...assignedTo(C) })), RETURNING.left, 'nothing shows that C works')
  t.same(listLeft(snapshot({ ...RETURNING, left: [lost(A), hold(B)] })), [hold(B)])
  const checkpoints = [A, B, C].map(({ uid, resourceVersion }, at) => ({ uid, resourceVersion, savedAtMs: at }))
  const { policy } = snapshot()
  const full = { ...RETURNING, ...startsWith('local'), ...runs('local'), checkpoints, policy: { ...policy, keepCheckpoints: 0 } }
  t.match(choosePrunable(snapshot(full)), [{ uid: C.uid, resourceVersion: C.resourceVersion }])
  t.same(choosePrunable(snapshot({ ...full, left: undefined, leftDamaged: true })), [], 'any may be named')
})

t.test('local goes through preflight, and a refusal of it restarts nothing', async (t) => {
  t.match(decide(RETURNING), { kind: 'preflight', source: 'local' })
  const accepted = { ...RETURNING, ...accepts('local') }
  t.match(decide(accepted), { kind: 'activate', target: 'local', fallback: A })
  t.match(decide({ ...RETURNING, ...REFUSED }), { kind: 'wait', phase: 'refused' })
  const { policy } = snapshot()
  const unlike = { ...RETURNING, ...REFUSED, policy: { ...policy, whenRefused: 'last-known-good' } as const }
  t.match(decide(unlike), { kind: 'wait', phase: 'refused' }, 'there is nowhere else to go')
  t.match(assess(snapshot(unlike)).target, { source: A, goesOn: true }, 'so that it goes on with its trial')
  const forced = { hold: 'local', force: true, rollback: undefined, retry: false } as const
  t.match(decide({ ...RETURNING, ...REFUSED, requests: forced }), { kind: 'activate', target: 'local' })
  t.match(decide({ ...RETURNING, ...REFUSED, requests: { ...forced, force: undefined } }), { kind: 'wait', phase: 'refused' })
  t.match(decide({ ...RETURNING, ...REFUSED, left: [lost(A)], ...startsWith('local') }), { kind: 'wait' }, 'kubelet runs on')
})

t.test('a result of preflight on local rests on what its file held', async (t) => {
  const acceptance = { drain: [], basis: 'now', localConfig: 'old' }
  const accepted = { ...RETURNING, basis: 'now', accepted: new Map([[keyOf('local'), acceptance]]) }
  t.match(decide({ ...accepted, localConfig: 'old' }), { kind: 'activate' })
  t.match(decide({ ...accepted, localConfig: 'new' }), { kind: 'preflight', source: 'local' })
  const refused = (localConfig: string) => ({
    ...RETURNING,
    basis: 'now',
    localConfig,
    ...judged(verdict('local', 'refused', { basis: 'now', localConfig: 'old' })),
  })
  t.match(decide(refused('old')), { kind: 'wait', phase: 'refused' })
  t.match(decide(refused('new')), { kind: 'preflight', source: 'local' })
})

t.test('where preflight cannot judge, local goes after ten minutes, but not where no kubelet starts', async (t) => {
  const at = snapshot().now.monotonicUs
  const troubled = (sinceUs: number, piece: object = {}) =>
    decide({
      ...RETURNING,
      ...piece,
      troubles: [{ step: 'preflight', about: 'local', detail: 'no helper', retryAtUs: at + 30e6, sinceUs }],
    })
  t.match(troubled(at - 590e6), { kind: 'wait' })
  t.match(troubled(at - 600e6), { kind: 'activate', target: 'local' })
  t.match(troubled(at - 600e6, { cannotStart: 'its file is cut off' }), { kind: 'wait' })
})

t.test('a refusal does not keep local from being the last resort', async (t) => {
  const target = (piece: object) => assess(snapshot({ ...RETURNING, ...piece })).target
  t.match(target(REFUSED), { source: A, goesOn: true })
  t.match(target(judged(verdict('local', 'refused'), verdict(A, 'provisional'), verdict(B, 'provisional'))), {
    source: 'local',
    verdict: undefined,
    atFault: false,
  })
  const all = judged(verdict('local', 'provisional'), verdict(A, 'provisional'), verdict(B, 'provisional'))
  t.match(target({ ...all, ...runsNothing('auto-restart') }), { source: A, atFault: true }, 'the best is what ran')
  const assigned = { ...assignedTo(B), ...wants(B), lastKnownGood: hold('local'), previous: hold('local'), left: undefined }
  t.match(target({ ...assigned, ...judged(verdict(B, 'confirmed'), verdict('local', 'refused')) }), { source: 'local', verdict: undefined })
  t.not(isLocalRefused(snapshot({ ...RETURNING, ...runs('local') }), verdict('local', 'refused')), 'it runs')
})

t.test('what a return to local left is what a kubelet that fails goes back to, also while the assignment is not known', async (t) => {
  const damaged = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
  const unread = { desired: { kind: 'unknown', detail: '' }, desiredContent: undefined } as const
  const returned = { ...LOCAL_EVERYWHERE, ...damaged, ...unread, left: [hold(A)], ...accepts(A, 'local') }
  t.match(decide({ ...returned, ...crashing('local') }), { kind: 'condemn', verdict: { source: 'local' }, next: A })
  t.match(decide(returned), { kind: 'wait' }, 'but not where kubelet is well')
})

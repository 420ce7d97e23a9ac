// SPDX-License-Identifier: Apache-2.0
/** Which baseline concerns what runs, and what a config that replaces one on trial inherits. */
import t from 'tap'
import { awaitBaseline, findBaseline, findDisplaced, findEarlier, runsPromoted, withEarlier } from '../../src/evidence/baseline.ts'
import type { Baseline, EarlierState } from '../../src/evidence/kinds.ts'
import {
  A,
  A_IS_KEPT,
  B,
  BOOT,
  C,
  hold,
  inTrial,
  judged,
  KUBELET,
  keyOf,
  runs,
  runsNothing,
  snapshot,
  UPGRADED_KUBELET,
  verdict,
} from '../decision/snapshots.ts'

/** Taken while the process ran that the restart into B replaced. */
const OF_B: Baseline = { candidate: keyOf(B), invocationId: 'invocation-0', sinceUs: 1, answered: [], ready: 'True' }
const OF_C: Baseline = { ...OF_B, candidate: keyOf(C) }

t.test('a baseline concerns the config that it was taken before', async (t) => {
  const finds = (facts: object, baseline: Partial<Baseline> = {}) =>
    findBaseline({ bootId: BOOT, baseline: { ...OF_B, ...baseline } }, inTrial(facts)) !== undefined
  t.equal(finds({}), true)
  t.equal(finds({}, { beforeBoot: true }), true, 'also after a boot')
  t.equal(finds(runs(B, { invocationId: 'invocation-0' })), false, 'but not the process from which it was taken')
  t.equal(finds(runs(A)), false, 'nor what else runs')
  t.equal(finds({ proven: keyOf(B) }), true, 'nothing is forgotten of what has passed')
  const upgraded = runs(B, { kubelet: UPGRADED_KUBELET })
  t.equal(finds(upgraded), true, 'on another kubelet')
  t.equal(finds({ ...upgraded, proven: keyOf(B) }), false, 'where it is too old, as the content has passed on the other kubelet')
})

t.test('a baseline concerns the fallbacks from a config that has failed', async (t) => {
  const failed = { ...judged(verdict(B, 'provisional')), ...A_IS_KEPT }
  const finds = (facts: object, baseline: Partial<Baseline> = {}) =>
    findBaseline({ bootId: BOOT, baseline: { ...OF_B, ...baseline } }, snapshot({ ...failed, ...facts })) !== undefined
  t.equal(finds({}), true)
  t.equal(finds(runs(A, { invocationId: 'invocation-0' })), false, 'but not the process from which it was taken')
  t.equal(finds(runsNothing('failed')), false, 'nor where nothing runs')
  t.equal(finds({}, { beforeBoot: true }), false, 'nor after a boot')
  t.equal(finds({}, { earlier: { beforeBoot: true } }), false, 'also one before it was taken')
  t.equal(finds(judged(verdict(B, 'confirmed'))), false, 'nor once the verdict stands')
  t.equal(finds(judged(verdict(C, 'provisional'))), false, 'nor where another config failed')
  t.equal(finds({ proven: keyOf(B) }), false, 'nor where it has passed since')
})

t.test('what runs is promoted where it is local, has passed here, or is one of the two to fall back to', async (t) => {
  const kept = { lastKnownGood: hold(A), previous: hold(C), proven: undefined }
  const isPromoted = (facts: object) => runsPromoted(snapshot({ ...kept, ...facts }))
  t.equal(isPromoted(runs('local')), true)
  t.equal(isPromoted(runs(A)), true)
  t.equal(isPromoted(runs(C)), true)
  t.equal(isPromoted(runs(B)), false)
  t.equal(isPromoted({ ...runs(B), proven: keyOf(B) }), true)
  t.equal(isPromoted({ ...runs(B, { kubelet: UPGRADED_KUBELET }), proven: keyOf(B) }), false, 'not on this kubelet')
  t.equal(isPromoted(runsNothing('failed')), false)
})

t.test('the baseline of what runs makes way for that of another config', async (t) => {
  const record = { bootId: BOOT, baseline: OF_C, displaced: OF_B }
  t.equal(findDisplaced(record, OF_C, inTrial()), OF_B)
  t.equal(findDisplaced({ ...record, displaced: undefined }, OF_B, inTrial()), undefined, 'unless it is that of what runs')
  t.equal(findDisplaced(record, OF_C, inTrial({ proven: keyOf(B) })), undefined, 'or the trial is over')
  t.equal(findDisplaced(record, OF_C, inTrial(runsNothing('failed'))), OF_B, 'nothing ends it while nothing runs')
})

t.test('what replaces a config on trial has to bring back what was there before that', async (t) => {
  const find = (record: { baseline?: Baseline; displaced?: Baseline }, facts: object = {}) =>
    findEarlier({ baseline: undefined, displaced: undefined, ...record }, inTrial({ ...A_IS_KEPT, ...facts }))
  t.match(find({ baseline: OF_B }), { ready: 'True' })
  t.match(find({ baseline: OF_C, displaced: OF_B }), { ready: 'True' })
  t.match(find({ displaced: OF_B }), { ready: 'True' })
  t.equal(find({}), undefined)
  t.equal(find({ baseline: OF_C }), undefined, 'the baseline is that of another config')
  t.equal(find({ baseline: OF_B }, runs(B, { invocationId: 'invocation-0' })), undefined, 'it was taken of this very process')
  t.equal(find({ baseline: OF_B }, { lastKnownGood: hold(B) }), undefined, 'what runs is not on trial')
  t.equal(find({ baseline: OF_B }, runsNothing('failed')), undefined, 'nothing runs')
})

t.test('what it inherits says what it is of', async (t) => {
  const find = (facts: Partial<Baseline>) =>
    JSON.parse(JSON.stringify(findEarlier({ baseline: { ...OF_B, ...facts }, displaced: undefined }, inTrial(A_IS_KEPT)) ?? {}))
  t.strictSame(find({}), { ready: 'True' })
  t.strictSame(find({ ofPromoted: true }), { ready: 'True', ofPromoted: true })
  t.strictSame(find({ beforeBoot: true }), { ready: 'True', beforeBoot: true })
  const staticPods = [{ hash: 'h', name: 'kube-system/etcd', manifest: { path: '/m/etcd.yaml', digest: 'd' } }]
  t.strictSame(find({ staticPods, kubelet: KUBELET }).staticPods, staticPods)
  t.strictSame(find({ staticPods }).staticPods, staticPods, 'an earlier agent recorded no kubelet')
  t.notSame(find({ staticPods, kubelet: UPGRADED_KUBELET }).staticPods, staticPods, 'another kubelet may have replaced them')
})

t.test('under a config on trial, only what was well is known', async (t) => {
  const join = (earlier: EarlierState, later: Partial<Baseline> = {}) => withEarlier({ ...OF_C, ready: 'False', ...later, earlier })
  t.match(join({ ready: 'True' }), { ready: 'True', ofPromoted: undefined, beforeBoot: undefined })
  t.match(join({ ready: 'Unknown' }), { ready: 'False' })
  t.match(join({ ready: 'Unknown', ofPromoted: true }), { ready: 'Unknown', ofPromoted: true })
  t.match(join({ ready: 'True', beforeBoot: true }), { ready: 'True', beforeBoot: true })
  t.equal(withEarlier(OF_B), OF_B)
})

t.test('a restart waits anew for what a baseline lacks', async (t) => {
  const now = { bootId: BOOT, monotonicUs: 7, wallMs: 0 }
  t.same(awaitBaseline({ bootId: BOOT, baseline: OF_B }, now), { bootId: BOOT, baseline: { ...OF_B, awaitedSinceUs: 7 } })
  t.same(awaitBaseline({ bootId: BOOT }, now), { bootId: BOOT }, 'there is none')
})

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { keepBaseline, recallBaseline } from '../../src/evidence/baseline.ts'
import { type Baseline, type EvidenceRecord, isKeptBaseline, type KeptBaseline } from '../../src/evidence/kinds.ts'
import { A, A_IS_KEPT, B, BOOT, C, contentOf, inTrial, judged, keyOf, runs, UPGRADED_KUBELET, verdict } from '../decision/snapshots.ts'

const BASELINE: Baseline = {
  candidate: keyOf(B),
  invocationId: 'invocation-a',
  sinceUs: 100e6,
  awaitedSinceUs: 101e6,
  answered: ['node', 'pods'],
  unread: [{ question: 'pods', kind: 'unreachable', detail: 'down', atUs: 100e6 }],
  ready: 'True',
  pressure: [],
  podsAtMs: 1,
  podsAtWallMs: 1,
  failedPods: ['uid-1'],
  serving: { status: 403 },
  staticPods: [{ hash: 'h', name: 'kube-system/etcd' }],
  ofPromoted: true,
}
const RECORD: EvidenceRecord = { bootId: BOOT, baseline: BASELINE }
const KEPT: KeptBaseline = RECORD

t.test('what is lost in /run is recalled', async (t) => {
  t.same(
    recallBaseline(undefined, () => KEPT, { bootId: BOOT }),
    RECORD,
  )
  const process = { invocationId: 'i', key: keyOf(B), sinceUs: 1, requests: 1, requestsSinceUs: 1, answeredUs: {} }
  t.same(
    recallBaseline({ bootId: BOOT, process }, () => KEPT, { bootId: BOOT }),
    { ...RECORD, process },
  )
  const newer = { bootId: BOOT, baseline: { ...BASELINE, candidate: keyOf(C) } }
  const unasked = () => {
    throw new Error('nothing is read for that')
  }
  t.same(recallBaseline(newer, unasked, { bootId: BOOT }), newer, 'what an agent that keeps nothing has taken since is newer')
  t.equal(
    recallBaseline(undefined, () => undefined, { bootId: BOOT }),
    undefined,
  )
})

t.test('a boot ends pods, pressure and the times of its clock', async (t) => {
  const recalled = recallBaseline(RECORD, () => KEPT, { bootId: 'boot-2' })
  const { candidate, invocationId, answered, ready, serving, staticPods, ofPromoted } = BASELINE
  const outlives = { candidate, invocationId, answered, ready, serving, staticPods, ofPromoted }
  t.strictSame(recalled, { bootId: 'boot-2', baseline: { ...outlives, sinceUs: 0, beforeBoot: true } })
  t.ok(isKeptBaseline(JSON.parse(JSON.stringify(recalled))))
  const both = recallBaseline(undefined, () => ({ ...KEPT, displaced: BASELINE }), { bootId: 'boot-2' })
  t.same(both?.displaced, both?.baseline, 'also of the one that has made way')
})

t.test('one that has made way is kept as long as it is of use', async (t) => {
  const record = { ...RECORD, baseline: { ...BASELINE, candidate: keyOf(C) }, displaced: BASELINE }
  const keep = (facts: object) => keepBaseline(record, { ...inTrial(), ...A_IS_KEPT, ...facts }, undefined, undefined)
  t.same(keep({}), record, 'B runs')
  t.equal(keep({ ...runs(A), assignedContent: contentOf(A) }), undefined, 'nothing runs that either is for')
  t.same(keep({ ...runs(A), assignedContent: contentOf(C) }), record, 'C is wanted')
})

t.test('it is kept until the trial is over', async (t) => {
  const onTrial = { ...inTrial(), ...A_IS_KEPT }
  const keep = (facts: object, candidate?: string, kept?: KeptBaseline) => keepBaseline(RECORD, { ...onTrial, ...facts }, candidate, kept)
  t.same(keep({}), KEPT)
  const upgraded = runs(B, { kubelet: UPGRADED_KUBELET })
  t.same(keep(upgraded), KEPT, 'also on another kubelet')
  t.equal(keep({ proven: keyOf(B) }), undefined)
  const fellBack = { ...runs(A), assignedContent: contentOf(A) }
  t.same(keep({ ...fellBack, ...judged(verdict(B, 'provisional')) }), KEPT, 'a fallback has to bring back what was there')
  t.equal(keep({ ...fellBack, ...judged(verdict(B, 'confirmed')) }), undefined)
  t.same(keep({ ...runs(A), assignedContent: contentOf(C) }, keyOf(C)), KEPT, 'while a restart waits')
  t.equal(keepBaseline(undefined, onTrial, undefined, KEPT), KEPT, 'while nothing has been recorded in this boot')
  t.equal(keepBaseline({ bootId: BOOT }, onTrial, keyOf(B), KEPT), undefined, 'none has been taken yet')
  for (const unknown of [{ running: { kind: 'none' } }, { assignedContent: undefined }] as const)
    t.equal(keep(unknown, undefined, KEPT), KEPT, 'what is not known for a moment ends nothing')
})

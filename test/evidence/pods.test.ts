// SPDX-License-Identifier: Apache-2.0
/** Which pods were lost by a restart, what is kept of them, and what is said of them. */
import t from 'tap'
import type { NoAnswer } from '../../src/evidence/kind.ts'
import type { Baseline, EvidenceView, ProcessEvidence } from '../../src/evidence/kinds.ts'
import { type FailedPod, PODS, type PodsAnswer } from '../../src/evidence/pods.ts'
import { B, keyOf, UPGRADED_KUBELET } from '../decision/snapshots.ts'
import { BASELINE, momentOf, NO, s, viewOf } from './views.ts'

type PodsSeen = NonNullable<ProcessEvidence['pods']>
type Lost = PodsSeen['lost'][number]
/** Listed at 50 by the server's clock, and at 60 by that of the node. */
const LISTED: Partial<Baseline> = {
  podsAtMs: 50,
  podsAtWallMs: 60,
  failedPods: ['old'],
  changed: ['maxPods'],
  livePods: ['a', 'b', ...Array.from({ length: 35 }, (_, index) => `${index}`)].map((name) => `default/${name}`),
}

/** It was there before the baseline, and no changed field but `maxPods` explains it. */
function failed(uid: string, facts: Partial<FailedPod> = {}): FailedPod {
  return { uid, name: `default/${uid}`, reason: 'OutOfpods', message: '', createdAtMs: 49, startedAtMs: 59, ...facts }
}
const list = (...pods: readonly FailedPod[]): PodsAnswer => ({ kind: 'found', pods, serverMs: 70 })
const fold = (answer: PodsAnswer | NoAnswer, before?: PodsSeen, baseline: Partial<Baseline> | undefined = LISTED, at = 10) =>
  PODS.fold(answer, momentOf(at, { pods: before }, baseline)).pods

t.test('a pod is lost that was admitted before the baseline and has failed since', async (t) => {
  const isLost = (facts: Partial<FailedPod>, baseline: Partial<Baseline> = {}, uid = 'a') =>
    fold(list(failed(uid, facts)), undefined, { ...LISTED, ...baseline })?.lost.length === 1
  t.equal(isLost({}), true)
  t.equal(isLost({}, {}, 'old'), false, 'it had failed by then')
  t.equal(isLost({}, { failedPods: undefined }, 'old'), true)
  t.equal(isLost({ startedAtMs: 60 }), false, 'kubelet has admitted it since')
  t.equal(isLost({ startedAtMs: undefined }), false, 'kubelet has not reported it')
  t.equal(isLost({ createdAtMs: 50 }), false, 'it was created since')
  t.equal(isLost({ createdAtMs: undefined }), true)
  t.equal(isLost({}, { podsAtMs: undefined }), false)
  t.equal(isLost({ createdAtMs: undefined }, { podsAtMs: undefined }), false)
  t.equal(isLost({}, { podsAtWallMs: undefined }), false)
  for (const reason of ['Error', '', 'XOutOfpods', 'EvictedX', 'Evict'])
    t.equal(isLost({ reason }), false, `${reason} is the work of others`)
  t.same(PODS.fold(list(failed('a')), momentOf(10, {}, undefined)).pods?.lost, [], 'there is no baseline')
})

t.test('a pod that the container runtime did not run before is a doubt: the list of then may be older', async (t) => {
  const lost = (reason: string, livePods: readonly string[] | undefined) =>
    fold(list(failed('a', { reason })), undefined, { ...LISTED, livePods })
  const a = { name: 'default/a', reason: 'OutOfpods' }
  t.strictSame(lost('OutOfpods', ['default/b'])?.lost, [{ ...a, mayBeOlder: true }])
  t.strictSame(lost('OutOfpods', undefined)?.lost, [{ ...a, mayBeOlder: true }], 'the runtime was not asked')
  const refused = lost('NodeAffinity', undefined)
  t.strictSame([refused?.lost, refused?.unexplained], [[], [{ ...a, reason: 'NodeAffinity' }]], 'no config can have done that')
  const unclear = fold(list(failed('a')), undefined, { ...LISTED, changed: undefined, livePods: [] })
  t.strictSame(unclear?.lost, [a], 'what the config changes is not known either')
})

t.test('what is kept of the pods', async (t) => {
  const first = fold(list(failed('a')))
  const a = { name: 'default/a', reason: 'OutOfpods', field: 'maxPods' }
  t.strictSame(first, { lost: [a], sinceUs: s(10), lastUs: s(10), problem: '' })
  const second = fold(list(failed('a'), failed('b')), first, LISTED, 20)
  t.strictSame(second, { lost: [a, { ...a, name: 'default/b' }], sinceUs: s(10), lastUs: s(20), problem: '' }, 'each once')
  t.strictSame(fold(list(), second, LISTED, 30), { ...second, lastUs: s(30) }, 'also once it is deleted')
  t.match(fold(list(failed('a')), fold(list()), LISTED, 20), { sinceUs: s(20) }, 'since the first was lost')
  const others = fold(list(failed('c', { reason: 'NodeAffinity' })))
  const c = { name: 'default/c', reason: 'NodeAffinity' }
  t.strictSame(others, { lost: [], unexplained: [c], sinceUs: s(10), lastUs: s(10), problem: '' })
  t.strictSame(fold(list(failed('c', { reason: 'NodeAffinity' })), others)?.unexplained, [c])
  t.strictSame(fold(list(failed('a')), undefined, { ...LISTED, changed: undefined })?.lost, [{ name: 'default/a', reason: 'OutOfpods' }])
})

t.test('a list that is full drops first what the config may not have done', async (t) => {
  const many = (from: number, facts: Partial<FailedPod>) => Array.from({ length: 15 }, (_, index) => failed(`${from + index}`, facts))
  const gates = { ...LISTED, changed: ['maxPods', 'featureGates.Some'] }
  const unclear = fold(list(...many(0, { reason: 'OutOfcpu' })), undefined, gates)
  t.match(unclear?.lost, { length: 15, 0: { name: 'default/0' } })
  const both = fold(list(...many(20, {})), unclear, gates)
  t.same(
    both?.lost.map(({ name, field }) => `${name} ${field}`),
    Array.from({ length: 20 }, (_, index) => (index < 15 ? `default/${20 + index} maxPods` : `default/${index - 15} undefined`)),
    'the first of both',
  )
  const unexplained = fold(list(...many(0, { reason: 'NodeAffinity' }), ...many(20, { reason: 'NodeAffinity' })))?.unexplained
  t.equal(unexplained?.length, 20)
  t.equal(unexplained?.[0]?.name, 'default/0')
})

t.test('an answer without a list keeps what was seen, and one that was not asked changes nothing', async (t) => {
  const seen = fold(list(failed('a')))
  const REFUSED = { kind: 'refused', detail: '403' } as const
  t.strictSame(fold(REFUSED, seen, LISTED, 20), { ...seen, lastUs: s(20), problem: '403' })
  t.strictSame(fold(REFUSED), { lost: [], sinceUs: s(10), lastUs: s(10), problem: '403' })
  t.equal(fold({ kind: 'not-asked', detail: '' }, seen, LISTED, 20), seen)
})

t.test('pressure from before the restart evicts whatever the config is', async (t) => {
  const message = 'The node was low on resource: memory. '
  const where = (reason: string, pressure: readonly string[] | undefined) => {
    const seen = fold(list(failed('a', { reason, message })), undefined, { ...LISTED, changed: ['evictionHard', 'maxPods'], pressure })
    return seen?.unexplained === undefined ? seen?.lost[0]?.field : 'node'
  }
  t.equal(where('Evicted', undefined), 'evictionHard')
  t.equal(where('Evicted', []), 'evictionHard')
  t.equal(where('Evicted', ['DiskPressure']), 'node')
  t.equal(where('OutOfpods', ['DiskPressure']), 'maxPods', 'but refuses none')
})

t.test('a change of a map concerns each of its keys, and no field that only begins alike', async (t) => {
  const field = (changed: readonly string[], reason: string) =>
    fold(list(failed('a', { reason })), undefined, { ...LISTED, changed })?.lost[0]?.field
  t.equal(field(['kubeReserved'], 'OutOfcpu'), 'kubeReserved')
  t.equal(field(['kubeReserved.cpu'], 'OutOfcpu'), 'kubeReserved.cpu')
  t.equal(field(['hairpinMode', 'cpuManagerPolicyOptions.x'], 'SMTAlignmentError'), 'cpuManagerPolicyOptions.x')
  t.equal(field(['kubeReserved.cpus'], 'OutOfcpu'), undefined)
  t.equal(field(['xkubeReserved.cpu'], 'OutOfcpu'), undefined)
  t.equal(field(['featureGates'], 'OutOfpods'), undefined, 'a gate may do anything, or nothing')
  const upgraded = momentOf(10, { key: keyOf(B, UPGRADED_KUBELET) }, LISTED)
  t.strictSame(
    PODS.fold(list(failed('a')), upgraded).pods?.lost,
    [{ name: 'default/a', reason: 'OutOfpods' }],
    'another kubelet may do so itself',
  )
})

const judge = (pods: Partial<PodsSeen> | undefined, facts: Partial<EvidenceView> = {}, newPressure?: readonly string[]) => {
  const node = newPressure && { ready: 'True', message: '', readySinceUs: 0, lastUs: 0, newPressure, problem: '' }
  const seen = pods && { lost: [], sinceUs: s(60), lastUs: s(90), problem: '', ...pods }
  return PODS.judge(viewOf({ pods: seen, node }, { baseline: { ...BASELINE, ...LISTED }, ...facts }))
}
const OF_CONFIG: Lost = { name: 'default/a', reason: 'OutOfpods', field: 'maxPods' }
const OF_BOTH: Lost = { name: 'default/b', reason: 'Evicted' }
const changes = (...changed: readonly string[]) => ({ baseline: { ...BASELINE, ...LISTED, changed } })

t.test('pods are judged for the config that the baseline was taken before', async (t) => {
  const NONE = { answer: 'unknown', detail: 'judged for the assigned config only' }
  t.match(judge({ lost: [OF_CONFIG] }, { isCandidate: false }), NONE)
  t.match(judge({ lost: [OF_CONFIG] }, { baseline: undefined }), NONE)
})

t.test('the loss of a pod is told with what the config has changed', async (t) => {
  const LOST = 'a pod that ran before was lost: default/a (OutOfpods)'
  t.strictSame(judge({ lost: [OF_CONFIG] }), { answer: 'no', detail: `${LOST}: maxPods has changed`, sinceUs: s(60) })
  const two = { lost: [OF_CONFIG, { ...OF_CONFIG, name: 'default/c' }] }
  t.match(judge(two), { detail: `${LOST} and 1 more: maxPods has changed` })
  t.match(judge({ lost: [OF_BOTH, OF_CONFIG] }), { answer: NO, detail: `${LOST}: maxPods has changed` }, 'that one counts')
  t.strictSame(judge({ lost: [OF_BOTH] }), {
    answer: 'no',
    detail: 'a pod failed: default/b (Evicted); whether a change of the config did that is not known',
    sinceUs: s(60),
    mayBeNodes: true,
  })
  const OLDER: Lost = { name: 'default/a', reason: 'OutOfpods', mayBeOlder: true }
  t.strictSame(judge({ lost: [OLDER] }), {
    answer: 'no',
    detail: 'a pod failed: default/a (OutOfpods); whether that was before the restart is not known',
    sinceUs: s(60),
    mayBeNodes: true,
  })
  t.match(judge({ lost: [OLDER, OF_BOTH] }), { detail: /and 1 more; whether a change of the config did that is not known$/ })
  t.match(judge({ lost: [OLDER, OF_CONFIG] }), { answer: NO, detail: `${LOST}: maxPods has changed` })
  t.match(judge({ lost: [OF_CONFIG], problem: '403' }), { answer: NO }, 'also where the list cannot be read any more')
})

t.test('pressure that came with the restart', async (t) => {
  const DISK = ['DiskPressure']
  const brought = judge({}, changes('hairpinMode', 'evictionHard'), DISK)
  t.strictSame(brought, { answer: 'no', detail: 'the restart brought DiskPressure: evictionHard has changed', sinceUs: undefined })
  t.match(judge(undefined, changes('evictionHard'), DISK), { answer: NO }, 'also where the pods were not listed')
  t.match(judge({}, changes('evictionHard'), ['PIDPressure', ...DISK]), {
    detail: 'the restart brought PIDPressure, DiskPressure: evictionHard has changed',
  })
  t.match(judge({}, changes('podPidsLimit'), [...DISK, 'PIDPressure']), {
    detail: 'the restart brought PIDPressure: podPidsLimit has changed',
  })
  const unclear = { baseline: { ...BASELINE, ...LISTED, changed: undefined } }
  t.match(judge(undefined, unclear, DISK), {
    answer: NO,
    mayBeNodes: true,
    detail: 'the restart brought DiskPressure; whether a change of the config did that is not known',
  })
  t.match(judge({ lost: [OF_BOTH] }, unclear, DISK), { detail: /^the restart brought/ }, 'it explains the eviction')
  t.match(judge({ lost: [OF_CONFIG] }, unclear, DISK), { detail: /^a pod .* maxPods has changed$/ })
})

t.test('no pod was lost', async (t) => {
  const NONE = 'no pod that ran before was refused or evicted'
  t.strictSame(judge({}), { answer: 'yes', detail: NONE, sinceUs: undefined })
  t.match(judge({}, changes('maxPods'), ['DiskPressure']), {
    answer: 'yes',
    detail: `${NONE} for what the config changes; none of it explains DiskPressure`,
  })
  const unexplained = [{ name: 'default/c', reason: 'NodeAffinity' }]
  t.match(judge({ unexplained }, changes('maxPods'), ['DiskPressure']), {
    answer: 'yes',
    detail: `${NONE} for what the config changes; none of it explains default/c (NodeAffinity) and 1 more`,
  })
  t.match(judge(undefined), { answer: 'unknown', detail: 'not read yet' })
  t.match(judge({ problem: '403 Forbidden' }), { answer: 'unknown', detail: '403 Forbidden' })
  const unlisted = { baseline: { ...BASELINE, ...LISTED, podsAtMs: undefined } }
  t.match(judge({}, unlisted), { answer: 'unknown', detail: 'which pods ran before is not known' })
})

t.test('what a baseline keeps of the pods', async (t) => {
  const take = (answer: PodsAnswer | NoAnswer) => PODS.take(answer, momentOf(10, {}, undefined, { wallMs: 77 }))
  t.strictSame(take(list(failed('a'), failed('b'))), { podsAtMs: 70, podsAtWallMs: 77, failedPods: ['a', 'b'] })
  t.strictSame(take({ kind: 'refused', detail: '403' }), {})
  const many = (length: number) => list(...Array.from({ length }, (_, index) => failed(`${index}`)))
  t.equal(take(many(1000)).failedPods?.length, 1000)
  t.strictSame(take(many(1001)), {}, 'a shortened list would show old failures as new')
  t.equal(PODS.describeGap({ podsAtMs: undefined }), 'which pods have failed before is not known')
  t.equal(PODS.describeGap({ podsAtMs: 1 }), undefined)
})

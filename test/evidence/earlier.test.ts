// SPDX-License-Identifier: Apache-2.0
/**
 * A config that replaces one on trial: what that one broke counts as there before, so that a hasty
 * fix that mends nothing is not promoted.
 */
import t from 'tap'
import type { SeenFact } from '../../src/evidence/kinds.ts'
import { isEvidenceRecord } from '../../src/evidence/kinds.ts'
import type { StaticPod } from '../../src/evidence/static-pods.ts'
import { API_SERVER, ETCD, find, node, pods, recordStory, runtime, type Story, serving, staticPods } from './samples.ts'

const WELL = [staticPods([API_SERVER, ETCD]), serving(403), node('True'), runtime('answered'), pods()]
/** Not a part of `unknown`. */
const NO = /^no$/
const LATE = { reportedAt: 400, answeredAt: 500 }
const NOT_READY = node('False', LATE)
const BROKEN = [staticPods([API_SERVER]), serving(401), node('False'), runtime('answered'), pods(['a', 'Evicted'])]
const after = (...facts: readonly SeenFact[]): Story => ({
  earlier: WELL,
  before: BROKEN,
  seen: [20, 40, 500].flatMap((at) => facts.map((each) => [at, each] as const)),
  now: 600,
})

t.test('what it broke has to come back', async (t) => {
  const nothingMended = after(staticPods([API_SERVER]), serving(401), NOT_READY, pods(['a', 'Evicted']))
  t.match(find('static-pods', nothingMended), { answer: NO, detail: /etcd/, damage: 'transient' }, 'but this config did not lose it')
  t.match(find('serving', nothingMended), { answer: NO, detail: /401/ })
  t.match(find('ready', nothingMended), { answer: NO })
  t.match(find('pods', nothingMended), { answer: 'yes' }, 'except the pods that were evicted: others replace them')
  t.ok(isEvidenceRecord(JSON.parse(JSON.stringify(recordStory(nothingMended)))), 'the record is read again')
})

t.test('a fix that mends it is proven', async (t) => {
  const mended = after(staticPods([API_SERVER, ETCD]), serving(403), node('True', LATE))
  for (const kind of ['static-pods', 'serving', 'ready'] as const) t.match(find(kind, mended), { answer: 'yes' }, kind)
  t.match(find('static-pods', mended), { detail: '2 static pods run as before' })
})

t.test('what it did not break is as after any other config', async (t) => {
  const lost = { ...after(staticPods([API_SERVER])), before: WELL }
  t.match(find('static-pods', lost), { answer: NO, damage: 'one-way' }, 'this config has lost it')
  const unread = { ...after(staticPods([API_SERVER]), serving(401)), before: [] }
  t.match(find('static-pods', unread), { answer: NO, damage: 'transient' }, 'nobody knows which of the two has lost it')
  t.match(find('serving', unread), { answer: NO })
})

t.test('a static pod that was replaced has to come back, unless its manifest was edited', async (t) => {
  const other: StaticPod = { ...ETCD, hash: 'hash-3' }
  const replaced = { ...after(staticPods([API_SERVER, other])), before: [staticPods([API_SERVER, other])] }
  t.match(find('static-pods', replaced), { answer: NO, detail: /etcd/ })
  const back = { ...replaced, ...{ seen: after(staticPods([API_SERVER, ETCD])).seen ?? [] } }
  t.match(find('static-pods', back), { answer: 'yes' })
  const edited = staticPods([API_SERVER, other], { 'kube-apiserver': 'd1', etcd: 'd2-edited' })
  t.match(find('static-pods', { ...after(edited), before: [edited] }), { answer: 'yes' }, 'the edited one runs')
})

t.test('another kubelet may replace what ran before that', async (t) => {
  const replaced = staticPods([
    { ...API_SERVER, hash: 'hash-4' },
    { ...ETCD, hash: 'hash-5' },
  ])
  const upgraded: Story = { ...after(replaced), before: [replaced], keyBefore: 'content-a@1@kubelet-older' }
  t.equal(find('static-pods', upgraded).answer, 'unknown')
})

t.test('a move to another runtime that was done is none of the fix', async (t) => {
  const CONTAINERD = '/run/containerd/containerd.sock'
  const CRIO = '/run/crio/crio.sock'
  const story = (before: 'answered' | 'silent'): Story => ({
    earlier: [...WELL.slice(0, 3), runtime('answered', CRIO)],
    before: [runtime(before, CONTAINERD)],
    seen: [
      [20, runtime('silent', CONTAINERD)],
      [500, runtime('silent', CONTAINERD)],
    ],
    now: 600,
  })
  t.equal(find('runtime', story('answered')).answer, 'unknown', 'it answered there: the silence is a fault of the node')
  t.match(find('runtime', story('silent')), { answer: NO, detail: /containerd/ }, 'it was as silent before the fix')
  const wasReached = { ...story('silent'), tried: [runtime('answered', CONTAINERD)] }
  t.equal(find('runtime', wasReached).answer, 'unknown', 'it had answered there before it fell silent')
  const back = { ...story('answered'), seen: [20, 500].map((at) => [at, runtime('silent', CRIO)] as const) }
  t.equal(find('runtime', back).answer, 'unknown', 'nor is the way back to the runtime of before')
  t.ok(isEvidenceRecord(JSON.parse(JSON.stringify(recordStory(story('silent'))))), 'the record is read again')
})

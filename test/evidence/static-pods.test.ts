// SPDX-License-Identifier: Apache-2.0
/** Which static pods are expected to run, and what explains that one does not. */
import t from 'tap'
import type { NotAsked } from '../../src/evidence/kind.ts'
import type { Baseline, EvidenceView, ProcessEvidence } from '../../src/evidence/kinds.ts'
import { hasControlPlane, type Manifest, STATIC_PODS, type StaticPod, type StaticPodsAnswer } from '../../src/evidence/static-pods.ts'
import { B, keyOf, UPGRADED_KUBELET } from '../decision/snapshots.ts'
import { BASELINE, momentOf, NO, s, viewOf } from './views.ts'

type Before = NonNullable<Baseline['staticPods']>[number]
type Idle = NonNullable<Baseline['idle']>[number]
type Seen = NonNullable<ProcessEvidence['staticPods']>

const pod = (name: string, facts: Partial<StaticPod> = {}): StaticPod => {
  return { hash: `hash-${name}`, name: `kube-system/${name}-node-1`, isRunning: true, startedAtMs: 2000, ...facts }
}
const manifest = (podName: string, facts: Partial<Manifest> = {}): Manifest => {
  return { path: `/m/${podName}.yaml`, digest: `d-${podName}`, modifiedAtMs: 1000, podName, names: [podName, 'other'], ...facts }
}
const found = (pods: readonly StaticPod[], manifests: readonly Manifest[]): StaticPodsAnswer => ({
  kind: 'found',
  pods,
  manifests,
  live: ['default/a'],
})
const file = (name: string, facts: Partial<Before['manifest'] & object> = {}): NonNullable<Before['manifest']> => {
  return { path: `/m/${name}.yaml`, digest: `d-${name}`, ...facts }
}
const ran = (name: string, own: Before['manifest'] = file(name)): Before => {
  return { hash: `hash-${name}`, name: `kube-system/${name}-node-1`, manifest: own }
}
const take = (answer: StaticPodsAnswer | NotAsked, facts: Parameters<typeof momentOf>[3] = {}) =>
  STATIC_PODS.take(answer, momentOf(10, {}, undefined, facts))

t.test('a baseline keeps the static pods that run, each with the file that is its own', async (t) => {
  const own = (one: StaticPod, ...manifests: readonly Manifest[]) => take(found([one], manifests)).staticPods?.[0]?.manifest
  t.strictSame(take(found([pod('etcd')], [manifest('etcd')])).staticPods, [ran('etcd')])
  t.strictSame(take(found([pod('etcd', { isRunning: false })], [])).staticPods, [])
  t.strictSame(take(found([], [])).livePods, ['default/a'], 'and every pod that runs, for those that are lost')
  t.strictSame(take(found([pod('etcd')], [])).staticPods, [{ ...ran('etcd'), manifest: undefined }], 'no file names it')
  t.strictSame(own(pod('etcd'), manifest('x', { names: ['etcd'] })), undefined, 'a container of another pod has its name')
  const unnamed = { podName: undefined, names: ['etcd'] }
  t.strictSame(own(pod('etcd'), manifest('a', unnamed), manifest('b', { ...unnamed, names: [] })), file('a'))
  t.strictSame(own(pod('etcd'), manifest('a', unnamed), manifest('etcd')), file('etcd'), 'the file that has its name as that of the pod')
  t.strictSame(own(pod('etcd'), manifest('a', unnamed), manifest('b', unnamed)), file('a', { others: [file('b')] }))
  t.strictSame(own(pod('etcd'), manifest('etcd', { modifiedAtMs: 2000 })), file('etcd'))
  t.strictSame(own(pod('etcd'), manifest('etcd', { modifiedAtMs: 2001 })), file('etcd', { isNewer: true }))
  t.strictSame(
    own(pod('etcd', { startedAtMs: undefined }), manifest('etcd')),
    file('etcd', { isNewer: true }),
    'when it was started is not known',
  )
  t.match(own(pod('etcd'), manifest('a', unnamed), manifest('b', { ...unnamed, modifiedAtMs: 2001 })), { isNewer: true })
  t.strictSame(own({ ...pod('etcd'), name: 'etcd-node-1' }, manifest('etcd')), file('etcd'), 'without a namespace')
  t.strictSame(own({ ...pod('etcd'), name: 'kube-system/a-node-1-node-1' }, manifest('a-node-1')), file('a-node-1'))
  t.strictSame(own({ ...pod('etcd'), name: 'kube-system/etcd' }, manifest('etcd')), file('etcd'), 'a name without that of the node')
  const dotted = momentOf(10, {}, undefined, { nodeName: 'node.1' })
  const [first, second] = STATIC_PODS.take(
    found([pod('etcd', { name: 'kube-system/etcd-node.1' }), pod('x', { name: 'kube-system/etcd-nodeX1' })], [manifest('etcd')]),
    dotted,
  ).staticPods as readonly Before[]
  t.match(first?.manifest, file('etcd'))
  t.equal(second?.manifest, undefined, 'a dot is a dot')
  const many = Array.from({ length: 101 }, (_, index) => pod(`p${index}`))
  t.equal(take(found(many, [])).staticPods?.length, 100)
  t.strictSame(take({ kind: 'not-asked', detail: '' }), { livePods: undefined }, 'those of an earlier answer may have failed since')
})

t.test('a baseline keeps the manifests of which no pod runs', async (t) => {
  const idle = (pods: readonly StaticPod[], manifests: readonly Manifest[], facts: Parameters<typeof momentOf>[3] = {}) =>
    take(found(pods, manifests), facts).idle
  const etcd = { ...file('etcd'), names: ['etcd'] }
  t.strictSame(idle([], [manifest('etcd')]), [etcd])
  t.strictSame(idle([pod('etcd')], [manifest('etcd')]), [])
  t.strictSame(idle([pod('etcd', { isRunning: false, isHeld: true })], [manifest('etcd')]), [etcd])
  t.strictSame(idle([pod('etcd', { isRunning: false, isHeld: true }), pod('etcd')], [manifest('etcd')]), [], 'another attempt runs')
  t.strictSame(idle([], [manifest('etcd', { podName: undefined, names: [] })]), [], 'of a pod that may complete')
  const unnamed = { podName: undefined, names: ['a', 'etcd'] }
  t.strictSame(idle([], [manifest('etcd', unnamed)]), [{ ...file('etcd'), names: ['a', 'etcd'] }])
  t.strictSame(idle([pod('etcd')], [manifest('etcd', unnamed)]), [], 'any of the names may be its own')
  const names = Array.from({ length: 11 }, (_, index) => `c${index}`)
  t.equal(idle([], [manifest('etcd', { podName: undefined, names })])?.[0]?.names.length, 10)
  const lasting = [{ ...etcd, isLasting: true }]
  t.strictSame(idle([], [manifest('etcd')], { isPromoted: true, healthyUs: s(300) }), lasting)
  t.strictSame(idle([], [manifest('etcd')], { isPromoted: true, healthyUs: s(299.9) }), [etcd], 'it may have been about to')
  t.strictSame(idle([], [manifest('etcd')], { isPromoted: false, healthyUs: s(999) }), [etcd], 'a config on trial may have lost it')
})

const BOTH: Partial<Baseline> = { staticPods: [ran('etcd'), ran('api')] }
const FILES = [manifest('etcd'), manifest('api')]
const fold = (answer: StaticPodsAnswer, baseline: Partial<Baseline> | undefined = BOTH, before?: Seen, at = 10) =>
  STATIC_PODS.fold(answer, momentOf(at, { staticPods: before }, baseline)).staticPods
const NONE: Seen = { missing: [], replaced: [], held: [], excused: [], provenAtUs: undefined, lastUs: s(10), problem: '' }
const API = 'kube-system/api-node-1'
const ETCD = 'kube-system/etcd-node-1'

t.test('what is kept of an answer', async (t) => {
  const all = fold(found([pod('etcd'), pod('api')], FILES))
  t.strictSame(all, { ...NONE, provenAtUs: s(10) })
  t.match(fold(found([pod('etcd'), pod('api')], FILES), BOTH, all, 20), { provenAtUs: s(10), lastUs: s(20) })
  t.strictSame(STATIC_PODS.fold(found([pod('etcd')], FILES.slice(0, 1)), momentOf(10, {}, undefined)).staticPods, all, 'without a baseline')
  const one = fold(found([pod('etcd')], FILES), BOTH, all, 20)
  t.strictSame(one, { ...NONE, missing: [{ name: API, sinceUs: s(20) }], lastUs: s(20) })
  t.match(fold(found([], FILES), BOTH, one, 30), {
    missing: [
      { name: ETCD, sinceUs: s(30) },
      { name: API, sinceUs: s(20) },
    ],
  })
  t.match(fold(found([pod('etcd'), pod('api', { isRunning: false })], FILES)), { missing: [{ name: API }] })
  t.match(fold(found([pod('etcd'), pod('api')], FILES), BOTH, one, 30), { missing: { length: 0 }, provenAtUs: s(30) }, 'it is back')
})

t.test('a pod whose containers ended by themselves is kept by kubelet', async (t) => {
  const held = pod('api', { isRunning: false, isHeld: true })
  t.strictSame(fold(found([pod('etcd'), held], FILES)), { ...NONE, held: [API] })
  t.match(
    fold(found([pod('etcd'), { ...held, hash: 'h' }], FILES)),
    { held: { length: 0 }, missing: [{ name: API }] },
    'that is another pod',
  )
})

t.test('a pod that was replaced although its manifest is the same', async (t) => {
  const other = pod('api', { hash: 'other' })
  const seen = fold(found([pod('etcd'), other], FILES))
  t.strictSame(seen, { ...NONE, replaced: [API] })
  t.strictSame(fold(found([pod('etcd'), other], FILES), BOTH, seen)?.replaced, [API], 'each once')
  t.match(fold(found([pod('etcd')], FILES), BOTH, seen), { replaced: [API], missing: { length: 0 } }, 'whatever follows')
  t.match(fold(found([pod('etcd'), { ...other, isRunning: false }], FILES)), { replaced: { length: 0 }, missing: [{ name: API }] })
  t.match(fold(found([pod('etcd'), { ...other, name: 'default/api-node-1' }], FILES)), {
    replaced: { length: 0 },
    missing: [{ name: API }],
  })
})

t.test('a manifest that changed explains what happened to its pod', async (t) => {
  const only = (own: Before['manifest']) => ({ staticPods: [{ ...ran('api'), manifest: own }] })
  const kinds = (own: Before['manifest'], pods: readonly StaticPod[], manifests: readonly Manifest[]) => {
    const { missing = [], replaced = [], excused = [] } = fold(found(pods, manifests), only(own)) ?? {}
    return [...missing.map(() => 'missing'), ...replaced.map(() => 'replaced'), ...excused.map(() => 'excused')].join()
  }
  const other = [pod('api', { hash: 'other' })]
  t.equal(kinds(file('api'), [], FILES), 'missing')
  t.equal(kinds(file('api'), [], [manifest('api', { digest: 'd2' })]), 'excused', 'it was edited')
  t.equal(kinds(file('api'), [], [manifest('api', { path: '/m/b.yaml' })]), 'excused', 'it was moved')
  t.equal(kinds(file('api'), [], []), 'excused', 'it was removed')
  t.equal(kinds(undefined, [], FILES), 'excused', 'it is not known')
  const newer = file('api', { isNewer: true })
  t.equal(kinds(newer, other, FILES), 'excused', 'it was edited before the restart, and another pod follows from it')
  t.equal(kinds(newer, [], FILES), 'missing')
  const several = file('api', { others: [file('etcd')] })
  t.equal(kinds(several, other, FILES), 'excused', 'another of the files may be taken')
  t.equal(kinds(several, [], FILES), 'missing')
  t.equal(kinds(several, [], [manifest('api')]), 'excused', 'one of them was removed')
})

t.test('another kubelet may replace the pods', async (t) => {
  const upgraded = (baseline: Partial<Baseline>, pods: readonly StaticPod[]) =>
    STATIC_PODS.fold(found(pods, FILES), momentOf(10, { key: keyOf(B, UPGRADED_KUBELET) }, baseline)).staticPods
  const other = [pod('etcd'), pod('api', { hash: 'other' })]
  t.match(upgraded(BOTH, other), { replaced: { length: 0 }, excused: [API] })
  t.match(upgraded(BOTH, [pod('etcd')]), { missing: [{ name: API }] }, 'but not remove them')
  t.match(upgraded({ ...BOTH, kubelet: undefined }, other), { replaced: [API] }, 'an earlier agent recorded no kubelet')
  t.match(upgraded({ staticPods: [{ ...ran('api'), manifest: undefined }] }, []), { excused: [API] })
})

t.test('an answer without pods keeps what was wrong, which is missing anew from the next answer on', async (t) => {
  const seen = fold(found([pod('api', { hash: 'other' })], FILES))
  t.match(seen, { missing: [{ name: ETCD }], replaced: [API] })
  const unasked = { kind: 'not-asked', detail: 'no socket' } as const
  const moment = momentOf(20, { staticPods: seen }, BOTH)
  const unread = STATIC_PODS.fold(unasked, moment).staticPods
  t.strictSame(unread, { ...seen, lastUs: s(20), problem: 'no socket' })
  const later = STATIC_PODS.fold(found([], FILES), momentOf(30, { staticPods: unread }, BOTH)).staticPods
  t.match(later, { missing: [{ name: ETCD, sinceUs: s(30) }] })
  const nothing = { missing: [], replaced: [], excused: [], lastUs: s(20), problem: 'no socket' }
  t.strictSame(STATIC_PODS.fold(unasked, momentOf(20, {}, BOTH)).staticPods, nothing)
})

t.test('manifests of which nobody knows whether their pod would run', async (t) => {
  const idle = (baseline: Partial<Baseline> | undefined, pods: readonly StaticPod[], manifests = FILES) =>
    STATIC_PODS.fold(found(pods, manifests), momentOf(10, {}, baseline)).staticPods?.idle
  const wasIdle = (facts: Partial<Idle> = {}) => ({ staticPods: [], idle: [{ ...file('api'), names: ['api'], ...facts }] })
  t.strictSame(idle(wasIdle(), []), ['/m/api.yaml'])
  t.strictSame(idle(wasIdle({ isLasting: true }), []), undefined, 'it did not run before')
  t.strictSame(idle(wasIdle(), [pod('api')]), undefined, 'it runs')
  t.strictSame(idle(wasIdle(), [pod('api', { isRunning: false, isHeld: true })]), undefined, 'kubelet keeps it')
  t.strictSame(idle(wasIdle(), [pod('api', { isRunning: false })]), ['/m/api.yaml'])
  t.strictSame(idle(wasIdle({ digest: 'd2' }), []), undefined, 'its manifest has changed')
  t.strictSame(idle({ staticPods: [] }, []), undefined, 'all ran')
  t.strictSame(idle({}, [pod('etcd')]), ['/m/api.yaml'], 'nobody asked before')
  t.strictSame(idle(undefined, [pod('etcd')]), ['/m/api.yaml'], 'there is no baseline')
  t.strictSame(idle({}, [], [manifest('api', { podName: undefined, names: ['api'] })]), undefined, 'a note, of which kubelet makes no pod')
})

const judge = (seen: Partial<Seen> | undefined, baseline: Partial<Baseline> | undefined = BOTH) =>
  STATIC_PODS.judge(viewOf({ staticPods: seen && { ...NONE, ...seen } }, { baseline: baseline && { ...BASELINE, ...baseline } }))
const missingSince = (...seconds: readonly number[]) => seconds.map((each, index) => ({ name: `p${index}`, sinceUs: s(each) }))

t.test('static pods are judged in the order of what is worst', async (t) => {
  t.match(judge(undefined), { answer: 'unknown', detail: 'not asked' })
  t.match(judge({ problem: 'no socket', replaced: ['a'] }), { answer: 'unknown', detail: 'no socket' })
  const worst = { replaced: ['a'], missing: missingSince(0), held: ['b'], idle: ['c'], excused: ['d'], lastUs: s(999) }
  t.match(judge(worst), { answer: NO, detail: 'static pods were restarted, although their manifests did not change: a' })
  t.match(judge({ ...worst, replaced: [] }), { answer: NO, detail: 'static pods that ran before do not run: p0', sinceUs: 0 })
  t.match(judge({ ...worst, replaced: [], missing: [] }), {
    answer: 'unknown',
    isDoubtful: true,
    isUncompared: undefined,
    detail: 'containers of static pods ended by themselves, and kubelet has to start them again: b',
  })
  const { held: _, ...unheld } = { ...worst, replaced: [], missing: [] }
  t.match(judge({ ...unheld, held: undefined }), {
    isUncompared: true,
    detail: 'static pods do not run: c; how that was before is not known',
  })
  t.match(judge({ ...unheld, held: [], idle: [] }), {
    answer: 'unknown',
    isDoubtful: undefined,
    detail: 'static pods do not run whose manifests changed, or are not known: d',
  })
  t.match(judge({ provenAtUs: s(7) }), { answer: 'yes', detail: '2 static pods run as before', sinceUs: s(7) })
})

t.test('a static pod has 150 s to come back', async (t) => {
  const detail = 'static pods that ran before do not run: p0, p1'
  t.match(judge({ missing: missingSince(20, 10), lastUs: s(160) }), { answer: NO, detail, sinceUs: s(10) })
  t.match(judge({ missing: missingSince(20, 10), lastUs: s(159.9) }), { answer: 'unknown', isDoubtful: true, detail, sinceUs: s(10) })
})

t.test('where nobody knows which ran before, one that does not run is compared with nothing', async (t) => {
  const facts = { missing: missingSince(0), idle: ['c'], lastUs: s(999) }
  for (const baseline of [{}, undefined] as const) {
    const view = (seen: Partial<Seen>) =>
      STATIC_PODS.judge(viewOf({ staticPods: { ...NONE, ...seen } }, { baseline: baseline && BASELINE }))
    t.match(view(facts), { isUncompared: true, detail: 'static pods do not run: p0, c; how that was before is not known' })
    t.match(view({ missing: facts.missing, idle: undefined }), { isUncompared: true })
    t.match(view({}), { answer: 'unknown', isDoubtful: undefined, detail: 'which static pods ran before is not known' })
  }
})

t.test('five names are told, and how many more there are', async (t) => {
  const replaced = ['a', 'b', 'c', 'd', 'e']
  t.match(judge({ replaced }).detail, /: a, b, c, d, e$/)
  t.match(judge({ replaced: [...replaced, 'f', 'g'] }).detail, /: a, b, c, d, e and 2 more$/)
})

t.test('a config loses static pods for good, unless they were lost before it', async (t) => {
  const isOneWay = (taken: Partial<Baseline> | undefined) => {
    const view: EvidenceView = viewOf({}, { taken: taken && { ...BASELINE, ...taken } })
    return STATIC_PODS.isOneWay(view)
  }
  t.equal(isOneWay(undefined), true)
  t.equal(isOneWay({}), true, 'nobody asked')
  t.equal(isOneWay(BOTH), true)
  t.equal(isOneWay({ ...BOTH, earlier: {} }), true)
  t.equal(isOneWay({ ...BOTH, earlier: BOTH }), true)
  t.equal(isOneWay({ staticPods: [ran('etcd')], earlier: BOTH }), false)
  t.equal(isOneWay({ staticPods: undefined, earlier: BOTH }), false, 'nobody knows which of the two has lost them')
  t.equal(isOneWay({ staticPods: [{ ...ran('etcd'), hash: 'other' }], earlier: { staticPods: [ran('etcd')] } }), false)
})

t.test('which of two baselines counts', async (t) => {
  const join = (earlier: readonly Before[] | undefined, later: readonly Before[] | undefined) =>
    STATIC_PODS.join({ staticPods: earlier }, { staticPods: later }).staticPods
  const other = { ...ran('etcd'), hash: 'other' }
  t.strictSame(join([ran('etcd')], [other]), [ran('etcd')], 'its manifest is the same')
  const edited = { ...other, manifest: file('etcd', { digest: 'd2' }) }
  t.strictSame(join([ran('etcd')], [edited]), [edited])
  const moved = { ...other, manifest: file('etcd', { path: '/n/etcd.yaml' }) }
  t.strictSame(join([ran('etcd')], [moved]), [moved])
  const unknown = { ...other, manifest: undefined }
  t.strictSame(join([ran('etcd')], [unknown]), [unknown])
  t.strictSame(join([unknown], [ran('etcd')]), [ran('etcd')])
  t.strictSame(join([ran('api')], [ran('etcd')]), [ran('api'), ran('etcd')])
  t.strictSame(join([ran('api')], undefined), [ran('api')])
  t.strictSame(join(undefined, [ran('api')]), [ran('api')])
  const many = (from: number) => Array.from({ length: 60 }, (_, index) => ran(`p${from + index}`))
  t.equal(join(many(0), many(60))?.length, 100)
})

t.test('of a manifest without a pod, the earlier baseline may know more', async (t) => {
  const of = (name: string, facts: Partial<Idle> = {}): Idle => ({ ...file(name), names: [name], ...facts })
  const join = (earlier: readonly Idle[] | undefined, later: readonly Idle[] | undefined) =>
    STATIC_PODS.join({ idle: earlier }, { idle: later }).idle
  const lasting = { isLasting: true }
  t.strictSame(join([of('a', lasting)], [of('a')]), [of('a', lasting)])
  t.strictSame(join([of('a')], [of('a')]), [of('a')])
  t.strictSame(join([of('a', { ...lasting, digest: 'd2' })], [of('a')]), [of('a')], 'it was edited')
  t.strictSame(join([of('a')], [of('b')]), [of('b'), of('a')])
  t.strictSame(join(undefined, [of('b')]), [of('b')])
  t.strictSame(join([of('a')], undefined), [of('a')])
  const many = (from: number) => Array.from({ length: 60 }, (_, index) => of(`p${from + index}`))
  t.equal(join(many(0), many(60))?.length, 100)
})

t.test('what the next config has to bring back', async (t) => {
  const idle = [{ ...file('a'), names: ['a'] }]
  t.strictSame(STATIC_PODS.carry({ staticPods: [ran('etcd')], idle }, true), { idle, staticPods: [ran('etcd')] })
  t.strictSame(STATIC_PODS.carry({ staticPods: undefined }, true), { staticPods: undefined })
  t.strictSame(STATIC_PODS.carry({ staticPods: undefined }, false), { staticPods: undefined })
  const unknown = { ...ran('api'), manifest: undefined }
  const [etcd, api] = STATIC_PODS.carry({ staticPods: [ran('etcd'), unknown] }, false).staticPods ?? []
  t.strictSame(etcd, ran('etcd', file('etcd', { isNewer: true })))
  t.strictSame(api, unknown)
})

t.test('a node with a component of the control plane among its static pods', async (t) => {
  const has = (...names: readonly string[]) =>
    hasControlPlane(
      names.map((name) => ({ name })),
      'node-1',
    )
  for (const component of ['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler'])
    t.equal(has('kube-system/kube-proxy-node-1', `kube-system/${component}-node-1`), true, component)
  t.equal(has('kube-system/kube-proxy-node-1'), false)
  t.equal(has('kube-system/etcd-node-2', 'kube-system/my-etcd-node-1', 'etcd/x-node-1'), false)
  t.equal(has('etcd-node-1'), true, 'without a namespace')
  t.equal(has(), false)
})

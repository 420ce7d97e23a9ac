// SPDX-License-Identifier: Apache-2.0
/** Whose fault the silence of the container runtime is, and what is kept of its answers. */
import t from 'tap'
import type { Baseline, ProcessEvidence } from '../../src/evidence/kinds.ts'
import { hasChangedEndpoint, judgeRuntime, RUNTIME } from '../../src/evidence/runtime.ts'
import { BASELINE, momentOf, NO, s, viewOf } from './views.ts'

type RuntimeSeen = NonNullable<ProcessEvidence['runtime']>
const SEEN: RuntimeSeen = { endpoint: '/a.sock', answers: false, sinceUs: s(100), lastUs: s(160), detail: 'no answer within 10 s' }
const before = (facts: Partial<Baseline>): Baseline => ({ ...BASELINE, endpoint: '/b.sock', ...facts })

t.test('the silence of a runtime is the fault of a config that moved kubelet there, after a minute', async (t) => {
  const judge = (seen: Partial<RuntimeSeen> | undefined, baseline: Baseline | undefined) =>
    judgeRuntime(viewOf({ runtime: seen && { ...SEEN, ...seen } }, { baseline }))
  const detail = 'the container runtime does not answer at /a.sock: no answer within 10 s'
  t.match(judge(undefined, before({})), { answer: 'unknown', detail: 'not asked' })
  t.match(judge({ answers: true }, undefined), { answer: 'yes', detail: 'the container runtime answers', sinceUs: s(100) })
  t.match(judge({}, before({})), { answer: NO, detail, sinceUs: s(100) })
  t.match(judge({ lastUs: s(159.9) }, before({})), { answer: 'unknown', isDoubtful: true, detail, sinceUs: s(100) })
  t.match(judge({}, before({ endpoint: '/a.sock' })), { answer: 'unknown', isDoubtful: undefined, detail })
  t.match(judge({}, before({ endpoint: undefined })), { isUncompared: true, detail: `${detail}; how that was before is not known` })
  t.match(judge({}, undefined), { isUncompared: true })
})

t.test('a config moves kubelet to another runtime, unless it brings back the one of before', async (t) => {
  t.equal(hasChangedEndpoint(before({}), '/a.sock'), true)
  t.equal(hasChangedEndpoint(before({}), '/b.sock'), false)
  t.equal(hasChangedEndpoint(before({ earlier: { endpoint: '/a.sock' } }), '/a.sock'), false)
  t.equal(hasChangedEndpoint(before({ earlier: { endpoint: '/c.sock' } }), '/a.sock'), true)
  t.equal(hasChangedEndpoint(before({ endpoint: undefined }), '/a.sock'), false, 'it is not known')
  t.equal(hasChangedEndpoint(before({}), undefined), false)
  t.equal(hasChangedEndpoint(before({ earlier: { endpoint: '/c.sock' } }), undefined), false)
  t.equal(hasChangedEndpoint(undefined, '/a.sock'), false)
})

const answer = (kind: 'answered' | 'silent', endpoint = '/a.sock', detail = '') => ({ kind, endpoint, detail }) as const
const NOT_ASKED = { kind: 'not-asked', detail: 'no socket' } as const
const fold = (at: number, runtime: RuntimeSeen | undefined, ...[kind, endpoint]: Parameters<typeof answer>) =>
  RUNTIME.fold(answer(kind, endpoint), momentOf(at, { runtime }, undefined)).runtime

t.test('what is kept of an answer', async (t) => {
  const first = fold(10, undefined, 'answered')
  t.strictSame(first, {
    endpoint: '/a.sock',
    answers: true,
    sinceUs: s(10),
    lastUs: s(10),
    detail: '',
    wasSilent: false,
    hasAnswered: true,
  })
  t.match(fold(20, first, 'answered'), { sinceUs: s(10), lastUs: s(20) })
  const silent = fold(30, first, 'silent')
  t.match(silent, { answers: false, sinceUs: s(30), wasSilent: true, hasAnswered: true })
  t.match(fold(40, silent, 'silent'), { sinceUs: s(30), lastUs: s(40), hasAnswered: true })
  t.match(fold(40, silent, 'answered'), { answers: true, sinceUs: s(40), wasSilent: true })
  t.match(fold(40, silent, 'silent', '/b.sock'), { sinceUs: s(40), hasAnswered: false }, 'at another endpoint')
  t.match(fold(10, undefined, 'silent'), { hasAnswered: false, wasSilent: true })
  const asked = momentOf(10, { runtime: first }, undefined)
  t.equal(RUNTIME.fold(NOT_ASKED, asked).runtime, first)
  t.equal(RUNTIME.fold(answer('silent', '/a.sock', 'x'.repeat(201)), asked).runtime?.detail.length, 200)
})

t.test('a baseline knows whether the runtime never answered', async (t) => {
  const take = (kind: 'answered' | 'silent', runtime?: RuntimeSeen) => RUNTIME.take(answer(kind), momentOf(20, { runtime }, undefined))
  t.strictSame(take('answered'), { endpoint: '/a.sock', isRuntimeSilent: false })
  t.strictSame(take('silent'), { endpoint: '/a.sock', isRuntimeSilent: true })
  t.match(take('silent', { ...SEEN, hasAnswered: true }), { isRuntimeSilent: false }, 'it is down for a while')
  t.match(take('silent', { ...SEEN, hasAnswered: false }), { isRuntimeSilent: true })
  t.match(take('silent', { ...SEEN, hasAnswered: true, endpoint: '/b.sock' }), { isRuntimeSilent: true })
  t.strictSame(RUNTIME.take(NOT_ASKED, momentOf(20, {}, undefined)), {})
})

t.test('which of two baselines counts', async (t) => {
  const join = (endpoint: string | undefined, isRuntimeSilent: boolean | undefined, earlier: string | undefined = '/b.sock') =>
    RUNTIME.join({ endpoint: earlier }, { endpoint, isRuntimeSilent }).endpoint
  t.equal(join('/a.sock', false), '/a.sock', 'the move to it is done')
  t.equal(join('/a.sock', true), '/b.sock')
  t.equal(join('/a.sock', undefined), '/b.sock')
  t.equal(join(undefined, false), '/b.sock')
  t.equal(RUNTIME.join({ endpoint: undefined }, { endpoint: '/a.sock', isRuntimeSilent: true }).endpoint, '/a.sock')
  t.strictSame(RUNTIME.carry({ endpoint: '/a.sock', isRuntimeSilent: true }), { endpoint: '/a.sock' })
})

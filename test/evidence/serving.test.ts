// SPDX-License-Identifier: Apache-2.0
/** Whose fault it is that kubelet's TLS port does not serve the node. */
import t from 'tap'
import type { Baseline, EvidenceView, ProcessEvidence } from '../../src/evidence/kinds.ts'
import { needsServersWord, noteServer, SERVING, type ServingAnswer } from '../../src/evidence/serving.ts'
import { POLICY } from '../decision/snapshots.ts'
import { BASELINE, momentOf, NO, s, viewOf } from './views.ts'

type ServingSeen = NonNullable<ProcessEvidence['serving']>
const ANONYMOUS = 'system:anonymous'
const NODE = 'system:node:node-1'
const KNOWN: Baseline = { ...BASELINE, serving: { status: 403, user: NODE } }
/** Since 100, last seen at 160; the API server has answered since 120. */
const SEEN: ServingSeen = { detail: 'HTTP 401', status: 401, sinceUs: s(100), lastUs: s(160), serverUpSinceUs: s(120) }
const NO_TLS = { status: undefined, detail: 'refused', serverUpSinceUs: undefined }
const ASKED = { node: { ready: 'True', message: '', readySinceUs: 0, lastUs: 0, newPressure: [], problem: '' } }

const judge = (seen: Partial<ServingSeen>, facts: Partial<EvidenceView> = {}, process: Partial<ProcessEvidence> = ASKED) =>
  SERVING.judge(viewOf({ serving: { ...SEEN, ...seen }, ...process }, { baseline: KNOWN, ...facts }))
const DOUBT = { answer: 'unknown', isDoubtful: true, isUncompared: undefined, sinceUs: s(100) }
const UNKNOWN = { answer: 'unknown', isDoubtful: undefined }

t.test('what the port answers', async (t) => {
  t.match(SERVING.judge(viewOf({})), { answer: 'unknown', detail: 'not asked' })
  t.match(judge({ status: 403, user: NODE }), { answer: 'yes', detail: "kubelet's TLS port knows the node's certificate", sinceUs: s(100) })
  t.match(judge({ status: 200 }, { baseline: undefined }), { answer: 'yes' })
  t.match(judge({}), { answer: NO, detail: "kubelet's TLS port no longer knows the node's certificate (HTTP 401)", sinceUs: s(100) })
  t.match(judge({ status: 500, detail: 'HTTP 500' }), { answer: NO, detail: "kubelet's TLS port answers HTTP 500" })
  t.match(judge({ status: 404, detail: 'HTTP 404' }), { answer: NO, detail: "kubelet's TLS port answers HTTP 404" })
  t.match(judge(NO_TLS), { answer: NO, detail: "kubelet's TLS port does not answer: refused", mayBeNodes: undefined })
  const demoted = { status: 403, user: ANONYMOUS }
  t.match(judge(demoted), {
    answer: NO,
    detail: "kubelet's TLS port no longer knows the node's certificate and takes the agent for an anonymous user",
  })
  t.match(judge({ ...NO_TLS, noCertificate: true }), {
    ...DOUBT,
    detail: "kubelet's TLS port has no certificate yet; its CertificateSigningRequest has to be approved (serverTLSBootstrap)",
  })
  t.match(judge({}, {}, { servingTaken: 'uid 65534 has it' }), { answer: 'unknown', isDoubtful: true, detail: 'uid 65534 has it' })
})

t.test('a no takes a minute', async (t) => {
  t.match(judge({ lastUs: s(159.9) }), DOUBT)
  t.match(judge({}, { policy: { ...POLICY, toleranceUs: s(61) } }), DOUBT)
  t.match(judge(NO_TLS, { servesFromUs: s(100) }), { answer: NO, sinceUs: s(100) })
  t.match(judge(NO_TLS, { servesFromUs: s(100.1) }), DOUBT, 'since kubelet is healthy')
  t.match(judge(NO_TLS, { servesFromUs: undefined }), DOUBT, 'it is not')
  t.match(judge({}, { servesFromUs: s(130) }), { answer: NO }, 'where the port answers, it is there')
})

t.test('the certificate may be at fault', async (t) => {
  t.match(judge({ isOutdated: true }), { ...UNKNOWN, detail: /; the certificate has run out, or is not valid yet$/ })
  t.match(judge({ status: 403, user: ANONYMOUS, isOutdated: true }), { ...UNKNOWN, detail: /; the certificate has run out/ })
  t.match(judge({ status: 404, isOutdated: true }), { answer: NO }, 'the answer says nothing of it')
  const refused = { ...ASKED, unauthorizedUs: s(130) }
  t.match(judge({}, {}, refused), { ...UNKNOWN, detail: /; the API server refuses it, too$/ })
  t.match(judge({ status: 404 }, {}, refused), { answer: NO })
})

t.test('the API server may be at fault, which kubelet asks about each request', async (t) => {
  const away = { ...ASKED, reachableSinceUs: undefined }
  const silent = { ...NO_TLS, isSilent: true, serverUpSinceUs: s(120) }
  for (const seen of [{ status: 500 }, { status: 503 }, silent]) {
    const what = JSON.stringify(seen)
    t.match(judge(seen), { answer: NO }, what)
    t.match(judge(seen, {}, away), { ...UNKNOWN, detail: /; the API server is not reachable$/ }, what)
    t.match(judge({ ...seen, serverUpSinceUs: s(145) }), { answer: NO }, what)
    t.match(judge({ ...seen, serverUpSinceUs: s(145.1) }), DOUBT, `${what}: kubelet may not have tried again`)
    t.match(judge({ ...seen, serverUpSinceUs: undefined }), DOUBT, what)
  }
  for (const seen of [{ status: 499 }, NO_TLS]) t.match(judge(seen, {}, away), { answer: NO }, JSON.stringify(seen))
})

t.test('only the API server says whether the certificate is still good', async (t) => {
  const untold = { serverUpSinceUs: undefined }
  const EACH: Partial<ProcessEvidence>[] = [
    ASKED,
    { lease: { durationSeconds: 40, renewals: 0, lastUs: 0, problem: '' } },
    { pods: { lost: [], sinceUs: 0, lastUs: 0, problem: '' } },
  ]
  for (const process of EACH) t.match(judge(untold, {}, process), DOUBT, Object.keys(process).join())
  t.match(judge(untold, {}, {}), { answer: NO, mayBeNodes: true, sinceUs: s(100) }, 'where it is never asked')
  t.match(judge({ ...untold, status: 403, user: ANONYMOUS }, {}, {}), { answer: NO, mayBeNodes: true })
  t.match(judge({ ...untold, status: 404 }, {}, {}), { answer: NO, mayBeNodes: undefined })
  t.match(judge({}, {}, {}), { answer: NO, mayBeNodes: undefined }, 'it has said so')
})

t.test('a port that did not know the node before', async (t) => {
  const was = (serving: Baseline['serving'], ofPromoted?: true) => ({ baseline: { ...BASELINE, serving, ofPromoted } })
  const WAS = { ...UNKNOWN, detail: /; it was no otherwise before$/ }
  const UNCOMPARED = { answer: 'unknown', isUncompared: true, detail: /; how that was before is not known$/ }
  t.match(judge({}, was({ status: 401 }, true)), WAS)
  t.match(judge({}, was({}, true)), WAS)
  t.match(judge({}, was({ isEarly: true }, true)), UNCOMPARED, 'kubelet may not have opened its port yet')
  t.match(judge({}, was({ status: 401 })), UNCOMPARED, 'a config on trial may have done that')
  t.match(judge({}, was(undefined, true)), UNCOMPARED, 'nobody asked')
  t.match(judge({}, { baseline: undefined }), UNCOMPARED)
  t.match(judge({}, was({ status: 200 })), { answer: NO })
  const anonymous = { status: 403, user: ANONYMOUS }
  t.match(judge(anonymous, was(anonymous, true)), { answer: 'yes' }, 'as before')
  t.match(judge(anonymous, was({ status: 401 }, true)), WAS)
  t.match(judge(anonymous, was(anonymous)), UNCOMPARED, 'a config on trial may have done that')
  t.match(judge(anonymous, { baseline: undefined }), UNCOMPARED)
  t.match(judge({}, was(anonymous, true)), WAS)
})

t.test('a port that waited for the API server before shows nothing else of how it was', async (t) => {
  const silent = { ...NO_TLS, isSilent: true, serverUpSinceUs: s(120) }
  for (const serving of [{ status: 500 }, { isSilent: true }]) {
    const was = { baseline: { ...BASELINE, serving, ofPromoted: true as const } }
    for (const seen of [{}, { status: 403, user: ANONYMOUS }, NO_TLS]) t.match(judge(seen, was), { isUncompared: true })
    for (const seen of [{ status: 500 }, { status: 503 }, silent])
      t.match(judge(seen, was), { ...UNKNOWN, detail: /; it was no otherwise before$/ }, 'as before')
  }
})

t.test('which answers take the word of the API server', async (t) => {
  const needs = (seen: Partial<ServingSeen>) => needsServersWord({ ...SEEN, ...seen })
  t.equal(needs({}), true)
  t.equal(needs({ status: 403, user: ANONYMOUS }), true)
  t.equal(needs({ status: 500 }), true)
  t.equal(needs({ ...NO_TLS, isSilent: true }), true)
  t.equal(needs({ status: 403, user: NODE }), false)
  t.equal(needs({ status: 499 }), false)
  t.equal(needs(NO_TLS), false)
})

const answered = (status: number, user?: string, valid?: { fromMs: number; untilMs: number }): ServingAnswer =>
  ({ kind: 'answered', status, user, valid }) as const
const fold = (answer: ServingAnswer, at = 10, serving?: ServingSeen) => SERVING.fold(answer, momentOf(at, { serving }, undefined)).serving
const CLOSED = { kind: 'no-tls', detail: 'refused' } as const
const SILENT = { kind: 'no-tls', detail: 'no answer', isSilent: true } as const
const UNAPPROVED = { kind: 'no-certificate', detail: 'tls alert' } as const

t.test('what is kept of an answer', async (t) => {
  const times = { sinceUs: s(10), lastUs: s(10), serverUpSinceUs: undefined, isOutdated: false }
  t.strictSame(fold(answered(403, NODE)), { status: 403, user: NODE, detail: 'HTTP 403', noCertificate: false, ...times })
  const none = { status: undefined, user: undefined }
  t.strictSame(fold(CLOSED), { ...none, detail: 'refused', noCertificate: false, ...times })
  t.strictSame(fold(SILENT), { ...none, detail: 'no answer', noCertificate: false, isSilent: true, ...times })
  t.strictSame(fold(UNAPPROVED), { ...none, detail: 'tls alert', noCertificate: true, ...times })
  t.strictSame(fold({ ...CLOSED, isSilent: false }), { ...none, detail: 'refused', noCertificate: false, ...times })
  t.equal(fold({ ...CLOSED, detail: 'x'.repeat(201) })?.detail.length, 200)
  t.equal(fold({ ...UNAPPROVED, detail: 'x'.repeat(201) })?.detail.length, 200)
})

t.test('the time of an answer goes on while it is the same', async (t) => {
  const each: readonly ServingAnswer[] = [answered(403, NODE), answered(403, ANONYMOUS), answered(401), CLOSED, SILENT, UNAPPROVED]
  for (const before of each) {
    for (const after of each) {
      const seen = { ...fold(before), serverUpSinceUs: s(5) } as ServingSeen
      const sinceUs = before === after ? s(10) : s(20)
      const serverUpSinceUs = before === after ? s(5) : undefined
      t.match(fold(after, 20, seen), { sinceUs, serverUpSinceUs, lastUs: s(20) }, `${JSON.stringify(before)}, ${JSON.stringify(after)}`)
    }
  }
  const ofEarlierAgent: ServingSeen = { status: 401, detail: 'HTTP 401', sinceUs: s(10), lastUs: s(10) }
  t.match(fold(answered(401), 20, ofEarlierAgent), { sinceUs: s(10) })
})

t.test('a certificate is valid from its first moment until before its last', async (t) => {
  const isOutdated = (fromMs: number, untilMs: number) => fold(answered(401, undefined, { fromMs, untilMs }), 10)?.isOutdated
  t.equal(isOutdated(10_000, 10_001), false)
  t.equal(isOutdated(10_001, 10_002), true)
  t.equal(isOutdated(9000, 10_000), true)
})

t.test('a port that cannot be asked, or that another process has', async (t) => {
  const before = fold(answered(401))
  const moment = momentOf(20, { serving: before, servingTaken: 'uid 7 has it' }, undefined)
  const nothing = { kind: 'not-asked', detail: 'no certificate' } as const
  t.strictSame(SERVING.fold(nothing, moment), { servingTaken: undefined, serving: before })
  t.strictSame(SERVING.fold({ ...nothing, isStrangers: true }, moment), { servingTaken: 'no certificate', serving: before })
  t.strictSame(SERVING.fold(CLOSED, moment).servingTaken, undefined)
})

t.test('since when the API server answers each request', async (t) => {
  const SINCE = { ...SEEN, serverUpSinceUs: undefined }
  t.equal(noteServer(undefined, s(110), true), undefined)
  t.match(noteServer(SINCE, s(110), true), { serverUpSinceUs: s(110) })
  t.equal(noteServer(SINCE, s(100), true), SINCE, 'not before the answer of the port')
  t.equal(noteServer(SINCE, s(110), false), SINCE)
  t.equal(noteServer(SEEN, s(130), true), SEEN, 'its first answer counts')
  t.strictSame(noteServer(SEEN, s(130), false), SINCE)
})

t.test('what a baseline keeps of the port', async (t) => {
  const take = (answer: Parameters<typeof SERVING.take>[0], healthySeconds = 2) =>
    SERVING.take(answer, momentOf(10, {}, undefined, { healthyUs: s(healthySeconds) }))
  t.strictSame(take(answered(403, NODE)), { serving: { status: 403, user: NODE } })
  t.strictSame(take(CLOSED), { serving: {} })
  t.strictSame(take(CLOSED, 1.9), { serving: { isEarly: true } })
  t.strictSame(take(answered(401), 0), { serving: { status: 401, user: undefined } })
  t.strictSame(take(SILENT), { serving: { isSilent: true } })
  t.strictSame(take(UNAPPROVED), { serving: {} })
  t.strictSame(take({ kind: 'not-asked', detail: '' }), {})
  const early = (answer: ServingAnswer, healthySeconds: number) =>
    SERVING.isTooEarly(answer, momentOf(10, {}, undefined, { healthyUs: s(healthySeconds) }))
  t.equal(early(CLOSED, 1.9), true)
  t.equal(early(CLOSED, 2), false)
  t.equal(early(UNAPPROVED, 0), false)
  for (const waits of [SILENT, answered(500), answered(503)]) t.equal(early(waits, 900), true, 'kubelet does not reach the API server')
  t.equal(early(answered(404), 0), false)
  t.equal(SERVING.isAnswered({ serving: {} }), true)
  t.equal(SERVING.isAnswered({}), false)
})

t.test('which of two baselines counts', async (t) => {
  const join = (earlier: Baseline['serving'], later: Baseline['serving'], isPromoted: boolean) =>
    SERVING.join({ serving: earlier }, { serving: later }, isPromoted).serving
  t.same(join({ status: 403 }, { status: 200 }, false), { status: 403 })
  t.same(join({ status: 401 }, { status: 200 }, true), { status: 200 })
  t.same(join({ status: 401 }, { status: 500 }, true), { status: 401 })
  t.same(join({ status: 401 }, { status: 500 }, false), { status: 500 })
  t.same(join({ status: 403, user: ANONYMOUS }, { status: 403, user: NODE }, true), { status: 403, user: NODE })
  t.strictSame(SERVING.carry({ serving: { status: 401 } }), { serving: { status: 401 } })
})

// SPDX-License-Identifier: Apache-2.0
/** Whose report the condition Ready is, and for how long a Node may not be Ready. */
import t from 'tap'
import type { NoAnswer } from '../../src/evidence/kind.ts'
import type { Baseline, EvidenceView, ProcessEvidence } from '../../src/evidence/kinds.ts'
import { isUnknownAtTimes, type NodeAnswer, READY } from '../../src/evidence/ready.ts'
import { POLICY } from '../decision/snapshots.ts'
import { BASELINE, momentOf, NO, s, viewOf } from './views.ts'

/** By the server's clock, when it is so many seconds after the start of the process. */
const serverMs = (seconds: number) => 1000 * (seconds + 5_000_000)

type NodeSeen = NonNullable<ProcessEvidence['node']>
type Seen = Partial<Pick<ProcessEvidence, 'node' | 'lease' | 'runtime' | 'serving' | 'writtenAtUs'>>

const READY_BEFORE: Baseline = { ...BASELINE, ready: 'True' }
const NODE: NodeSeen = { ready: 'True', message: 'well', readySinceUs: s(100), lastUs: s(100), newPressure: [], problem: '' }
const LEASE = { resourceVersion: '1', durationSeconds: 40, renewals: 1, lastUs: s(300), problem: '' }

const viewWith = (seen: Seen, facts: Partial<EvidenceView> = {}) => viewOf(seen, { baseline: READY_BEFORE, ...facts })
const judge = (seen: Seen, facts: Partial<EvidenceView> = {}) => READY.judge(viewWith(seen, facts))
const without = (facts: Partial<Baseline>) => ({ baseline: { ...READY_BEFORE, ready: undefined, ...facts } })

t.test('what the condition says', async (t) => {
  t.match(judge({}), { answer: 'unknown', detail: 'not read yet' })
  t.match(judge({ node: { ...NODE, problem: 'no route' } }), { answer: 'unknown', detail: 'no route' })
  t.match(judge({ node: NODE }), { answer: 'unknown', detail: 'kubelet has not reported since its start' })
  t.match(judge({ node: { ...NODE, provenAtUs: s(7) } }), { answer: 'yes', detail: 'the Node is Ready', sinceUs: s(7) })
  t.match(judge({ node: { ...NODE, ready: 'absent' } }), { answer: 'unknown', detail: 'the Node has no condition Ready' })
  const wasUnknown = { ...NODE, provenAtUs: s(7), lastUs: s(300), unknownUs: s(290) }
  t.match(judge({ node: wasUnknown, lease: { ...LEASE, slowUs: s(280) } }), {
    answer: 'unknown',
    isDoubtful: true,
    detail: 'the Node was Unknown shortly before, since kubelet renews its Lease too seldom',
  })
})

t.test('a Node that is not Ready has 5 minutes, or half of the trial, and at the end of the trial a minute', async (t) => {
  const after = (seconds: number, facts: Partial<EvidenceView> = {}) =>
    judge({ node: { ...NODE, ready: 'False', message: 'a plugin failed', lastUs: s(100 + seconds) } }, facts)
  const FAILS = { answer: NO, detail: 'the Node is not Ready: a plugin failed', sinceUs: s(100), mayBeNodes: undefined }
  const EARLY = { answer: 'unknown', isDoubtful: true, detail: 'the Node is not Ready: a plugin failed', sinceUs: s(100) }
  const trial = (seconds: number) => ({ policy: { ...POLICY, trialUs: s(seconds) } })
  t.match(after(300), FAILS)
  t.match(after(299.9), EARLY)
  t.match(after(300, trial(6000)), FAILS)
  t.match(after(299.9, trial(6000)), EARLY)
  t.match(after(200, trial(400)), FAILS)
  t.match(after(199.9, trial(400)), EARLY)
  t.match(after(60, trial(10)), FAILS, 'at least a minute')
  t.match(after(59.9, trial(10)), EARLY)
  t.match(after(60, { isAtEnd: true }), FAILS)
  t.match(after(59.9, { isAtEnd: true }), EARLY)
  const patient = { isAtEnd: true, policy: { ...POLICY, toleranceUs: s(90) } }
  t.match(after(90, patient), FAILS)
  t.match(after(89.9, patient), EARLY)
})

t.test('a Node that was not Ready before', async (t) => {
  const node = { ...NODE, ready: 'False', message: 'x', lastUs: s(900), transitionMs: 1000 }
  const WAS = { answer: 'unknown', detail: 'the Node is not Ready: x; it was not Ready before', isDoubtful: undefined }
  const UNCOMPARED = { answer: 'unknown', isUncompared: true, detail: 'the Node is not Ready: x; how that was before is not known' }
  t.match(judge({ node }, without({ ready: 'False', ofPromoted: true })), WAS)
  t.match(judge({ node }, without({ ready: 'False' })), UNCOMPARED, 'a config on trial may have done that')
  t.match(judge({ node }, without({ ofPromoted: true })), UNCOMPARED, 'nobody asked')
  t.match(judge({ node }, without({ ready: 'Unknown', ofPromoted: true })), UNCOMPARED, 'it may have been Ready before that')
  t.match(judge({ node }, { baseline: undefined }), UNCOMPARED)
  t.match(judge({ node }, { baseline: undefined, notReadyByMs: 1001 }), WAS, 'since before any config came that was not promoted')
  t.match(judge({ node }, { baseline: undefined, notReadyByMs: 1000 }), UNCOMPARED)
  t.match(judge({ node: { ...node, transitionMs: undefined } }, { baseline: undefined, notReadyByMs: 1001 }), UNCOMPARED)
})

t.test('kubelet names the network or the runtime', async (t) => {
  const RUNTIME = { endpoint: '/run/a.sock', answers: true, sinceUs: s(100), lastUs: s(900), detail: '', hasAnswered: true }
  const of = (message: string, runtime: Seen['runtime'], lastUs = s(900), facts: Partial<Baseline> = {}) =>
    judge(
      { node: { ...NODE, ready: 'False', message, lastUs }, runtime },
      { baseline: { ...READY_BEFORE, endpoint: '/run/a.sock', ...facts } },
    )
  for (const message of ['Network plugin', 'cni config uninitialized', 'container runtime is down', 'PLEG is not healthy'])
    t.match(of(message, RUNTIME), { answer: NO, mayBeNodes: true, sinceUs: s(100) }, message)
  for (const message of ['a succni', 'plegs']) t.match(of(message, RUNTIME), { answer: NO, mayBeNodes: undefined }, message)
  t.match(of('PLEG', { ...RUNTIME, answers: false }), {
    answer: 'unknown',
    detail: /the container runtime does not answer$/,
    isDoubtful: undefined,
  })
  t.match(of('PLEG', undefined), { answer: 'unknown', detail: /the container runtime does not answer$/ }, 'it was not asked yet')
  t.match(of('PLEG', { ...RUNTIME, endpoint: '/b' }), { answer: NO, mayBeNodes: undefined }, 'the config has moved it')
  const back = { ...RUNTIME, wasSilent: true, sinceUs: s(850) }
  t.match(of('PLEG', back, s(909.9)), { answer: 'unknown', isDoubtful: true, detail: /has not answered for long$/, sinceUs: s(100) })
  t.match(of('PLEG', back, s(910)), { answer: NO, mayBeNodes: true }, 'a minute after it was back')
  t.match(of('PLEG', { ...RUNTIME, sinceUs: s(850) }, s(900)), { answer: NO, mayBeNodes: true }, 'it was never away')
})

/** Unknown since 100, and its Lease was renewed at 100 last; both were read at 300. */
const UNKNOWN: NodeSeen = { ...NODE, ready: 'Unknown', lastUs: s(300) }
const SLOW = { ...LEASE, renewedUs: s(200) }

t.test('a Node is Unknown since kubelet renews its Lease too seldom, or does not renew it', async (t) => {
  const detail = 'Ready is Unknown: kubelet does not report'
  const of = (node: Partial<NodeSeen>, lease: Seen['lease'], facts: Partial<EvidenceView> & { writtenAt?: number } = {}) => {
    const { writtenAt = 240, ...rest } = facts
    return judge({ node: { ...UNKNOWN, ...node }, lease, writtenAtUs: s(writtenAt) }, rest)
  }
  const FAILS = { answer: NO, detail: `${detail}, while the agent could write to the API server` }
  const DOUBT = { answer: 'unknown', isDoubtful: true, isUncompared: undefined, detail, sinceUs: s(100) }
  const NOTHING = { answer: 'unknown', isDoubtful: undefined, detail }
  t.match(of({}, SLOW), FAILS)
  t.match(of({}, SLOW, { writtenAt: 0 }), DOUBT, 'the agent could not write')
  t.match(of({}, undefined), NOTHING, 'no Lease was read')
  t.match(of({}, { ...SLOW, problem: '404', slowUs: s(300) }), NOTHING)
  const later = { readySinceUs: s(301), lastUs: s(900) }
  t.match(of(later, { ...SLOW, renewedUs: s(290) }), { ...DOUBT, sinceUs: s(301) }, 'the next look at the Lease tells')
  t.match(of({}, { ...SLOW, renewedUs: undefined }), NOTHING, 'it does not say when it was renewed')
  t.match(of({ readySinceUs: s(300.1), lastUs: s(900) }, SLOW), { ...DOUBT, sinceUs: s(300.1) }, 'the next look at the Lease tells')
  t.match(of({ readySinceUs: s(300), lastUs: s(300) }, { ...SLOW, renewedUs: s(299) }), NOTHING)
  t.match(of({ readySinceUs: s(260), lastUs: s(300) }, SLOW), FAILS, 'at two looks, 40 s apart')
  t.match(of({ readySinceUs: s(261), lastUs: s(302) }, SLOW), { ...DOUBT, sinceUs: s(261) }, 'so is the Lease')
  t.match(of({ readySinceUs: s(260), lastUs: s(299.9) }, SLOW), { ...DOUBT, sinceUs: s(260) })
  t.match(of({}, { ...SLOW, renewedUs: s(290) }), NOTHING, 'the Lease is renewed in time')
  t.match(of({ unknownUs: s(300) }, { ...SLOW, renewedUs: s(290), slowUs: s(150) }), DOUBT, 'and was not lately')
  t.match(of({ unknownUs: s(300) }, { ...SLOW, renewedUs: s(290), slowUs: s(149.9) }), NOTHING)
  t.match(of({}, SLOW, without({ ready: 'Unknown', ofPromoted: true })), { ...NOTHING, detail: `${detail}; it was not Ready before` })
  t.match(of({}, SLOW, { baseline: undefined }), { isUncompared: true })
  t.match(of({}, SLOW, without({})), { isUncompared: true, detail: `${detail}; how that was before is not known` })
  const byTime = { ...without({}), notReadyByMs: 2000 }
  t.match(of({ transitionMs: 1000 }, SLOW, byTime), { isUncompared: true }, 'that time is by another clock')
})

t.test('a Node that was Unknown may be so again soon, where its Lease is renewed too seldom', async (t) => {
  const again = (node: Partial<NodeSeen> | undefined, slowUs: number | undefined) =>
    isUnknownAtTimes({ node: node && { ...NODE, ...node }, lease: { ...LEASE, slowUs } })
  t.equal(again(undefined, 0), false)
  t.equal(again({ ready: 'Unknown' }, undefined), true)
  t.equal(again({ lastUs: s(900) }, s(900)), false, 'it was not')
  t.equal(again({ lastUs: s(449.9), unknownUs: s(300) }, s(300)), true)
  t.equal(again({ lastUs: s(450), unknownUs: s(300) }, s(300)), false, 'not lately')
  t.equal(again({ lastUs: s(310), unknownUs: s(300) }, s(150)), true)
  t.equal(again({ lastUs: s(310), unknownUs: s(300) }, s(149.9)), false, 'the Lease was slow long before')
  t.equal(again({ lastUs: s(310), unknownUs: s(300) }, undefined), false, 'it never was')
  t.equal(isUnknownAtTimes({ node: { ...NODE, lastUs: s(310), unknownUs: s(300) }, lease: undefined }), false)
})

t.test('how often the Node is read', async (t) => {
  const PROVEN = { ...NODE, provenAtUs: s(7) }
  const gap = (seen: Seen, trialSeconds = 600) => READY.gapUs(viewWith(seen, { policy: { ...POLICY, trialUs: s(trialSeconds) } }))
  t.equal(gap({ node: PROVEN }), s(300))
  t.equal(gap({ node: { ...PROVEN, ready: 'False' } }), s(30))
  t.equal(gap({ node: { ...PROVEN, ready: 'Unknown' } }), s(40))
  t.equal(gap({ node: { ...PROVEN, ready: 'Unknown' } }, 100), s(25))
  const serving = { status: 401, detail: '', sinceUs: 0, lastUs: 0 }
  t.equal(gap({ node: PROVEN, serving }), s(30), 'only an answer of the API server tells whose fault that is')
  t.equal(gap({ node: PROVEN, serving }, 100), s(10))
  t.equal(gap({ node: PROVEN, serving: { ...serving, status: 403 } }), s(300))
  t.equal(gap({ node: PROVEN, serving: { ...serving, status: 404 } }), s(300), 'that is the fault of the port')
  const anonymous = { ...serving, status: 403, user: 'system:anonymous' }
  const asBefore = { ...READY_BEFORE, serving: anonymous, ofPromoted: true as const }
  t.equal(READY.gapUs(viewWith({ node: PROVEN, serving: anonymous }, { baseline: asBefore })), s(300), 'as before')
  const baseline = { ...READY_BEFORE, serving: { status: 403, user: 'system:node:node-1' } }
  t.equal(READY.gapUs(viewWith({ node: PROVEN, serving: anonymous }, { baseline })), s(30))
})

const ANSWER: NodeAnswer = { kind: 'found', ready: 'True', message: 'well', reportedAtMs: undefined, serverMs: undefined, pressure: [] }

const foldAny = (answer: NodeAnswer | NoAnswer, at = 100, before?: NodeSeen, baseline?: Partial<Baseline>) =>
  READY.fold(answer, momentOf(at, { node: before }, baseline && { ...READY_BEFORE, ...baseline })).node
const fold = (answer: Partial<NodeAnswer>, at?: number, before?: NodeSeen, baseline?: Partial<Baseline>) =>
  foldAny({ ...ANSWER, ...answer }, at, before, baseline)

t.test('a report is of this process', async (t) => {
  const isReported = (answer: Partial<NodeAnswer>, before?: Partial<NodeSeen>, baseline?: Partial<Baseline>) =>
    fold(answer, 100, before && { ...NODE, ...before }, baseline)?.reportedAtUs !== undefined
  const at = (reported: number) => ({ reportedAtMs: serverMs(reported), serverMs: serverMs(100) })
  t.equal(isReported(at(-1)), true, 'both times have whole seconds')
  t.equal(isReported(at(-1.1)), false)
  const startedAt = (started: number) =>
    READY.fold({ ...ANSWER, ...at(60) }, momentOf(100, { sinceUs: s(started) }, undefined)).node?.reportedAtUs !== undefined
  t.equal(startedAt(61), true)
  t.equal(startedAt(62), false, 'the process before reported that')
  t.equal(isReported(at(5), undefined, { reportedAtMs: serverMs(4) }), true)
  t.equal(isReported(at(5), undefined, { reportedAtMs: serverMs(5) }), false, 'the baseline has that report')
  t.equal(isReported({ serverMs: serverMs(100) }), false, 'the Node does not say when')
  const unclocked = (reported: number) => ({ reportedAtMs: serverMs(reported) })
  t.equal(isReported(unclocked(50)), false, 'a server without a clock')
  t.equal(isReported(unclocked(50), undefined, { reportedAtMs: serverMs(49) }), true)
  t.equal(isReported(unclocked(50), undefined, { reportedAtMs: serverMs(50) }), false)
  t.equal(isReported(unclocked(50), { firstReportedAtMs: serverMs(49) }), true)
  t.equal(isReported(unclocked(50), { firstReportedAtMs: serverMs(50) }), false)
  t.equal(isReported({ heartbeat: 'b' }, { firstHeartbeat: 'a' }), true, 'another heartbeat than at first')
  t.equal(isReported({ heartbeat: 'a' }, { firstHeartbeat: 'a' }), false)
  t.equal(isReported({ heartbeat: 'a' }, {}), false)
  t.equal(isReported({}, { firstHeartbeat: 'a' }), false)
})

t.test('what is kept of an answer', async (t) => {
  const report = { reportedAtMs: serverMs(50), serverMs: serverMs(100), heartbeat: 'a', transitionMs: 4 }
  const first = fold(report)
  t.match(first, {
    ready: 'True',
    message: 'well',
    readySinceUs: s(100),
    lastUs: s(100),
    firstReportedAtMs: serverMs(50),
    firstHeartbeat: 'a',
    transitionMs: 4,
    unknownUs: undefined,
    reportedAtUs: s(100),
    provenAtUs: s(100),
    newPressure: [],
    problem: '',
  })
  const later = fold({ ...report, reportedAtMs: serverMs(60), heartbeat: 'b', transitionMs: 5 }, 110, first)
  const kept = { readySinceUs: s(100), firstReportedAtMs: serverMs(50), firstHeartbeat: 'a', reportedAtUs: s(100), provenAtUs: s(100) }
  t.match(later, { ...kept, lastUs: s(110), transitionMs: 5 })
  const lost = fold({ ...report, ready: 'False' }, 120, later)
  t.match(lost, { ready: 'False', readySinceUs: s(120), provenAtUs: s(100) })
  const unknown = fold({ ...report, ready: 'Unknown' }, 130, lost)
  t.match(unknown, { readySinceUs: s(130), unknownUs: s(130) })
  t.match(fold(report, 140, unknown), { ready: 'True', unknownUs: s(130) })
  t.match(fold({ ...report, ready: 'False' }), { reportedAtUs: s(100), provenAtUs: undefined }, 'a report that it is not Ready')
  t.match(fold({}), { reportedAtUs: undefined, provenAtUs: undefined }, 'of another process')
  t.equal(fold({ message: 'x'.repeat(501) })?.message.length, 500)
})

t.test('an answer without a Node keeps what was seen, and one that was not asked changes nothing', async (t) => {
  const NOT_FOUND = { kind: 'refused', detail: '404' } as const
  t.strictSame(foldAny(NOT_FOUND), { ready: 'absent', message: '', readySinceUs: s(100), newPressure: [], lastUs: s(100), problem: '404' })
  t.strictSame(foldAny(NOT_FOUND, 150, NODE), { ...NODE, lastUs: s(150), problem: '404' })
  t.equal(foldAny({ kind: 'not-asked', detail: '' }, 150, NODE), NODE)
})

t.test('pressure is of the restart, where this process reports it before its start deadline is over', async (t) => {
  const report = (at: number, ...pressure: readonly string[]) => ({ reportedAtMs: serverMs(at), serverMs: serverMs(at), pressure })
  const WELL = { pressure: [] }
  const at = (seconds: number, before?: NodeSeen, baseline: Partial<Baseline> = WELL) =>
    fold(report(seconds, 'DiskPressure'), seconds, before, baseline)?.newPressure
  t.strictSame(at(120), ['DiskPressure'])
  t.strictSame(at(120.1), [], 'later it is the node')
  t.strictSame(at(100, undefined, { pressure: ['DiskPressure'] }), [], 'it was there before')
  t.strictSame(at(100, undefined, {}), [], 'how it was before is not known')
  t.strictSame(fold(report(100, 'DiskPressure'))?.newPressure, [], 'there is no baseline')
  const young = momentOf(130, { sinceUs: s(20) }, WELL)
  t.strictSame(READY.fold({ ...ANSWER, ...report(130, 'DiskPressure') }, young).node?.newPressure, ['DiskPressure'], 'since its start')
  const known = { ...NODE, newPressure: ['MemoryPressure'] }
  t.strictSame(at(100, known), ['MemoryPressure', 'DiskPressure'])
  t.strictSame(at(100, { ...NODE, newPressure: ['DiskPressure'] }), ['DiskPressure'], 'each once')
  t.strictSame(at(200, known), ['MemoryPressure'])
  t.strictSame(fold({ pressure: ['DiskPressure'] }, 100, known, WELL)?.newPressure, ['MemoryPressure'], 'another process reported it')
  t.strictSame(fold({ pressure: ['DiskPressure'] }, 100, undefined, WELL)?.newPressure, [])
})

t.test('what a baseline keeps of the Node', async (t) => {
  const take = (answer: Partial<NodeAnswer>, healthySeconds: number) =>
    READY.take(
      { ...ANSWER, reportedAtMs: 7, pressure: ['DiskPressure'], ...answer },
      momentOf(0, {}, undefined, { healthyUs: s(healthySeconds) }),
    )
  t.strictSame(take({}, 0), { ready: 'True', reportedAtMs: 7, pressure: ['DiskPressure'] })
  t.strictSame(take({ ready: 'False' }, 300), { ready: 'False', reportedAtMs: 7, pressure: ['DiskPressure'] })
  t.match(take({ ready: 'False' }, 299.9), { ready: undefined, reportedAtMs: 7 }, 'each process begins so')
  t.strictSame(READY.take({ kind: 'refused', detail: '404' }, momentOf(0, {}, undefined)), {})
})

t.test('which of two baselines counts', async (t) => {
  const join = (earlier: string, later: string, isPromoted: boolean) => READY.join({ ready: earlier }, { ready: later }, isPromoted).ready
  t.equal(join('True', 'False', false), 'True')
  t.equal(join('False', 'True', false), 'True')
  t.equal(join('False', 'Unknown', true), 'False')
  t.equal(join('False', 'Unknown', false), 'Unknown')
  t.strictSame(
    READY.carry({ ready: 'True', pressure: ['DiskPressure'], reportedAtMs: 7 }),
    { ready: 'True' },
    'no pressure is brought back',
  )
})

t.test('a report shows that kubelet has reached the API server, whatever it says', async (t) => {
  const contact = (node: Partial<NodeSeen> | undefined) => READY.contact({ node: node && { ...NODE, ...node } })
  t.same(contact(undefined), { isAsked: false, isKnowable: false, isMade: false })
  t.same(contact({}), { isAsked: true, isKnowable: false, isMade: false })
  t.same(contact({ firstReportedAtMs: 1 }), { isAsked: true, isKnowable: true, isMade: false })
  t.same(contact({ firstReportedAtMs: 1, reportedAtUs: 1 }), { isAsked: true, isKnowable: true, isMade: true })
})

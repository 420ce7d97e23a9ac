// SPDX-License-Identifier: Apache-2.0
/** What is asked before a restart, and for how long the restart waits for it. */
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { ALL_REQUIRED, type Baseline, type EvidencePolicy, type Question, type UnreadQuestion } from '../../src/evidence/kinds.ts'
import {
  awaitsBaseline,
  dueEvidence,
  findCandidateOfBaseline,
  isBaselineAbandoned,
  isBaselineEarly,
  isBaselineOld,
} from '../../src/evidence/schedule.ts'
import {
  A,
  B,
  BOOT,
  C,
  health,
  INVOCATION,
  judged,
  keyOf,
  NOW_US,
  POLICY,
  READY_FOR_B,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  verdict,
} from '../decision/snapshots.ts'

const ANSWERED: readonly Question[] = ['node', 'pods', 'runtime', 'serving', 'static-pods']
const COMPLETE: Baseline = { candidate: keyOf(B), invocationId: INVOCATION, sinceUs: NOW_US, answered: ANSWERED }
const ABOUT_TO_RESTART = { ...READY_FOR_B, ...startsWith(B), ...runs(A) }

const at = (seconds: number) => NOW_US + seconds * SECOND_US
const requiring = (evidence: Partial<EvidencePolicy>) => ({ policy: { ...POLICY, evidence: { ...ALL_REQUIRED, ...evidence } } })

/**
 * A runs, and kubelet is about to be restarted into B. The baseline was begun so many seconds ago.
 */
function waiting(seconds: number, baseline: Partial<Baseline> = {}, facts: Partial<Snapshot> = {}): Snapshot {
  const now = { bootId: BOOT, monotonicUs: at(seconds), wallMs: 0 }
  return snapshot({ ...ABOUT_TO_RESTART, now, evidence: { bootId: BOOT, baseline: { ...COMPLETE, ...baseline } }, ...facts })
}

const unread = (question: Question, kind: UnreadQuestion['kind'], atSeconds = 0, busy?: boolean): Pick<Baseline, 'unread'> => ({
  unread: [{ question, kind, detail: '', atUs: at(atSeconds), ...(busy !== undefined && { busy }) }],
})
const without = (question: Question) => ({ answered: ANSWERED.filter((each) => each !== question) })
const DOWN = unread('node', 'unreachable')
const BUSY = unread('node', 'unreachable', 0, true)

/** @param sinceUs undefined: it is not healthy */
function healthySince(sinceUs: number | undefined): Pick<Snapshot, 'health'> {
  const process = { key: keyOf(A), invocationId: INVOCATION, startedAtUs: 0, wasHealthy: true, unhealthySinceUs: undefined, exits: 0 }
  return { health: health(A, { process: { ...process, healthySinceUs: sinceUs } }) }
}
const IS_HEALTHY = healthySince(0)

const waits = (seconds: number, baseline: Partial<Baseline>, facts: Partial<Snapshot> = {}) =>
  awaitsBaseline(waiting(seconds, baseline, facts), keyOf(B))

t.test('a baseline is taken before another config takes the place of a kubelet that runs', async (t) => {
  const cases: readonly (readonly [string, string | undefined, Partial<Snapshot>])[] = [
    ['A runs, and B is activated', keyOf(B), {}],
    ['B is not activated yet', undefined, startsWith(A)],
    ['B runs', undefined, runs(B)],
    ['systemd does not answer', undefined, { unit: { kind: 'unknown', detail: '' } }],
    ['kubelet is down', undefined, runsNothing('auto-restart')],
    ['kubelet is being stopped', undefined, runs(A, { unit: { activity: 'stopping' } })],
    ['nobody knows what runs', undefined, { running: { kind: 'unknown', detail: '' } }],
    ['nobody knows what is activated', undefined, { nextStart: { kind: 'unknown', detail: '' } }],
    ['nobody knows what is wanted', undefined, { assigned: { kind: 'damaged', detail: '' }, nextStart: { kind: 'unknown', detail: '' } }],
    [
      'B has failed as all others have',
      undefined,
      judged(verdict(A, 'provisional'), verdict(B, 'provisional'), verdict('local', 'confirmed')),
    ],
  ]
  for (const [what, expected, facts] of cases) t.equal(findCandidateOfBaseline(waiting(0, {}, facts)), expected, what)
})

t.test('a restart waits 5 seconds for what its baseline lacks', async (t) => {
  t.equal(waits(0, {}), false, 'it lacks nothing')
  t.equal(waits(4.9, { answered: [] }), true)
  t.equal(waits(5, { answered: [] }), false)
  t.equal(waits(14.9, { answered: [], awaitedSinceUs: at(10) }), true, 'since it began to wait')
  t.equal(waits(15, { answered: [], awaitedSinceUs: at(10) }), false)
  for (const question of ANSWERED) t.equal(waits(1, without(question)), true, question)
  t.equal(waits(1, DOWN), true, 'the API server did not answer')
  t.equal(waits(5, DOWN), false)
  for (const kind of ['refused', 'forbidden', 'not-asked'] as const) t.equal(waits(1, unread('node', kind)), false, `${kind} is an answer`)
  t.equal(waits(1, unread('lease', 'unreachable')), false, 'a Lease is compared with nothing')
  t.equal(waits(1, { answered: [], candidate: keyOf(C) }), false, 'it is for another config')
  t.equal(waits(1, { answered: [], invocationId: 'another' }), false, 'it is of another process')
  t.equal(waits(1, { answered: [] }, { running: { kind: 'none' } }), false, 'nothing runs that could be asked about')
  t.equal(waits(1, {}, { evidence: undefined }), false, 'nobody has begun one')
  t.equal(waits(1, {}, { evidence: undefined, running: { kind: 'none' } }), false)
})

t.test('only what the settings ask for is waited for', async (t) => {
  const waitsFor = (baseline: Partial<Baseline>, evidence: Partial<EvidencePolicy>) => waits(1, baseline, requiring(evidence))
  t.equal(waitsFor(without('serving'), { serving: 'off' }), false)
  t.equal(waitsFor(without('serving'), { serving: 'watched' }), true)
  t.equal(waitsFor(without('runtime'), { runtime: 'off' }), true, 'its answer tells how to read that of the Node')
  t.equal(waitsFor(without('runtime'), { runtime: 'off', ready: 'off' }), false)
  t.equal(waitsFor(without('node'), { ready: 'off' }), true, 'the Node has the pressure that evicts pods')
  t.equal(waitsFor(without('node'), { ready: 'off', pods: 'off' }), false)
  t.equal(waitsFor(without('static-pods'), { 'static-pods': 'off' }), true, 'its answer tells which pods ran')
  t.equal(waitsFor(without('static-pods'), { 'static-pods': 'off', pods: 'off' }), false)
  t.equal(waitsFor(DOWN, { ready: 'off', pods: 'off' }), false, 'nor what was asked before they were changed')
})

t.test('a restart of a healthy kubelet waits a minute for a busy API server', async (t) => {
  t.equal(waits(59.9, BUSY, IS_HEALTHY), true)
  t.equal(waits(60, BUSY, IS_HEALTHY), false)
  const other = { question: 'pods', kind: 'unreachable', detail: '', atUs: at(0) } as const
  t.equal(waits(59.9, { unread: [other, ...(BUSY.unread ?? [])] }, IS_HEALTHY), true, 'also where another question had no answer')
  t.equal(waits(5, unread('node', 'unreachable', 0, false), IS_HEALTHY), false, 'it did not say that it will answer later')
  const ill = healthySince(undefined)
  t.equal(waits(4.9, BUSY, ill), true)
  t.equal(waits(5, BUSY, ill), false, 'a kubelet that is not healthy is not kept for that')
  t.equal(waits(5, BUSY, {}), false, 'nor is one of whose health nothing is known')
})

t.test('the API server is asked again after a second, and a busy one after as long as it was waited for', async (t) => {
  const asks = (seconds: number, baseline: Partial<Baseline>) => dueEvidence(waiting(seconds, baseline, IS_HEALTHY), keyOf(B))
  const NODE = { questions: ['node'], write: false }
  const NONE = { questions: [], write: false }
  t.same(asks(2.9, unread('node', 'unreachable', 2)), NONE)
  t.same(asks(3, unread('node', 'unreachable', 2)), NODE)
  t.same(asks(5, unread('node', 'unreachable', 2)), NONE, 'the restart does not wait any more')
  t.same(asks(19.9, unread('node', 'unreachable', 10, true)), NONE)
  t.same(asks(20, unread('node', 'unreachable', 10, true)), NODE)
  t.same(asks(1, unread('node', 'unreachable', 0.2, true)), NONE, 'at least a second')
  t.same(asks(1.2, unread('node', 'unreachable', 0.2, true)), NODE)
  t.same(asks(60, unread('node', 'unreachable', 10, true)), NONE)
  const again = { ...unread('node', 'unreachable', 110, true), awaitedSinceUs: at(100) }
  t.same(asks(119, again), NONE, 'a restart that waits anew begins with short pauses')
  t.same(asks(120, again), NODE)
  const ofEarlierAgent = { unread: [{ question: 'node', kind: 'unreachable', detail: '' }] } as const
  t.same(asks(0, ofEarlierAgent), NODE, 'when an earlier agent asked is not known')
  t.same(asks(0, { unread: [{ ...ofEarlierAgent.unread[0], busy: true }] }), NODE)
  t.same(
    asks(1, { ...DOWN, answered: [] }),
    { questions: ['node', 'pods', 'runtime', 'serving', 'static-pods'], write: false },
    'each once',
  )
  t.same(dueEvidence(waiting(1, {}, { evidence: undefined }), keyOf(B)), NONE, 'before the baseline is begun')
})

t.test('a container runtime whose call failed is asked again as the API server is', async (t) => {
  const failed = { question: 'static-pods', kind: 'not-asked', detail: '', atUs: at(2), hasFailed: true } as const
  const asks = (seconds: number, each: UnreadQuestion, evidence: Partial<EvidencePolicy> = {}) =>
    dueEvidence(waiting(seconds, { unread: [each] }, requiring(evidence)), keyOf(B)).questions
  t.same(asks(2.9, failed), [])
  t.same(asks(3, failed), ['static-pods'])
  t.same(asks(5, failed), [], 'the restart does not wait any more')
  t.same(asks(3, { ...failed, hasFailed: undefined }), [], 'there is nothing that could be asked')
  t.same(asks(3, failed, { 'static-pods': 'off' }), ['static-pods'], 'its answer tells which pods ran')
  t.same(asks(3, failed, { 'static-pods': 'off', pods: 'off' }), [])
  t.equal(waits(4.9, { unread: [failed] }), true)
  t.equal(waits(5, { unread: [failed] }), false)
})

t.test('a baseline that waits is taken again after 10 minutes, and for a claim after one where it lacks an object', async (t) => {
  const isOld = (seconds: number, baseline: Partial<Baseline> = {}, facts: Partial<Snapshot> = {}) =>
    isBaselineOld(waiting(seconds, baseline, facts))
  t.equal(isOld(600), false)
  t.equal(isOld(600.1), true)
  const claim = startsWith(A)
  t.equal(isOld(600, {}, claim), false)
  for (const [kind, isSoon] of [
    ['unreachable', true],
    ['refused', true],
    ['forbidden', false],
    ['not-asked', false],
  ] as const) {
    t.equal(isOld(60, unread('lease', kind), claim), false, kind)
    t.equal(isOld(60.1, unread('lease', kind), claim), isSoon, kind)
    t.equal(isOld(60.1, unread('lease', kind)), false, `${kind}, before a restart`)
  }
  const both = [...(unread('pods', 'forbidden').unread ?? []), ...(unread('lease', 'refused').unread ?? [])]
  t.equal(isOld(60.1, { unread: both }, claim), true)
  t.equal(isOld(9999, {}, { evidence: undefined }), false, 'there is none')
  t.equal(isOld(9999, {}, { evidence: { bootId: BOOT } }), false)
})

t.test('kubelet has reported 10 seconds after it became healthy', async (t) => {
  const isEarly = (seconds: number, sinceUs: number) => isBaselineEarly(waiting(seconds, { sinceUs }, healthySince(at(0))))
  t.equal(isEarly(9.9, at(0)), false, 'it would not be better yet')
  t.equal(isEarly(10, at(0)), true)
  t.equal(isEarly(11, at(9.9)), true)
  t.equal(isEarly(11, at(10)), false, 'it was taken after that')
  t.equal(isBaselineEarly(waiting(11, {}, { health: undefined })), false)
  t.equal(isBaselineEarly(waiting(11, {}, { evidence: undefined, ...IS_HEALTHY })), false)
})

t.test('a restart waits anew for answers from before its activation, and from an agent that has ended', async (t) => {
  const isAbandoned = (seconds: number, baseline: Partial<Baseline>, asksSince = -99, facts: Partial<Snapshot> = {}) =>
    isBaselineAbandoned(waiting(seconds, baseline, facts), keyOf(B), at(asksSince))
  const LACKING = { answered: [] }
  const activated = (seconds: number) => ({ health: health(B, { subjectSinceUs: at(seconds) }) })
  t.equal(isAbandoned(20, LACKING, 10), true, 'an agent that has ended began it')
  t.equal(isAbandoned(20, LACKING, 0), false)
  t.equal(isAbandoned(20, { ...LACKING, awaitedSinceUs: at(10) }, 10), false, 'this agent waits for it')
  t.equal(isAbandoned(20, {}, 10), false, 'it lacks nothing')
  t.equal(isAbandoned(20, LACKING, -99, activated(10)), true, 'before the activation')
  t.equal(isAbandoned(20, LACKING, -99, activated(0)), false)
  t.equal(isAbandoned(20, LACKING, -99, { health: health(A, { subjectSinceUs: at(10) }) }), false, 'the activation is not known')
  t.equal(isAbandoned(600, LACKING, 10), true)
  t.equal(isAbandoned(600.1, LACKING, 10), false, 'agents that end again and again hold no restart up for ever')
  t.equal(isAbandoned(610, LACKING, 10, activated(10)), true)
  t.equal(isAbandoned(610.1, LACKING, 10, activated(10)), false)
  t.equal(isAbandoned(20, { ...LACKING, invocationId: 'another' }, 10), false, 'it is of another process')
  t.equal(isAbandoned(20, LACKING, 10, { health: undefined }), true)
})

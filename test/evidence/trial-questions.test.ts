// SPDX-License-Identifier: Apache-2.0
/** When the questions of a trial are due, and what they may cost the API server. */
import t from 'tap'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import {
  ALL_REQUIRED,
  API_QUESTIONS,
  type EvidencePolicy,
  type ProcessEvidence,
  QUESTIONS,
  type Question,
} from '../../src/evidence/kinds.ts'
import { dueEvidence } from '../../src/evidence/schedule.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import {
  B,
  BOOT,
  contentOf,
  dataOf,
  HOUR_US,
  health,
  INVOCATION,
  inTrial,
  keyOf,
  NOW_US,
  POLICY,
  runs,
  SECOND_US,
} from '../decision/snapshots.ts'

const { trialUs } = POLICY
const at = (seconds: number) => NOW_US + seconds * SECOND_US
const everyQuestion = (atUs: number) => Object.fromEntries(QUESTIONS.map((question) => [question, atUs]))

/** By the evidence, a process that started an hour ago, so that each question is due. */
const PROCESS: ProcessEvidence = {
  invocationId: INVOCATION,
  key: keyOf(B),
  sinceUs: NOW_US - HOUR_US,
  requests: 0,
  requestsSinceUs: NOW_US,
  answeredUs: {},
}
const LEASE = { durationSeconds: 40, renewals: 0, lastUs: 0, problem: '' }
const NODE = { ready: 'True', message: '', readySinceUs: 0, lastUs: NOW_US, newPressure: [], problem: '' }

/** @param healthySince seconds */
function onTrial(seconds: number, process: Partial<ProcessEvidence> = {}, healthySince = seconds, facts: Partial<Snapshot> = {}): Snapshot {
  const now = { bootId: BOOT, monotonicUs: at(seconds), wallMs: 0 }
  const known = health(B, { healthySinceUs: at(healthySince), lastSampleUs: now.monotonicUs })
  return inTrial({
    ...runs(B, { startedAgoUs: 2 * HOUR_US }),
    now,
    health: known,
    evidence: { bootId: BOOT, process: { ...PROCESS, ...process } },
    ...facts,
  })
}
const listDue = (snapshot: Snapshot) => dueEvidence(snapshot, undefined).questions
const listRequests = (snapshot: Snapshot) => listDue(snapshot).filter((question) => API_QUESTIONS.includes(question))

t.test('a question is asked for the first time some seconds after the start, in a short trial sooner', async (t) => {
  const first = (question: Question, seconds: number, policy = POLICY) =>
    listDue(onTrial(seconds, { sinceUs: NOW_US }, seconds, { policy })).includes(question)
  const short = { ...POLICY, trialUs: 20 * SECOND_US, startDeadlineUs: 8 * SECOND_US, toleranceUs: 4 * SECOND_US }
  for (const [question, usual, soon] of [
    ['lease', 0, 0],
    ['runtime', 0, 0],
    ['node', 5, 2],
    ['serving', 5, 2],
    ['static-pods', 10, 2],
    ['pods', 60, 5],
  ] as const) {
    t.equal(first(question, usual), true, question)
    t.equal(first(question, usual - 0.1), false, question)
    t.equal(first(question, soon, short), true, `${question}, in a short trial`)
    t.equal(first(question, soon - 0.1, short), false, `${question}, in a short trial`)
  }
})

t.test('a trial may cost 3 requests at once, 8 over its length, and 4 for each further length', async (t) => {
  const count = (trials: number, requests: number, process: Partial<ProcessEvidence> = {}) =>
    listRequests(onTrial((trials * trialUs) / SECOND_US, { requests, ...process })).length
  t.same(
    [0, 1, 2, 3, 4].map((requests) => count(0, requests)),
    [3, 2, 1, 0, 0],
  )
  for (const [trials, granted] of [
    [1 / 8, 4],
    [1 / 2, 7],
    [1, 11],
    [1.25, 12],
    [2, 15],
    [6, 31],
  ] as const) {
    t.equal(count(trials, granted - 1), 1, `${granted} in ${trials} trials`)
    t.equal(count(trials, granted), 0, `${granted} in ${trials} trials`)
    t.equal(count(trials - 0.001, granted - 1), 0, `not sooner than in ${trials} trials`)
  }
  const wasUnknown = { node: { ...NODE, unknownUs: NOW_US - HOUR_US } }
  t.equal(count(0, 4, wasUnknown), 1, 'and 2 more for a Node that was Unknown')
  t.equal(count(0, 5, wasUnknown), 0)
  const isUnknown = { node: { ...NODE, ready: 'Unknown', unknownUs: NOW_US } }
  t.equal(count(0.999, 11, isUnknown), 1)
  t.equal(count(0.999, 12, isUnknown), 0)
  t.equal(count(1, 16, isUnknown), 1, 'the trial ends with what they show: those of the next length at once')
  t.equal(count(1, 17, isUnknown), 0)
  t.equal(count(1.999, 16, isUnknown), 1)
  t.equal(count(1.999, 17, isUnknown), 0)
  t.equal(count(2, 20, isUnknown), 1)
  t.equal(count(2, 21, isUnknown), 0)
})

t.test('where not all can be asked, the question that was answered longest ago comes first', async (t) => {
  const ask = (answeredUs: ProcessEvidence['answeredUs']) => listDue(onTrial(0, { requests: 2, answeredUs }))
  t.same(ask({ node: at(-900), lease: at(-800), pods: at(-950), runtime: at(-1), serving: at(-1), 'static-pods': at(-1) }), ['pods'])
  t.same(ask({ node: at(-900), pods: at(-950), runtime: at(-1), serving: at(-1), 'static-pods': at(-1) }), ['lease'], 'never answered')
  t.same(
    listDue(onTrial(0, { requests: 99 })),
    ['runtime', 'serving', 'static-pods'],
    'what costs the API server nothing is asked in any case',
  )
})

t.test('shortly before the end of a trial, all is asked once more', async (t) => {
  const ask = (seconds: number, answered: number, policy = POLICY) =>
    listDue(onTrial(seconds, { answeredUs: everyQuestion(at(answered)) }, 0, { policy }))
  t.same(ask(579.9, 578), [])
  t.same(ask(580, 578), QUESTIONS)
  t.same(ask(580, 579.1), [], 'not within a second')
  t.same(ask(580.1, 579.1), QUESTIONS)
  t.same(ask(582, 580), [], 'that was the last time')
  const short = { ...POLICY, trialUs: 60 * SECOND_US }
  t.same(ask(47.9, 46.8, short), [])
  t.same(ask(48, 46.8, short), QUESTIONS, 'a fifth of a short trial')
  const spent = { requests: 10, answeredUs: everyQuestion(at(570)) }
  t.equal(listRequests(onTrial(579.9, spent, 0)).length, 0)
  t.equal(listRequests(onTrial(580, spent, 0)).length, 1, 'there is something left for that')
  const readOnce = { resourceVersion: '1', sameSinceUs: at(540), ...LEASE, lastUs: at(540) }
  const overspent = { ...spent, requests: 99, answeredUs: everyQuestion(at(540)), reachableSinceUs: NOW_US }
  t.same(listRequests(onTrial(580, { ...overspent, lease: readOnce }, 0)), ['lease'], 'the Lease of which nothing is known in any case')
  t.same(listRequests(onTrial(579.9, { ...overspent, lease: readOnce }, 0)), [], 'not before')
  t.same(listRequests(onTrial(580, { ...overspent, lease: { ...readOnce, renewals: 1 } }, 0)), [], 'nor if it was renewed')
  const answeredUs = { ...everyQuestion(at(540)), lease: at(570) }
  t.same(listRequests(onTrial(584.9, { ...overspent, answeredUs, lease: readOnce }, 0)), [], 'nor if it was read a moment ago')
  t.same(listRequests(onTrial(585, { ...overspent, answeredUs, lease: readOnce }, 0)), ['lease'])
})

t.test('a kind that is off is asked for another kind, but not where that one needs it only before a restart', async (t) => {
  const ask = (evidence: Partial<EvidencePolicy>) =>
    listDue(onTrial(0, {}, 0, { policy: { ...POLICY, evidence: { ...ALL_REQUIRED, ...evidence } } }))
  const without = (question: Question) => QUESTIONS.filter((each) => each !== question)
  t.same(ask({ 'static-pods': 'off' }), without('static-pods'))
  t.same(ask({ runtime: 'off' }), QUESTIONS)
  t.same(ask({ runtime: 'off', ready: 'off' }), without('runtime'))
  t.same(ask({ ready: 'off' }), QUESTIONS)
})

t.test('while kubelet is not healthy, the end of the trial is not in sight', async (t) => {
  const facts = { health: health(B, { healthySinceUs: undefined, lastSampleUs: at(590) }) }
  t.same(listDue(onTrial(590, { answeredUs: everyQuestion(at(588)) }, 0, facts)), [])
})

t.test('what says yes is asked more seldom', async (t) => {
  const gap = (question: Question, process: Partial<ProcessEvidence>, policy = POLICY): number | undefined => {
    const answeredUs = { ...everyQuestion(at(5000)), [question]: NOW_US }
    const isDue = (seconds: number) => listDue(onTrial(seconds, { answeredUs, ...process }, seconds, { policy })).includes(question)
    const gaps = [1, 2, 3, 5, 6, 10, 20, 30, 40, 60, 75, 100, 150, 300]
    return gaps.find((seconds) => isDue(seconds) && !isDue(seconds - 0.1))
  }
  const short = { ...POLICY, trialUs: 20 * SECOND_US }
  const tiny = { ...POLICY, trialUs: 2 * SECOND_US }
  const RUNTIME = { endpoint: '/run/a.sock', answers: true, sinceUs: 0, lastUs: 0, detail: '' }
  const SERVING = { detail: '', sinceUs: 0, lastUs: 0 }
  const STATIC_PODS = { missing: [], replaced: [], excused: [], lastUs: 0, problem: '' }
  const cases: readonly (readonly [string, Question, Partial<ProcessEvidence>, number, number])[] = [
    ['a runtime that answers', 'runtime', { runtime: RUNTIME }, 60, 2],
    ['a runtime that does not', 'runtime', { runtime: { ...RUNTIME, answers: false } }, 10, 1],
    ['a runtime of which nothing is known', 'runtime', {}, 10, 1],
    ['a port that knows the node', 'serving', { serving: { ...SERVING, status: 403 } }, 60, 2],
    ['a port that does not', 'serving', { serving: { ...SERVING, status: 401 } }, 10, 1],
    ['a port of which nothing is known', 'serving', {}, 10, 1],
    ['static pods that run', 'static-pods', { staticPods: { ...STATIC_PODS, provenAtUs: 1 } }, 60, 2],
    ['static pods that do not', 'static-pods', { staticPods: STATIC_PODS }, 10, 1],
    ['static pods of which nothing is known', 'static-pods', {}, 10, 1],
    ['pods', 'pods', {}, 300, 10],
    ['a Node that is Ready', 'node', { node: { ...NODE, provenAtUs: 1 } }, 300, 10],
    ['a Node that another process reported', 'node', { node: NODE }, 30, 2],
    ['a Node that is not Ready any more', 'node', { node: { ...NODE, provenAtUs: 1, ready: 'False' } }, 30, 2],
    ['a Node of which nothing is known', 'node', {}, 30, 2],
    ['a Lease that is renewed', 'lease', { lease: { ...LEASE, lastUs: at(0), sameSinceUs: at(0), provenAtUs: 1 } }, 300, 10],
    ['a Lease of which nothing is known', 'lease', {}, 30, 5],
    ['a Lease of a long duration', 'lease', { lease: { ...LEASE, durationSeconds: 100 } }, 75, 5],
    ['a Lease of a very long duration', 'lease', { lease: { ...LEASE, durationSeconds: 600 } }, 150, 5],
  ]
  for (const [what, question, process, usual, soon] of cases) {
    t.equal(gap(question, process), usual, what)
    t.equal(gap(question, process, short), soon, `${what}, in a short trial`)
    t.equal(gap(question, process, tiny), 1, `${what}, at most each second`)
  }
})

t.test('what is not on trial is not asked, unless it owes a proof', async (t) => {
  const passed = { proven: keyOf(B) }
  t.same(listDue(onTrial(0)), QUESTIONS)
  t.same(listDue(onTrial(0, {}, 0, passed)), [])
  const hash = hashConfig(dataOf(B), 'kubelet')
  const config = 'kube-system/b'
  const contents = [{ hash, content: contentOf(B) }]
  const owes = {
    ...passed,
    stagings: [{ config, record: 'record', arrival: 'there', waves: DEFAULT_PLAN.waves, contents }],
    rollout: { config, hash, turn: { kind: 'go', detail: '', asks: 'proof' }, confirmedAtUs: undefined, progress: undefined },
  } as const
  t.same(listDue(onTrial(0, {}, 0, owes)), QUESTIONS)
  t.same(
    dueEvidence(onTrial(0, {}, 0, { evidence: undefined }), undefined),
    { questions: [], write: false },
    'nothing is known of the process',
  )
})

t.test('the agent writes for no Lease that it does not ask for', async (t) => {
  const lease = { ...LEASE, resourceVersion: '1', sameSinceUs: at(0), lastUs: at(0) }
  const writes = (facts: Partial<Snapshot> = {}) =>
    dueEvidence(onTrial(3000, { lease, reachableSinceUs: at(0) }, 0, facts), undefined).write
  t.equal(writes(), true)
  t.equal(writes({ policy: { ...POLICY, evidence: { ...ALL_REQUIRED, lease: 'watched' } } }), true)
  t.equal(writes({ policy: { ...POLICY, evidence: { ...ALL_REQUIRED, lease: 'off' } } }), false)
})

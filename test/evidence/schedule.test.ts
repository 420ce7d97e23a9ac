// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { judgeEvidence } from '../../src/evidence/judge.ts'
import type { EvidenceRecord } from '../../src/evidence/kinds.ts'
import { ALL_REQUIRED, API_QUESTIONS, type Fact, type Question, type SeenFact } from '../../src/evidence/kinds.ts'
import { recordFacts } from '../../src/evidence/record.ts'
import { awaitsBaseline, dueEvidence, findCandidateOfBaseline, isBaselineAbandoned, isBaselineOld } from '../../src/evidence/schedule.ts'
import {
  A,
  A_IS_KEPT,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  health,
  hold,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  NOW_US,
  POLICY,
  READY_FOR_B,
  runs,
  SECOND_US,
  snapshot,
  startsWith,
  verdict,
  wants,
} from '../decision/snapshots.ts'
import { lease, node, pods, recordNothing, refused, runtime, serving, staticPods, unreachable } from './samples.ts'

type Answers = (question: Question, seconds: number) => SeenFact

const WELL: Answers = (question, seconds) => {
  switch (question) {
    case 'lease':
      return lease(String(Math.floor(seconds / 10)))
    case 'node':
      return node('True', { reportedAt: 1, answeredAt: seconds })
    case 'pods':
      return pods()
    case 'runtime':
      return runtime('answered')
    case 'serving':
      return serving(403)
    case 'static-pods':
      return staticPods([])
  }
}

interface Asked {
  readonly atSeconds: number
  readonly question: Question
}

/** A process of B that is looked at each second, and answers at once. */
function playTrial(
  answers: Answers,
  seconds: number,
  policy = POLICY,
): { asked: Asked[]; record: EvidenceRecord | undefined; last: Snapshot } {
  const asked: Asked[] = []
  let record: EvidenceRecord | undefined
  let last = snapshot()
  for (let at = 0; at <= seconds; at += 1) {
    const now = { bootId: BOOT, monotonicUs: NOW_US + at * SECOND_US, wallMs: 0 }
    const { running, unit } = runs(B, { startedAgoUs: 0 })
    if (running === undefined || unit === undefined) throw new Error('B runs')
    const common = {
      now,
      nodeName: 'node-1',
      running,
      candidate: undefined,
      startDeadlineUs: policy.startDeadlineUs,
      healthySinceUs: undefined,
      verdicts: new Map(),
      ...A_IS_KEPT,
      proven: undefined,
      writtenAtUs: undefined,
    }
    record = recordFacts(record, { ...common, facts: [] })
    const healthy = health(B, { healthySinceUs: NOW_US, lastSampleUs: now.monotonicUs })
    last = snapshot({ ...inTrial(), now, policy, running, unit, health: healthy, evidence: record, proven: keyOf(A) })
    const { questions } = dueEvidence(last, findCandidateOfBaseline(last))
    asked.push(...questions.map((question) => ({ atSeconds: at, question })))
    const facts = questions.map(
      (question): Fact => ({
        about: running.kind === 'known' ? running.invocationId : '',
        atUs: now.monotonicUs,
        seen: answers(question, at),
      }),
    )
    record = recordFacts(record, { ...common, facts })
    last = { ...last, evidence: record }
  }
  return { asked, record, last }
}

const requests = (asked: readonly Asked[]) => asked.filter(({ question }) => API_QUESTIONS.includes(question))

t.test('a trial of ten minutes costs the API server at most 11 requests, and 2 before it', async (t) => {
  const { asked, last } = playTrial(WELL, 600)
  t.ok(requests(asked).length <= 11, JSON.stringify(requests(asked)))
  const answers = Object.fromEntries(judgeEvidence(last).map(({ kind, answer }) => [kind, answer]))
  t.match(answers, { lease: 'yes', ready: 'yes', runtime: 'yes' })
  for (const question of ['node', 'lease', 'pods', 'static-pods', 'serving', 'runtime'] as const)
    t.ok(
      asked.some((each) => each.question === question && each.atSeconds >= 580),
      `${question} is asked shortly before the end`,
    )
})

t.test('a trial in which nothing is well costs at most 11 requests, too', async (t) => {
  const answers: Answers = (question, seconds) => {
    if (question === 'lease') return lease('1')
    if (question === 'node') return node('False', { reportedAt: 1, answeredAt: seconds })
    return question === 'pods' ? refused('pods') : WELL(question, seconds)
  }
  const { asked } = playTrial(answers, 600)
  t.ok(requests(asked).length <= 11, JSON.stringify(requests(asked)))
  t.ok(asked.filter(({ question }) => question === 'lease').length >= 4)
  t.ok(asked.filter(({ question }) => question === 'node').length >= 4)
})

t.test('a trial that is held goes on asking, seldom', async (t) => {
  const { asked } = playTrial((question, seconds) => (question === 'lease' ? lease('1') : WELL(question, seconds)), 3600)
  const late = requests(asked).filter(({ atSeconds }) => atSeconds > 1200)
  t.ok(late.length > 0 && late.length <= 4 * 4, String(late.length))
})

t.test('a trial after another config that failed and is not wanted any more goes on asking', async (t) => {
  const { last } = playTrial(WELL, 60)
  const later = { ...last, now: { ...last.now, monotonicUs: NOW_US + 1200 * SECOND_US }, ...judged(verdict(C, 'provisional')) }
  t.not(dueEvidence(later, findCandidateOfBaseline(later)).questions.length, 0)
})

t.test('a trial of a few seconds gets its answers', async (t) => {
  const policy = { ...POLICY, trialUs: 6 * SECOND_US, startDeadlineUs: 4 * SECOND_US, toleranceUs: 2 * SECOND_US }
  const { last } = playTrial(WELL, 6, policy)
  const answers = Object.fromEntries(judgeEvidence(last).map(({ kind, answer }) => [kind, answer]))
  t.match(answers, { ready: 'yes', runtime: 'yes', serving: 'yes' })
})

t.test('what is switched off is not asked', async (t) => {
  const off = { runtime: 'off', lease: 'off', ready: 'off', serving: 'off', 'static-pods': 'off', pods: 'off' } as const
  t.same(playTrial(WELL, 600, { ...POLICY, evidence: off }).asked, [])
  const { asked } = playTrial(WELL, 600, { ...POLICY, evidence: { ...ALL_REQUIRED, lease: 'off', pods: 'watched' } })
  t.same([...new Set(requests(asked).map(({ question }) => question))].sort(), ['node', 'pods'])
})

t.test('nothing is asked on a settled node', async (t) => {
  const settled = snapshot()
  t.same(dueEvidence({ ...settled, evidence: recordNothing(undefined, settled) }, findCandidateOfBaseline(settled)), {
    questions: [],
    write: false,
  })
})

const ABOUT_TO_RESTART = { ...READY_FOR_B, ...startsWith(B), ...runs(A) }

t.test('the baseline is asked for before a restart, and the restart waits for it a few seconds', async (t) => {
  const before = snapshot(ABOUT_TO_RESTART)
  t.equal(findCandidateOfBaseline(before), keyOf(B))
  const opened = { ...before, evidence: recordNothing(keyOf(B), before) }
  const due = dueEvidence(opened, keyOf(B)).questions
  t.same([...due].sort(), ['node', 'pods', 'runtime', 'serving', 'static-pods'])
  t.ok(awaitsBaseline(opened, keyOf(B)))
  const later = { ...opened, now: { ...opened.now, monotonicUs: NOW_US + 6 * SECOND_US } }
  t.notOk(awaitsBaseline(later, keyOf(B)))
  const facts = due.map((question): Fact => ({ about: 'invocation-1', atUs: NOW_US, seen: WELL(question, 0) }))
  const { now, nodeName, running } = opened
  const answered = recordFacts(opened.evidence, {
    now,
    nodeName,
    running,
    candidate: keyOf(B),
    startDeadlineUs: 1,
    healthySinceUs: undefined,
    verdicts: new Map(),
    ...A_IS_KEPT,
    proven: undefined,
    facts,
    writtenAtUs: undefined,
  })
  t.notOk(awaitsBaseline({ ...opened, evidence: answered }, keyOf(B)))
})

t.test('what the API server did not answer is asked again, once a second, while the restart waits for it', async (t) => {
  const before = snapshot(ABOUT_TO_RESTART)
  const at = (seconds: number, evidence: EvidenceRecord | undefined): Snapshot => {
    return { ...before, evidence, now: { ...before.now, monotonicUs: NOW_US + seconds * SECOND_US } }
  }
  const answer = (seconds: number, evidence: EvidenceRecord | undefined, answers: Answers): EvidenceRecord => {
    const { now, nodeName, running } = at(seconds, evidence)
    const { questions } = dueEvidence(at(seconds, evidence), keyOf(B))
    const facts = questions.map((question): Fact => ({ about: 'invocation-1', atUs: now.monotonicUs, seen: answers(question, 0) }))
    const fold = {
      candidate: keyOf(B),
      startDeadlineUs: 1,
      healthySinceUs: undefined,
      verdicts: new Map(),
      ...A_IS_KEPT,
      proven: undefined,
      writtenAtUs: undefined,
    }
    return recordFacts(evidence, { ...fold, now, nodeName, running, facts })
  }
  const isAway: Answers = (question, seconds) =>
    question === 'node' || question === 'pods' ? unreachable(question) : WELL(question, seconds)
  const first = answer(0, recordNothing(keyOf(B), before), isAway)
  t.ok(awaitsBaseline(at(0.5, first), keyOf(B)))
  t.same(dueEvidence(at(0.5, first), keyOf(B)).questions, [])
  t.same(dueEvidence(at(1, first), keyOf(B)).questions, ['node', 'pods'])
  const second = answer(1, first, isAway)
  t.same(dueEvidence(at(1.5, second), keyOf(B)).questions, [])
  const third = answer(2, second, WELL)
  t.notOk(awaitsBaseline(at(2, third), keyOf(B)))
  t.same(dueEvidence(at(3, third), keyOf(B)).questions, [])
  t.equal(third.baseline?.ready, 'True')
  t.notOk(awaitsBaseline(at(6, second), keyOf(B)), 'the restart does not wait for ever')
  t.same(dueEvidence(at(6, second), keyOf(B)).questions, [])
})

t.test('a config on trial goes on being asked about while the restart into its successor is held up', async (t) => {
  const before = inTrial({ ...wants(C), ...assignedTo(C), ...accepts(C), ...startsWith(C), left: [hold(B)] })
  const opened = recordNothing(keyOf(C), before)
  const { now, nodeName, running, lastKnownGood, previous } = before
  const ofBaseline = ['node', 'pods', 'runtime', 'serving', 'static-pods'] as const
  const facts = ofBaseline.map((question): Fact => ({ about: INVOCATION, atUs: NOW_US, seen: WELL(question, 0) }))
  const evidence = recordFacts(opened, {
    ...{ now, nodeName, running, lastKnownGood, previous, facts, candidate: keyOf(C), startDeadlineUs: 1, verdicts: new Map() },
    ...{ healthySinceUs: undefined, proven: undefined, writtenAtUs: undefined },
  })
  const asked = (seconds: number) => {
    const nowUs = NOW_US + seconds * SECOND_US
    const seen = {
      ...before,
      evidence,
      now: { ...now, monotonicUs: nowUs },
      health: health(B, { lastSampleUs: nowUs, healthySinceUs: NOW_US }),
    }
    return dueEvidence(seen, keyOf(C)).questions
  }
  t.same(asked(59), [], 'the restart may come at any moment')
  t.not(asked(60).length, 0)
})

t.test('a baseline is taken again once the kubelet that it was taken from has reported', async (t) => {
  const before = snapshot(ABOUT_TO_RESTART)
  const evidence = recordNothing(keyOf(B), before)
  const known = health(A)
  const looked = (afterSeconds: number, healthyAfterSeconds: number | undefined, invocationId = 'invocation-1'): boolean => {
    const healthySinceUs = healthyAfterSeconds === undefined ? undefined : NOW_US + healthyAfterSeconds * SECOND_US
    const process = {
      key: keyOf(A),
      invocationId,
      startedAtUs: NOW_US,
      wasHealthy: true,
      healthySinceUs,
      unhealthySinceUs: undefined,
      exits: 0,
    }
    const now = { ...before.now, monotonicUs: NOW_US + afterSeconds * SECOND_US }
    return isBaselineOld({ ...before, evidence, now, health: { ...known, process } })
  }
  t.notOk(looked(9, undefined), 'kubelet is not healthy yet')
  t.notOk(looked(14, 5), 'it has become healthy just now')
  t.ok(looked(15, 5))
  t.notOk(looked(15, -10), 'it had reported before that')
  t.notOk(looked(15, 5, 'invocation-0'), 'that was another process')
})

t.test('a restart waits anew for what an earlier agent asked, but not for what is there', async (t) => {
  const opened = snapshot(ABOUT_TO_RESTART)
  const lacking = { ...opened, evidence: recordNothing(keyOf(B), opened) }
  t.ok(isBaselineAbandoned(lacking, keyOf(B), NOW_US + 1))
  t.notOk(isBaselineAbandoned(lacking, keyOf(B), NOW_US), 'this agent has asked it')
  t.notOk(isBaselineAbandoned(lacking, keyOf(A), NOW_US + 1), 'it is for another config')
  const answered = [...(lacking.evidence.baseline?.answered ?? []), ...dueEvidence(lacking, keyOf(B)).questions]
  const baseline = lacking.evidence.baseline && { ...lacking.evidence.baseline, answered }
  t.notOk(isBaselineAbandoned({ ...opened, evidence: { ...lacking.evidence, baseline } }, keyOf(B), NOW_US + 1), 'nothing is missing')
})

t.test('no baseline is taken before a fallback, nor before a return to local', async (t) => {
  const failed = { ...wants(B), ...assignedTo(B), ...accepts(A, B), ...judged(verdict(B, 'provisional')), ...startsWith(A), ...runs(B) }
  t.equal(findCandidateOfBaseline(snapshot(failed)), undefined)
  t.equal(findCandidateOfBaseline(snapshot({ ...wants('local'), ...assignedTo('local'), ...startsWith('local'), ...runs(A) })), undefined)
})

t.test('a fallback is asked whether it brings back what the config lost', async (t) => {
  const fallback = snapshot({
    ...wants(B),
    ...assignedTo(B),
    ...judged(verdict(B, 'provisional')),
    ...startsWith(A),
    ...runs(A, { startedAgoUs: 60e6 }),
  })
  t.not(dueEvidence({ ...fallback, evidence: recordNothing(undefined, fallback) }, undefined).questions.length, 0)
  const confirmed = { ...fallback, ...judged(verdict(B, 'confirmed')) }
  t.same(dueEvidence({ ...confirmed, evidence: recordNothing(undefined, confirmed) }, undefined).questions, [])
})

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { describeInAnnotation } from '../../src/report/annotation.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { describeStatus } from '../../src/report/status.ts'
import { type EvidenceAnswers, knownRollout, type ShownEvidence, showEvidence, turnKind } from '../../src/report/trial-report.ts'
import type { Progress } from '../../src/rollout/progress.ts'
import { SECOND_US, snapshot } from '../decision/snapshots.ts'
import { lease, node, pods, runtime, type Story, serving, snapshotOf, staticPods } from '../evidence/samples.ts'
import { WAITING, WHY } from './waiting-node.ts'

const AT_60 = [
  [0, lease('1')],
  [5, node('True', { reportedAt: 1, answeredAt: 5 })],
  [30, lease('2')],
  [60, lease('3')],
] as const

/** The same trial, looked at each second: the texts in the order in which they are shown. */
function watch(story: Story, seconds: number): EvidenceAnswers[] {
  const texts: EvidenceAnswers[] = []
  let shown: ShownEvidence | undefined
  for (let now = 0; now <= seconds; now += 1) {
    const seen = (story.seen ?? []).filter(([at]) => at <= now)
    const next = showEvidence(snapshotOf({ ...story, seen, now }), shown)
    if (next !== undefined && next !== shown) texts.push(next.answers)
    shown = next
  }
  return texts
}

t.test('the answers of a good trial are shown in at most three texts', async (t) => {
  const texts = watch({ before: [serving(403)], seen: [...AT_60, [7, serving(403)], [0, runtime('answered')]] }, 300)
  t.ok(texts.length <= 3, JSON.stringify(texts))
  t.match(texts.at(-1), { lease: 'yes', ready: 'yes', serving: 'yes' })
})

t.test('the answers of a good trial at the times of a real node, each of them news, are shown in at most three texts', async (t) => {
  const seen = [
    [0, lease('1')],
    [0, runtime('answered')],
    [5, node('True', { reportedAt: 1, answeredAt: 5 })],
    [38, lease('2')],
    [75, serving(403)],
    [140, staticPods([])],
    [160, lease('3')],
    [240, pods()],
  ] as const
  const texts = watch({ before: [serving(403), staticPods([]), pods()], seen }, 600)
  t.ok(texts.length <= 3, JSON.stringify(texts))
  t.match(texts.at(-1), { lease: 'yes', ready: 'yes', serving: 'yes' })
})

t.test('a no is shown at once', async (t) => {
  const story: Story = {
    before: [serving(403)],
    seen: [
      [5, serving(401)],
      [66, serving(401)],
    ],
  }
  const before = showEvidence(snapshotOf({ ...story, seen: [[5, serving(401)]], now: 65 }), undefined)
  t.equal(before?.answers.serving, 'unknown')
  t.equal(showEvidence(snapshotOf({ ...story, now: 66 }), before)?.answers.serving, 'no')
})

t.test('a settled node shows nothing', async (t) => {
  t.equal(showEvidence(snapshot(), undefined), undefined)
  t.equal(showEvidence(snapshot(), { about: 'x', answers: {}, sinceUs: SECOND_US }), undefined)
})

const progress: Progress = {
  ...{ generation: 7, stage: 3, lastStage: 5, openPercent: 10, proofs: 3, needed: 5 },
  ...{ claimed: [], silent: [], vetoes: [], finished: false, halted: false },
}
const known = WAITING.rollout && { ...WAITING.rollout, progress }
const annotation = (of: Snapshot) =>
  JSON.parse(describeInAnnotation(of, describeStatus(of, 'rollout'), NO_DEADLINES, '1.2.3')) as { rollout?: object }

t.test('the condition says how far it has come, and when this node goes', async (t) => {
  const { status, reason, message } = describeCondition(WAITING, { phase: 'rollout', detail: WHY }, NO_DEADLINES)
  t.same({ status, reason, message }, { status: 'False', reason: 'Waiting', message: WHY })
})

t.test('the annotation has the stage and the turn, without counts', async (t) => {
  t.same(annotation({ ...WAITING, rollout: known }).rollout, { generation: 7, stage: 3, lastStage: 5, turn: 'wait' })
  t.same(annotation(WAITING).rollout, { turn: 'wait' }, 'it has not begun')
  t.equal(annotation({ ...WAITING, rollout: undefined }).rollout, undefined)
  t.equal(annotation({ ...WAITING, stagings: [] }).rollout, undefined, 'no rollout')
})

t.test('what is known of another config is not shown', async (t) => {
  const other = known && { ...known, config: 'kube-system/other' }
  t.equal(knownRollout({ ...WAITING, rollout: other }), undefined)
  t.equal(annotation({ ...WAITING, rollout: other }).rollout, undefined)
})

t.test('a wait that ends by itself is a wait', async (t) => {
  const kinds = (['go', 'failed', 'halted', 'wait'] as const).map((kind) => known && turnKind({ ...known, turn: { kind, detail: '' } }))
  t.same(kinds, ['go', 'failed', 'halted', 'wait'])
  t.equal(known && turnKind(known), 'wait')
})

import t from 'tap'
import type { EvidenceAnswers } from '../../src/report/shown-evidence.ts'
import { type ShownEvidence, showEvidence } from '../../src/report/shown-evidence.ts'
import { lease, node, pods, runtime, type Story, serving, snapshotOf, staticPods } from '../decision/evidence-samples.ts'
import { SECOND_US, snapshot } from '../decision/snapshots.ts'

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

// SPDX-License-Identifier: Apache-2.0
/**
 * The evidence after a boot, and since when a node that is not Ready is known to have been so
 * before any config came that was not promoted.
 */
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { judgeEvidence, viewEvidence } from '../../src/evidence/judge.ts'
import type { Baseline, EvidenceFinding, EvidenceKind } from '../../src/evidence/kinds.ts'
import type { CheckpointInfo } from '../../src/subject/config-source.ts'
import { A, B, BOOT, C, hold, MINUTE_US } from '../decision/snapshots.ts'
import { ETCD, lease, node, pods, runtime, STARTED_US, type Story, serving, snapshotOf, staticPods } from './samples.ts'
import { NO } from './views.ts'

function findWith(kind: EvidenceKind, story: Story, facts: Partial<Baseline>): EvidenceFinding | undefined {
  const seen = snapshotOf(story)
  const { evidence } = seen
  if (evidence?.baseline === undefined) throw new Error('there is no baseline')
  const changed = { ...seen, evidence: { ...evidence, baseline: { ...evidence.baseline, ...facts } } }
  return judgeEvidence(changed).find((finding) => finding.kind === kind)
}

const NOT_READY = [5, 150, 310].map((at) => [at, node('False', { reportedAt: 1, answeredAt: at })] as const)
const DOUBT = { answer: NO, damage: 'transient', mayBeNodes: true } as const
const SURE = { answer: NO, damage: 'transient', mayBeNodes: false } as const
const GONE = { answer: NO, damage: 'one-way', mayBeNodes: false } as const
const OTHER = '/run/crio.sock'

const NOS: readonly [kind: EvidenceKind, story: Story, sameBoot: object, afterBoot: object][] = [
  ['runtime', { before: [runtime('answered')], seen: [5, 70].map((at) => [at, runtime('silent', OTHER)] as const) }, SURE, DOUBT],
  ['ready', { before: [node('True', { reportedAt: -9 })], seen: NOT_READY, now: 320 }, SURE, DOUBT],
  ['serving', { before: [serving(403)], seen: [5, 70].map((at) => [at, serving('no-tls')] as const) }, SURE, DOUBT],
  ['static-pods', { before: [staticPods([ETCD])], seen: [5, 156].map((at) => [at, staticPods([])] as const) }, GONE, DOUBT],
  // A boot explains no Lease that is not renewed.
  [
    'lease',
    { before: [], seen: [30, 150, 200, 240, 280].map((at) => [at, lease('1', 40)] as const), writtenAt: 200, now: 290 },
    SURE,
    SURE,
  ],
  ['pods', { before: [pods(), staticPods([])], changed: ['maxPods'], seen: [[60, pods(['b', 'OutOfpods'])]] }, GONE, GONE],
]

for (const [kind, story, sameBoot, afterBoot] of NOS) {
  t.test(`${kind}: a no is a doubt where the node was booted since, if that may be the boot's doing`, async (t) => {
    t.match(findWith(kind, story, {}), sameBoot)
    t.match(findWith(kind, story, { beforeBoot: true }), afterBoot)
  })
}

t.test('only a no may be the doing of the boot', async (t) => {
  const well = findWith(
    'ready',
    { before: [node('True', { reportedAt: -9 })], seen: [[5, node('True', { reportedAt: 1, answeredAt: 5 })]] },
    { beforeBoot: true },
  )
  t.match(well, { answer: 'yes', mayBeNodes: false })
})

/** The wall clock at the process's start. */
const START_MS = 1_700_000_000_000
const LATER_MS = START_MS + 300_000

t.test('since when a node was not Ready before any config that was not promoted', async (t) => {
  const saved = (source: typeof A, savedAtMs: number, overlay?: string): CheckpointInfo => ({
    uid: source.uid,
    resourceVersion: source.resourceVersion,
    savedAtMs,
    overlay,
  })
  const story: Story = {
    before: [node('True')],
    snapshot: { now: { bootId: BOOT, monotonicUs: STARTED_US + 5 * MINUTE_US, wallMs: LATER_MS } },
  }
  const find = (checkpoints: readonly CheckpointInfo[], facts: Partial<Snapshot> = {}, baseline: Partial<Baseline> = {}) => {
    const seen = snapshotOf(story)
    const { evidence } = seen
    const changed = evidence?.baseline && { ...evidence, baseline: { ...evidence.baseline, ...baseline } }
    const kept = { lastKnownGood: hold(A), previous: hold(C) }
    return viewEvidence({ ...seen, ...kept, evidence: changed, checkpoints, ...facts })?.notReadyByMs
  }
  const hoursAgo = (hours: number) => START_MS - hours * 3600_000
  const before = (ms: number) => ms - 300_000
  t.equal(find([saved(B, hoursAgo(1))]), before(hoursAgo(1)), '5 minutes before it came')
  t.equal(find([saved(B, hoursAgo(1)), saved(A, hoursAgo(9)), saved(C, hoursAgo(9))]), before(hoursAgo(1)), 'not what was promoted')
  t.equal(find([saved(B, hoursAgo(1)), saved(A, hoursAgo(2), 'f00d')]), before(hoursAgo(2)), 'but what differs in its overlay')
  t.equal(find([saved(A, hoursAgo(9))]), undefined, 'nothing is known to have come')
  t.equal(find([]), undefined)
  t.equal(find([saved(B, LATER_MS)]), before(START_MS - 1000), 'saved anew: by the baseline')
  t.equal(find([saved(B, LATER_MS)], {}, { beforeBoot: true, sinceUs: 0 }), before(START_MS), 'by the start, if that was before the boot')
  const bootMs = START_MS - STARTED_US / 1000
  t.equal(find([saved(B, bootMs + 299_000)]), undefined, 'in the first minutes of a boot no node is Ready')
  t.equal(find([saved(B, bootMs + 301_000)]), bootMs + 1000)
})

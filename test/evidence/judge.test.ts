// SPDX-License-Identifier: Apache-2.0
/** The evidence that the agent has by itself, and which process the rest of it is about. */
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import {
  findEvidenceFailure,
  isJudged,
  isObserved,
  judgeEvidence,
  listObserved,
  listUnknownEvidence,
  viewEvidence,
} from '../../src/evidence/judge.ts'
import { isDamage } from '../../src/evidence/kind.ts'
import { ALL_REQUIRED, EVIDENCE_KINDS, type EvidenceFinding, type EvidenceKind, levelOf } from '../../src/evidence/kinds.ts'
import { PORT_NOT_KNOWN } from '../../src/health/sample.ts'
import {
  A,
  assignedTo,
  B,
  C,
  fallenBack,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  MINUTE_US,
  POLICY,
  runs,
  runsNothing,
  snapshot,
  verdict,
  wants,
} from '../decision/snapshots.ts'
import { lease, node, pods, STARTED_US, type Story, snapshotOf, staticPods } from './samples.ts'
import { NO } from './views.ts'

const find = (kind: EvidenceKind, facts: Partial<Snapshot>, story: Story = {}): Partial<EvidenceFinding> | undefined =>
  judgeEvidence(snapshotOf({ ...story, snapshot: facts })).find((finding) => finding.kind === kind)
const UNANSWERED = { kind: 'unknown', detail: 'systemctl failed' } as const

t.test('what the process does', async (t) => {
  const cases: [facts: Partial<Snapshot>, answer: string, detail: string][] = [
    [{}, 'yes', 'kubelet runs and did not exit'],
    [{ health: health(B, { exits: 2 }) }, 'no', 'kubelet exited 2 times'],
    [{ health: undefined }, 'yes', 'kubelet runs and did not exit'],
    [runsNothing('failed'), 'no', 'systemd gave kubelet up'],
    [runsNothing('auto-restart'), 'unknown', 'kubelet is auto-restart'],
    [{ unit: UNANSWERED }, 'unknown', 'systemd does not answer'],
  ]
  for (const [facts, answer, detail] of cases) t.match(find('process', facts), { answer, detail }, detail)
})

t.test('what its health port answers', async (t) => {
  const cases: [facts: Partial<Snapshot>, finding: object][] = [
    [{}, { answer: 'yes', detail: '/healthz answers 200', sinceUs: STARTED_US }],
    [{ health: undefined }, { answer: 'yes', sinceUs: undefined }],
    [{ healthz: { ok: false, detail: 'status 500' } }, { answer: NO, detail: '/healthz: status 500' }],
    [
      { healthz: { ok: false, detail: 'status 500' }, health: undefined },
      { answer: NO, sinceUs: undefined },
    ],
    [{ healthz: undefined }, { answer: 'unknown', detail: 'kubelet has no health port' }],
    [{ healthz: PORT_NOT_KNOWN }, { answer: 'unknown', detail: PORT_NOT_KNOWN.detail }],
    [
      { healthz: { ok: true, detail: 'ok', unverified: 'EACCES' } },
      { answer: 'yes', detail: '/healthz answers 200 (not verified: EACCES)' },
    ],
    [runsNothing('auto-restart'), { answer: 'unknown', detail: 'no kubelet process is known' }],
    [{ unit: UNANSWERED }, { answer: 'unknown', detail: 'no kubelet process is known' }],
  ]
  for (const [facts, finding] of cases) t.match(find('healthz', facts), finding, JSON.stringify(finding))
  t.equal(find('healthz', {})?.detail, '/healthz answers 200', 'and no more, where it is verified')
})

t.test('a kind that is switched off is not judged', async (t) => {
  t.equal(find('serving', { policy: { ...POLICY, evidence: { ...ALL_REQUIRED, serving: 'off' } } }), undefined)
  t.ok(find('serving', {}))
})

t.test('all kinds are required unless the settings say otherwise, and two of them always', async (t) => {
  for (const kind of EVIDENCE_KINDS) t.equal(levelOf(ALL_REQUIRED, kind), 'required', kind)
  const off = { runtime: 'off', lease: 'off', ready: 'off', serving: 'off', 'static-pods': 'off', pods: 'watched' } as const
  t.same(
    EVIDENCE_KINDS.map((kind) => levelOf(off, kind)),
    ['required', 'required', 'off', 'off', 'off', 'off', 'off', 'watched'],
  )
})

t.test('what was asked about another process says nothing of this one', async (t) => {
  const asked: Story = { seen: [[5, lease('1')]] }
  const { evidence, running } = snapshotOf(asked)
  if (running.kind !== 'known' || evidence === undefined) return t.fail('it was asked')
  const none = { answer: 'unknown', detail: 'nothing was asked about this process' } as const
  t.notMatch(find('lease', {}, asked), none)
  const others: Partial<Snapshot>[] = [
    { running: { ...running, invocationId: 'another' } },
    { running: { kind: 'unknown', detail: '' } },
    { evidence: { ...evidence, bootId: 'boot-0' } },
    { evidence: { ...evidence, process: undefined } },
    { evidence: undefined },
  ]
  for (const facts of others) t.match(find('lease', facts, asked), none)
})

t.test('only the config that the baseline was taken before can do damage', async (t) => {
  const isCandidate = (story: Story) => viewEvidence(snapshotOf(story))?.isCandidate
  t.equal(isCandidate({ before: [node('True')] }), true)
  t.equal(isCandidate({}), false, 'there is none')
  const { evidence } = snapshotOf({ before: [node('True')] })
  const ofAnother = evidence?.baseline && { ...evidence, baseline: { ...evidence.baseline, candidate: 'content-c@1@kubelet-v1' } }
  t.equal(isCandidate({ snapshot: { evidence: ofAnother } }), false, 'it was taken before another config')
  const fallback = { ...runs(A, { startedAgoUs: 5 * MINUTE_US }), ...judged(verdict(B, 'provisional')) }
  t.equal(isObserved(snapshotOf({ snapshot: fallback })), true)
  t.match(viewEvidence(snapshotOf({ before: [node('True')], snapshot: fallback })), { isCandidate: false, baseline: { ready: 'True' } })
})

t.test('a fallback is not compared with how the node was before its own trial, which it has passed', async (t) => {
  const lostSince: Story = { before: [pods(), staticPods([])], changed: ['maxPods'], seen: [[60, pods(['b', 'OutOfpods'])]] }
  const judge = (facts: Partial<Snapshot>) => findEvidenceFailure(snapshotOf({ ...lostSince, snapshot: facts }))
  t.match(judge({}), { damage: 'one-way' }, 'it is, in that trial')
  const passed = { proven: keyOf(B), lastKnownGood: hold(B) }
  const standsIn = { ...passed, ...wants(C), ...assignedTo(C), ...judged(verdict(C, 'provisional')) }
  t.equal(isObserved(snapshotOf({ snapshot: standsIn })), true)
  t.equal(judge(standsIn), undefined)
  const atFault = { ...standsIn, ...judged(verdict(B, 'provisional'), verdict(C, 'provisional'), verdict('local', 'provisional')) }
  t.equal(judge(atFault), undefined, 'nor is what the node rests on')
  t.match(viewEvidence(snapshotOf({ ...lostSince, snapshot: passed })), { isCandidate: true }, 'what is assigned still owes its proof')
})

t.test('while its health port is not known, kubelet has its whole start deadline before evidence counts', async (t) => {
  const serves = (facts: Partial<Snapshot>) => viewEvidence(snapshotOf({ snapshot: facts }))?.servesFromUs
  for (const healthz of [undefined, PORT_NOT_KNOWN]) t.equal(serves({ healthz }), STARTED_US + POLICY.startDeadlineUs)
  t.equal(serves({}), STARTED_US)
  t.equal(serves({ health: undefined }), undefined)
})

t.test('what the node was before a version arrived is no doing of that version', async (t) => {
  const savedAtMs = -120_000
  const by = (checkpoint: { uid: string; resourceVersion: string }) =>
    viewEvidence(snapshotOf({ snapshot: { checkpoints: [{ ...checkpoint, savedAtMs }] } }))?.notReadyByMs
  t.equal(by({ uid: A.uid, resourceVersion: A.resourceVersion }), undefined, 'it was promoted')
  t.ok(by({ uid: A.uid, resourceVersion: '2' }) !== undefined, 'another version of it was not')
})

const NOTHING_WANTED = { assigned: { kind: 'damaged', detail: '' }, nextStart: { kind: 'unknown', detail: '' } } as const

t.test('which process is asked for evidence', async (t) => {
  const { trialUs } = POLICY
  const provisional = judged(verdict(B, 'provisional'))
  const fallback = (startedAgoUs: number, facts: Partial<Snapshot> = {}) =>
    fallenBack({ ...provisional, ...runs(A, { startedAgoUs }), ...facts })
  const all = judged(verdict(A, 'provisional'), verdict(B, 'provisional'), verdict('local', 'confirmed'))
  const confirmed = judged(verdict(B, 'confirmed'))
  const worse = judged(verdict(A, 'confirmed'), verdict(B, 'confirmed'), verdict('local', 'confirmed'))
  const cases: readonly (readonly [string, boolean, Snapshot])[] = [
    ['a config on trial', true, inTrial()],
    ['one that has passed its trial', false, inTrial({ proven: keyOf(B) })],
    ['what a config on trial is to replace', false, inTrial(runs(A))],
    ['the same, if it has not passed a trial either', false, inTrial({ ...runs(A), proven: undefined })],
    ['none', false, inTrial(runsNothing('failed'))],
    ['none, and nobody knows what is wanted', false, inTrial({ ...runsNothing('failed'), ...NOTHING_WANTED })],
    ['what runs while nobody knows what is wanted', false, inTrial(NOTHING_WANTED)],
    ['local', false, snapshot({ ...wants('local'), ...LOCAL_EVERYWHERE })],
    ['a fallback that is proven to be better, and has not passed on this kubelet', false, fallback(1, { ...confirmed, proven: undefined })],
    ['what the node rests on, when all are proven to be worse', false, fallback(1, { ...worse, proven: undefined })],
    ['a fallback that has just started', true, fallback(1)],
    ['a fallback for less than one and a half trials', true, fallback(1.5 * trialUs - 1)],
    ['a fallback for one and a half trials', false, fallback(1.5 * trialUs)],
    ['a fallback that is proven to be better', false, fallback(1, judged(verdict(B, 'confirmed')))],
    ['a fallback on which the node rests, as all have failed', true, fallback(9 * trialUs, all)],
  ]
  for (const [what, expected, facts] of cases) t.equal(isObserved(facts), expected, what)
})

t.test('a config on trial is judged also while its successor waits, until it has shown what a trial would have', async (t) => {
  const waits = { ...wants(C), ...assignedTo(C), accepted: new Map([[keyOf(C), { drain: ['cgroupDriver'] }]]) }
  const isJudgedWith = (facts: Partial<Snapshot>, story: Story = {}) => isJudged(snapshotOf({ ...story, snapshot: { ...waits, ...facts } }))
  t.equal(isJudgedWith({}), true)
  t.equal(isJudgedWith({ lastKnownGood: hold(B) }), false, 'it has passed a trial before')
  t.equal(isJudgedWith(runs('local')), false, 'local is never on trial')
  t.equal(isJudgedWith({ nextStart: { kind: 'known', held: hold(A) } }), false, 'kubelet could not be started with it again')
  t.equal(isJudgedWith(judged(verdict(B, 'provisional'))), false, 'it has failed')
  const others = [C, A, 'local' as const].map((source) => verdict(source, 'provisional'))
  t.equal(isJudgedWith(judged(...others)), false, 'the node seems at fault')
  t.equal(isJudgedWith(NOTHING_WANTED), false, 'nobody knows what is wanted')

  const well: Story = { now: 700, before: [node('True')], seen: [[5, node('True', { reportedAt: 1, answeredAt: 5 })]] }
  t.equal(isJudgedWith({}, well), false, 'it has shown that')
  t.equal(isJudgedWith({}, { ...well, now: 599 }), true)
  t.equal(isJudgedWith({}, { ...well, seen: [[5, node('False', { reportedAt: 1, answeredAt: 5 })]] }), true, 'its evidence is missing')
  const ill = health(B, { healthySinceUs: undefined, unhealthySinceUs: STARTED_US, lastSampleUs: STARTED_US + 700e6 })
  t.equal(isJudgedWith({ health: ill }, well), true, 'kubelet is ill')
})

t.test('nothing is observed where nothing was asked', async (t) => {
  const kinds = (facts: Partial<Snapshot>) => listObserved(snapshotOf({ snapshot: facts })).map(({ kind }) => kind)
  t.same(kinds({}), ['process', 'healthz', ...EVIDENCE_KINDS.filter((kind) => kind !== 'process' && kind !== 'healthz')])
  t.same(kinds({ evidence: undefined }), [])
  t.same(kinds({ proven: keyOf(B) }), [], 'nor where nothing is on trial')
})

t.test('which words a record may have for damage', async (t) => {
  t.same(['transient', 'one-way', 'other', ''].map(isDamage), [true, true, false, false])
})

t.test('evidence is known where all that is required says yes', async (t) => {
  const only = (kind: EvidenceKind) =>
    Object.fromEntries(Object.keys(ALL_REQUIRED).map((each) => [each, each === kind ? 'required' : 'off'])) as typeof ALL_REQUIRED
  const isKnown = (kind: EvidenceKind, story: Story) => {
    const policy = { ...POLICY, evidence: only(kind) }
    return listUnknownEvidence(snapshotOf({ ...story, snapshot: { policy } })).length === 0
  }
  t.equal(isKnown('ready', { seen: [[5, node('True', { reportedAt: 1, answeredAt: 5 })]] }), true)
  t.equal(isKnown('ready', { seen: [[5, node('Unknown', { reportedAt: 1, answeredAt: 5 })]] }), false)
  t.equal(isKnown('ready', {}), false, 'nothing was asked')
  t.equal(isKnown('process', {}), true, 'the health record decides about these')
})

t.test('what others write into a detail is one line, and not long', async (t) => {
  const { detail } = find('process', runsNothing('auto-restart', { summary: `first\nsecond ${'x'.repeat(1000)}` })) ?? {}
  t.match(detail, /^kubelet is first second x+/)
  t.ok(Buffer.byteLength(detail ?? '') <= 600)
})

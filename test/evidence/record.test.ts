// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { RestartRecord } from '../../src/decision/records.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { dropBaseline, findBaseline, renewBaseline, withEarlier } from '../../src/evidence/baseline.ts'
import { judgeEvidence } from '../../src/evidence/judge.ts'
import type { Fact, SeenFact } from '../../src/evidence/kinds.ts'
import { ALL_REQUIRED, isEvidenceRecord } from '../../src/evidence/kinds.ts'
import { recordFacts } from '../../src/evidence/record.ts'
import type { Running } from '../../src/health/sample.ts'
import { nameEarlier, nameMissing, nameOther } from '../../src/subject/config-source.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import {
  A,
  A_IS_KEPT,
  B,
  BOOT,
  C,
  contentOf,
  GOOD,
  hold,
  KUBELET,
  keyOf,
  NOW_US,
  POLICY,
  restartTo,
  runs,
  SECOND_US,
  verdict,
} from '../decision/snapshots.ts'
import {
  API_SERVER,
  ETCD,
  find,
  lease,
  node,
  pods,
  recordStory,
  refused,
  runtime,
  type Story,
  serving,
  snapshotOf,
  staticPods,
  unreachable,
} from './samples.ts'

const notAsked = { kind: 'not-asked', detail: 'nothing to ask' } as const

const nothingKnown = fc.constantFrom<SeenFact>(
  refused('node'),
  refused('lease'),
  refused('pods'),
  unreachable('node'),
  unreachable('lease'),
  unreachable('pods'),
  { question: 'runtime', answer: notAsked },
  { question: 'serving', answer: notAsked },
  { question: 'static-pods', answer: notAsked },
)
const bad = fc.constantFrom<SeenFact>(
  lease('1'),
  node('False', { reportedAt: 1, answeredAt: 300 }),
  node('Unknown'),
  runtime('silent', '/b'),
  serving(401),
  serving('no-tls'),
  serving(500),
  staticPods([]),
  staticPods([{ ...ETCD, hash: 'other' }]),
  pods(['a', 'Evicted']),
)
const good = fc.constantFrom<SeenFact>(
  lease('2'),
  lease('3'),
  node('True', { reportedAt: 1, answeredAt: 30 }),
  runtime('answered'),
  serving(403),
  staticPods([API_SERVER, ETCD]),
  pods(),
)
const anyFact = fc.oneof(nothingKnown, bad, good)
const times = fc.integer({ min: 0, max: 600 })
const seenFrom = (facts: fc.Arbitrary<SeenFact>) =>
  fc.array(fc.tuple(times, facts), { maxLength: 30 }).map((list) => list.sort(([a], [b]) => a - b))
const before = fc.option(fc.array(anyFact, { maxLength: 6 }), { nil: undefined })
const changed = fc.option(fc.subarray(['maxPods', 'evictionHard.memory.available', 'featureGates.Some']), { nil: undefined })
const anyStory: fc.Arbitrary<Story> = fc
  .record({ before, changed, seen: seenFrom(anyFact), writtenAt: fc.option(times) })
  .map(({ writtenAt, ...rest }) => ({ ...rest, now: 600, ...(writtenAt !== null && { writtenAt }) }))

t.test('answers that say nothing never make a no', async () => {
  fc.assert(
    fc.property(before, seenFrom(nothingKnown), times, (was, seen, writtenAt) => {
      const findings = judgeEvidence(snapshotOf({ before: was, seen, writtenAt, now: 600 }))
      return findings.every(({ answer }) => answer !== 'no')
    }),
  )
})

t.test('without a baseline, only the Lease can make a no', async () => {
  fc.assert(
    fc.property(seenFrom(anyFact), times, (seen, writtenAt) => {
      const findings = judgeEvidence(snapshotOf({ seen, writtenAt, now: 600 }))
      return findings.every(({ answer, kind }) => answer !== 'no' || kind === 'lease')
    }),
  )
})

t.test('without a write of its own, the agent never says that the Lease is not renewed', async () => {
  fc.assert(fc.property(before, seenFrom(anyFact), (was, seen) => find('lease', { before: was, seen, now: 600 }).answer !== 'no'))
})

t.test('answers to different questions at one time count the same in any order', async () => {
  const atOnce = fc.shuffledSubarray<SeenFact>([
    lease('1'),
    node('True', { reportedAt: 1, answeredAt: 30 }),
    runtime('silent', '/b'),
    serving(401),
    staticPods([ETCD]),
    pods(['a', 'Evicted']),
  ])
  fc.assert(
    fc.property(before, anyStory, atOnce, (was, story, facts) => {
      const record = (list: readonly SeenFact[]) =>
        recordStory({ ...story, before: was, seen: [...(story.seen ?? []), ...list.map((each) => [601, each] as const)] })
      t.same(record(facts), record([...facts].reverse()))
    }),
    { numRuns: 50 },
  )
})

t.test('what was recorded is read again', async (t) => {
  fc.assert(
    fc.property(anyStory, (story) => {
      const read: unknown = JSON.parse(JSON.stringify(recordStory(story)))
      t.ok(isEvidenceRecord(read), JSON.stringify(read))
    }),
  )
  t.notOk(isEvidenceRecord({ bootId: 'b', process: { invocationId: 'i' } }))
  t.notOk(isEvidenceRecord({ bootId: 'b', baseline: { candidate: 1 } }))
  const { process } = recordStory({})
  t.ok(isEvidenceRecord({ bootId: 'b', process }))
  t.notOk(isEvidenceRecord({ bootId: 'b', process: { ...process, requests: undefined } }))
})

t.test('the record stays small, whatever is answered', async (t) => {
  const many = (from: number) => Array.from({ length: 5000 }, (_, index) => [`uid-${from + index}`.padEnd(36, '-'), 'Evicted'] as const)
  const record = recordStory({ before: [pods(...many(0))], seen: [[60, pods(...many(9000))]] })
  t.ok(JSON.stringify(record).length < 64 * 1024, `${JSON.stringify(record).length}`)
})

const RUNS_A: Running = { kind: 'known', content: contentOf(A), key: keyOf(A), startedAtUs: NOW_US - SECOND_US, invocationId: 'i-a' }
const RUNS_B: Running = { ...RUNS_A, content: contentOf(B), key: keyOf(B), invocationId: 'i-b' }
const NOTHING_NEW = {
  now: { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 },
  nodeName: 'node-1',
  candidate: undefined,
  startDeadlineUs: POLICY.startDeadlineUs,
  healthySinceUs: 0,
  verdicts: new Map(),
  ...A_IS_KEPT,
  proven: undefined,
  facts: [],
  writtenAtUs: undefined,
}
const about = (invocation: string, seen: SeenFact): Fact => ({ about: invocation, atUs: NOW_US, seen })

t.test('a late answer about an earlier process is no answer', async (t) => {
  const record = recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_B, facts: [about('i-a', serving(403))] })
  t.equal(record.process?.serving, undefined)
})

t.test('the baseline is of the process before the restart, and later answers do not change it', async (t) => {
  const taken = recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B), facts: [about('i-a', serving(403))] })
  t.same(taken.baseline?.serving, { status: 403, user: 'system:node:node-1' })
  const restarted = recordFacts(taken, { ...NOTHING_NEW, running: RUNS_B, facts: [about('i-b', serving(401))] })
  t.same(restarted.baseline, taken.baseline)
  t.equal(restarted.process?.serving?.status, 401)
})

t.test('a baseline that is asked for again keeps what is not answered then, and takes no answer from before', async (t) => {
  const waits = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B) }
  const taken = recordFacts(undefined, {
    ...waits,
    facts: [about('i-a', node('Unknown')), about('i-a', serving(403)), about('i-a', unreachable('pods'))],
  })
  const now = { ...NOTHING_NEW.now, monotonicUs: NOW_US + 10 * SECOND_US }
  const renewed = renewBaseline(taken, now)
  t.match(renewed.baseline, {
    sinceUs: now.monotonicUs,
    answered: { length: 0 },
    unread: undefined,
    serving: { status: 403 },
    ready: 'Unknown',
  })
  t.equal(recordFacts(renewed, { ...waits, now, facts: [about('i-a', node('False'))] }).baseline, renewed.baseline)
  const fact = { ...about('i-a', node('True')), atUs: now.monotonicUs + SECOND_US }
  t.match(recordFacts(renewed, { ...waits, now, facts: [fact] }).baseline, { answered: ['node'], ready: 'True', serving: { status: 403 } })
})

t.test('the pods that ran are those of the last answer, since the list of failed pods is no older', async (t) => {
  const waits = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B) }
  const taken = recordFacts(undefined, { ...waits, facts: [about('i-a', staticPods([ETCD]))] })
  t.match(taken.baseline, { livePods: ['default/b'], staticPods: { length: 1 } })
  const now = { ...NOTHING_NEW.now, monotonicUs: NOW_US + 10 * SECOND_US }
  const silent = { ...about('i-a', { question: 'static-pods', answer: notAsked }), atUs: now.monotonicUs + SECOND_US }
  const { baseline } = recordFacts(renewBaseline(taken, now), { ...waits, now, facts: [silent] })
  t.match(baseline, { livePods: undefined, staticPods: { length: 1 } })
  const failed = about('i-a', { question: 'static-pods', answer: { ...notAsked, hasFailed: true } })
  const unread = recordFacts(undefined, { ...waits, facts: [failed] })
  t.match(unread.baseline?.unread, [{ question: 'static-pods', kind: 'not-asked', hasFailed: true }])
  const again = recordFacts(unread, { ...waits, facts: [about('i-a', staticPods([ETCD]))] })
  t.match(again.baseline, { answered: ['static-pods'], unread: { length: 0 }, livePods: ['default/b'] }, 'asked once more')
})

t.test('a config on trial keeps its baseline while another one is activated, and is withdrawn again', async (t) => {
  const taken = recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B), facts: [about('i-a', node('True'))] })
  const runsB = { ...NOTHING_NEW, running: RUNS_B }
  const onTrial = recordFacts(taken, runsB)
  const waits = { ...runsB, candidate: keyOf(GOOD), facts: [about('i-b', node('False'))] }
  const other = recordFacts(onTrial, waits)
  t.match(other, { baseline: { candidate: keyOf(GOOD), ready: 'False' }, displaced: taken.baseline })
  const withdrawn = recordFacts(other, { ...runsB, facts: [about('i-b', node('False'))] })
  t.equal(findBaseline(withdrawn, runsB), taken.baseline)
  t.match(recordFacts(dropBaseline(onTrial, runsB), waits), { displaced: taken.baseline }, 'however old')
  t.equal(recordFacts(withdrawn, { ...runsB, proven: keyOf(B) }).displaced, undefined, 'its trial is over')

  t.test('so does the fallback from it', async (t) => {
    const verdicts = new Map([[keyOf(B), verdict(B, 'provisional')]])
    const runsA = { ...NOTHING_NEW, running: { ...RUNS_A, invocationId: 'i-a2' }, verdicts }
    t.equal(findBaseline(recordFacts(withdrawn, runsA), runsA), taken.baseline)
    const fix = recordFacts(recordFacts(onTrial, runsA), { ...runsA, candidate: keyOf(GOOD) })
    t.equal(findBaseline(recordFacts(fix, runsA), runsA), taken.baseline, 'while a fix waits')
  })

  t.test('but not once the other one has failed', async (t) => {
    const again = { ...RUNS_B, invocationId: 'i-b2' }
    const fallsBack = { ...NOTHING_NEW, running: again, verdicts: new Map([[keyOf(GOOD), verdict(GOOD, 'provisional')]]) }
    const record = recordFacts(other, fallsBack)
    t.equal(record.displaced, undefined)
    t.match(findBaseline(record, fallsBack), { candidate: keyOf(GOOD) })
  })
})

t.test('a config that is tried again has to bring back what was there before its first try', async (t) => {
  const promoted = { ...NOTHING_NEW, lastKnownGood: hold(A) }
  const first = recordFacts(undefined, { ...promoted, running: RUNS_A, candidate: keyOf(B), facts: [about('i-a', node('True'))] })
  const running = { ...RUNS_A, invocationId: 'i-a2' }
  const failed = (facts: Partial<Verdict>) => new Map([[keyOf(B), verdict(B, 'provisional', facts)]])
  const suspendedVerdicts = failed({ reason: 'evidence', evidence: 'ready' })
  const again = { ...promoted, running, suspendedVerdicts, candidate: keyOf(B), facts: [about('i-a2', serving(401))] }
  const second = recordFacts(first, again)
  const earlier = { ready: 'True', ofTry: 'ready', serving: undefined }
  t.match(second.baseline, { invocationId: 'i-a2', serving: { status: 401 }, earlier })
  t.match(recordFacts(dropBaseline(second, again), { ...again, facts: [] }).baseline, {
    earlier,
    serving: undefined,
    answered: { length: 0 },
  })
  t.match(recordFacts(dropBaseline(first, again), again).baseline, { earlier, serving: { status: 401 } }, 'however old')
  t.equal(recordFacts(first, { ...again, suspendedVerdicts: new Map() }).baseline?.earlier, undefined, 'it has not failed')
  const others = new Map([[keyOf(B, 'kubelet-0'), verdict(B, 'provisional')], ...suspendedVerdicts])
  t.match(recordFacts(first, { ...again, suspendedVerdicts: others }).baseline, { earlier }, 'on another kubelet it failed by health')
  t.equal(recordFacts(first, { ...again, suspendedVerdicts: failed({ reason: 'crash-loop' }) }).baseline?.earlier, undefined, 'by health')
  t.equal(
    recordFacts(first, { ...again, suspendedVerdicts: failed({ reason: 'evidence', evidence: 'lease' }) }).baseline?.earlier,
    undefined,
  )
  t.equal(recordFacts(first, { ...again, candidate: keyOf(GOOD) }).baseline?.earlier, undefined, 'another one is tried')
  const third = { ...again, running: { ...running, invocationId: 'i-a3' } }
  t.match(recordFacts(second, third).baseline, { invocationId: 'i-a3', earlier })

  t.test('but for what the fallback has brought back', async (t) => {
    const back = { ...second.baseline, candidate: keyOf(B), invocationId: 'i-a2', sinceUs: 0, answered: [] }
    const kept = { ...earlier, beforeBoot: true, ofTry: 'ready' as const }
    t.match(withEarlier({ ...back, ready: 'True', earlier: kept }), { ready: 'True', earlier: undefined, beforeBoot: undefined })
    t.match(withEarlier({ ...back, ready: 'False', earlier: kept }), { ready: 'True', earlier: kept, beforeBoot: undefined })
    t.match(withEarlier({ ...back, ready: 'False', earlier: { ...kept, ready: undefined } }), { ready: 'False', ofPromoted: true })
  })

  t.test('also where a boot came in between, which may be why it is gone', async (t) => {
    const booted = { ...first, baseline: first.baseline && { ...first.baseline, beforeBoot: true } }
    t.match(recordFacts(booted, again).baseline, { earlier: { ...earlier, beforeBoot: true }, beforeBoot: undefined })
  })
})

t.test('a kubelet that does not serve yet is asked again for the baseline', async (t) => {
  const fold = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B), healthySinceUs: undefined }
  const starting = recordFacts(undefined, { ...fold, facts: [about('i-a', serving('no-tls'))] })
  t.same(starting.baseline?.answered, [])
  const started = recordFacts(starting, { ...fold, facts: [about('i-a', serving(403))] })
  t.match(started.baseline, { answered: ['serving'], serving: { status: 403 } })
  const now = { ...fold.now, monotonicUs: NOW_US + SECOND_US }
  const busy = { ...about('i-a', serving(500)), atUs: NOW_US + 2 * SECOND_US }
  const asked = recordFacts(renewBaseline(started, now), { ...fold, now: { ...now, monotonicUs: busy.atUs }, facts: [busy] })
  t.match(asked.baseline, { answered: { length: 0 }, serving: { status: 403 } }, 'a port that waits for the API server tells less')
  const young = recordFacts(undefined, { ...fold, healthySinceUs: NOW_US - 1e6, facts: [about('i-a', serving('no-tls'))] })
  t.same(young.baseline?.answered, [])
  const closed = recordFacts(undefined, { ...fold, healthySinceUs: NOW_US - 3e6, facts: [about('i-a', serving('no-tls'))] })
  t.same(closed.baseline?.answered, ['serving'], 'one that is healthy without a TLS port has none: no restart waits for it')
})

t.test('a restart of kubelet forgets what was seen, but not what it cost', async (t) => {
  const first = recordFacts(undefined, {
    ...NOTHING_NEW,
    running: RUNS_B,
    facts: [about('i-b', lease('1')), about('i-b', refused('node'))],
  })
  t.equal(first.process?.requests, 2)
  const again = recordFacts(first, { ...NOTHING_NEW, running: { ...RUNS_B, invocationId: 'i-c' } })
  t.equal(again.process?.requests, 2)
  t.equal(again.process?.lease, undefined)
})

t.test('a record to which nothing is added is the same', async (t) => {
  const record = recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_B })
  t.equal(recordFacts(record, { ...NOTHING_NEW, running: RUNS_B }), record)
  t.equal(recordFacts(record, { ...NOTHING_NEW, running: { kind: 'none' } }), record)
})

t.test('a record of another boot is left behind', async (t) => {
  const record = recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_B })
  const now = { ...NOTHING_NEW.now, bootId: 'boot-2' }
  t.same(recordFacts(record, { ...NOTHING_NEW, now, running: { kind: 'none' } }), { bootId: 'boot-2' })
})

t.test('a baseline holds for whatever kubelet was restarted into', (t) => {
  const facts = { nodeName: 'node-1', startDeadlineUs: POLICY.startDeadlineUs, verdicts: new Map(), ...A_IS_KEPT, proven: undefined }
  const common = { ...facts, healthySinceUs: 0, writtenAtUs: undefined }
  const now = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }
  const { running: before } = runs(A, { invocationId: 'invocation-0' })
  const { running: after } = runs(C, { startedAgoUs: -SECOND_US })
  if (before?.kind !== 'known' || after?.kind !== 'known') throw new Error('they run')
  const known: Fact = { about: 'invocation-0', atUs: NOW_US, seen: node('True') }
  const taken = recordFacts(undefined, { ...common, now, running: before, candidate: keyOf(B), facts: [known] })
  const isCompared = (restart: Partial<RestartRecord>, later: typeof after = after, nRestarts = 0, from = taken): boolean => {
    const restarts = [restartTo(B, { atUs: NOW_US, invocationBefore: 'invocation-0', ...restart })]
    const fold = { ...common, now: { ...now, monotonicUs: NOW_US + 2 * SECOND_US }, running: later, candidate: undefined, facts: [] }
    return findBaseline(recordFacts(from, { ...fold, restarts, nRestarts }), { ...fold, running: later }) !== undefined
  }
  t.ok(isCompared({}), 'another config took the place of B before kubelet started')
  t.notOk(isCompared({}, { ...after, content: 'local', key: keyOf('local') }), 'local has no trial')
  t.ok(recordFacts({ bootId: BOOT, baseline: taken.baseline }, { ...common, now, running: after, candidate: undefined, facts: [] }))
  t.notOk(isCompared({}, after, 1), 'B has run unseen, and systemd has started kubelet again')
  const between = { ...after, content: 'content-b@1', key: keyOf(B), invocationId: 'invocation-b' }
  const ranB = recordFacts(taken, { ...common, now, running: between, candidate: undefined, facts: [] })
  t.ok(isCompared({}, after, 0, ranB), 'B has run, and this one has to bring back what was there before B')
  const next = { ...common, now: { ...now, monotonicUs: NOW_US + 2 * SECOND_US }, running: after, candidate: keyOf(GOOD), facts: [] }
  const restarts = [restartTo(B, { atUs: NOW_US, invocationBefore: 'invocation-0' })]
  const replaced = recordFacts(taken, { ...next, restarts, nRestarts: 0 })
  t.match(
    replaced.baseline,
    { candidate: keyOf(GOOD), earlier: { ready: 'True' } },
    'also where the next config is there at the first look',
  )
  t.notOk(isCompared({ target: keyOf(GOOD) }), 'it was taken for another restart')
  t.notOk(isCompared({ invocationBefore: 'invocation-x' }), 'it was taken from another process')
  t.notOk(isCompared({ atUs: NOW_US + 2 * SECOND_US }), 'that was a start before')
  t.notOk(isCompared({ bootId: 'boot-0' }), 'that was before a boot')
  t.notOk(isCompared({}, { ...after, startedAtUs: NOW_US + 2 * POLICY.startDeadlineUs }), 'nor does a start much later count')
  const passed = { ...common, now: { ...now, monotonicUs: NOW_US + 2 * SECOND_US }, running: after, candidate: undefined, facts: [] }
  const ofPassed = recordFacts(taken, { ...passed, restarts, nRestarts: 0, proven: keyOf(C) })
  t.match(ofPassed.baseline, { candidate: keyOf(B) }, 'nor has what has passed its trial')
  const starting = { ...passed, running: { ...after, invocationId: 'invocation-0' }, restarts, nRestarts: 0 }
  t.match(
    recordFacts(taken, starting).baseline,
    { candidate: keyOf(B) },
    'nor does one count that systemd was still starting at the request',
  )
  t.end()
})

t.test('what starts where a config on trial was down is compared with how the node was before that one', async (t) => {
  const taken = recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B), facts: [about('i-a', node('True'))] })
  const down = recordFacts(recordFacts(taken, { ...NOTHING_NEW, running: RUNS_B }), { ...NOTHING_NEW, running: { kind: 'none' } })
  const RUNS_GOOD = { ...RUNS_B, content: contentOf(GOOD), key: keyOf(GOOD), invocationId: 'i-good' } as const
  const baselineOf = (facts: Partial<Parameters<typeof recordFacts>[1]>, from = down) =>
    recordFacts(from, { ...NOTHING_NEW, running: RUNS_GOOD, ...facts }).baseline
  t.match(baselineOf({}), {
    candidate: keyOf(GOOD),
    invocationId: 'i-b',
    wasDown: true,
    answered: { length: 0 },
    earlier: { ready: 'True' },
  })
  const others: readonly (readonly [string, Partial<Parameters<typeof recordFacts>[1]>])[] = [
    ['the same config starts again', { running: { ...RUNS_B, invocationId: 'i-b2' } }],
    ['a fallback does', { verdicts: new Map([[keyOf(B), verdict(B, 'provisional')]]) }],
    ['what has passed its trial does', { proven: keyOf(GOOD) }],
    ["an administrator's config does", { running: { ...RUNS_GOOD, content: nameOther('/x'), key: trialKey(nameOther('/x'), KUBELET) } }],
    [
      'the content of what starts cannot be read',
      { running: { ...RUNS_GOOD, content: nameMissing(B), key: trialKey(nameMissing(B), KUBELET) } },
    ],
    [
      'nothing tells what was started',
      { running: { ...RUNS_GOOD, content: nameEarlier('i-good'), key: trialKey(nameEarlier('i-good'), KUBELET) } },
    ],
    ['that had passed its trial', { proven: keyOf(B) }],
  ]
  for (const [what, facts] of others) t.match(baselineOf(facts), { candidate: keyOf(B), wasDown: undefined, earlier: undefined }, what)
  t.match(baselineOf({ running: { ...RUNS_GOOD, invocationId: 'i-b' } }), { candidate: keyOf(B) }, 'it is the process that was known')
  t.match(baselineOf({}, { bootId: BOOT, baseline: taken.baseline }), { candidate: keyOf(B) }, 'what ran is not known')
  const known = recordFacts(recordFacts(taken, { ...NOTHING_NEW, running: RUNS_B, candidate: keyOf(GOOD) }), {
    ...NOTHING_NEW,
    running: { kind: 'none' },
  })
  t.match(baselineOf({}, known), { candidate: keyOf(GOOD), wasDown: undefined, earlier: { ready: 'True' } }, 'it has a baseline of its own')
})

t.test('what a config changes counts for that change alone', async (t) => {
  const fields = ['maxPods']
  const waits = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B) }
  t.same(recordFacts(undefined, { ...waits, changes: { from: contentOf(A), fields } }).baseline?.changed, fields)
  t.equal(
    recordFacts(undefined, { ...waits, changes: { from: 'other', fields } }).baseline?.changed,
    undefined,
    'compared with another config',
  )
  const early = recordFacts(undefined, waits)
  t.equal(early.baseline?.changed, undefined)
  const taken = recordFacts(early, { ...waits, changes: { from: contentOf(A), fields } })
  t.same(taken.baseline?.changed, fields, 'preflight answers after the baseline has begun')
  const restart = {
    bootId: BOOT,
    atUs: NOW_US,
    target: keyOf(B),
    fallback: false,
    failed: false,
    invocationBefore: 'i-a',
    outcome: undefined,
  }
  const started = { ...NOTHING_NEW, restarts: [restart], nRestarts: 0 }
  const running = { ...RUNS_B, startedAtUs: NOW_US }
  t.same(recordFacts(taken, { ...started, running }).baseline?.changed, fields)
  const other = recordFacts(taken, { ...started, running: { ...running, content: contentOf(GOOD), key: keyOf(GOOD) } })
  t.match(other.baseline, { candidate: keyOf(GOOD), changed: undefined }, 'the restart started another config')
})

t.test('a baseline is opened for the config and the process that it is of', async (t) => {
  const waits = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B) }
  const changes = { from: contentOf(A), fields: ['maxPods'] }
  const taken = recordFacts(undefined, { ...waits, changes, facts: [about('i-a', serving(403))] })
  t.equal(recordFacts(taken, { ...waits, changes }), taken, 'once')
  const nothing = recordFacts(taken, { ...waits, running: { kind: 'none' }, candidate: keyOf(GOOD) })
  t.equal(nothing.baseline, taken.baseline, 'none of a kubelet that does not run')
  const again = recordFacts(taken, { ...waits, running: { ...RUNS_A, invocationId: 'i-a2' } })
  t.match(again.baseline, { invocationId: 'i-a2', answered: { length: 0 } }, 'anew for the next process')
  const withdrawn = recordFacts(taken, { ...waits, candidate: undefined, facts: [about('i-a', node('True'))] })
  t.equal(withdrawn.baseline, taken.baseline, 'no answer is added once the config is not wanted')
})

t.test('what passes its trial while the next config waits has broken nothing', async (t) => {
  const onTrial = { ...NOTHING_NEW, running: RUNS_B, candidate: keyOf(GOOD) }
  const record = recordFacts(
    recordFacts(undefined, { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B), facts: [about('i-a', node('True'))] }),
    onTrial,
  )
  t.match(record.baseline, { earlier: { ready: 'True' }, ofPromoted: undefined })
  const passed = recordFacts(record, { ...onTrial, proven: keyOf(B) })
  t.match(passed.baseline, { candidate: keyOf(GOOD), invocationId: 'i-b', earlier: undefined, ofPromoted: true })
})

t.test('nothing is compared before the restart: the baseline describes the process itself', async (t) => {
  const waits = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B) }
  const taken = recordFacts(undefined, { ...waits, facts: [about('i-a', node('True'))] })
  const pressed = node('True', { pressure: ['MemoryPressure'], reportedAt: 5, answeredAt: 5 })
  t.same(recordFacts(taken, { ...waits, facts: [about('i-a', pressed)] }).process?.node?.newPressure, [])
  const restarted = recordFacts(taken, { ...NOTHING_NEW, running: RUNS_B, facts: [about('i-b', pressed)] })
  t.same(restarted.process?.node?.newPressure, ['MemoryPressure'])
})

t.test('whether a node runs a control plane is kept while its baseline is taken anew', async (t) => {
  const waits = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B) }
  const record = recordFacts(undefined, { ...waits, facts: [about('i-a', staticPods([API_SERVER]))] })
  t.equal(record.runsControlPlane, true)
  t.equal(recordFacts(record, { ...waits, candidate: keyOf(GOOD) }).runsControlPlane, true)
  t.equal(recordFacts(undefined, { ...waits, facts: [about('i-a', staticPods([]))] }).runsControlPlane, false)
  t.notOk('runsControlPlane' in recordFacts(undefined, waits), 'not known')
  const off = { ...waits, levels: { ...ALL_REQUIRED, 'static-pods': 'off' } } as const
  const seen = [about('i-a', staticPods([API_SERVER]))]
  t.notOk('runsControlPlane' in recordFacts(undefined, { ...off, facts: seen }), 'they are asked for only to see what else runs')
  t.equal(recordFacts(undefined, { ...off, levels: ALL_REQUIRED, facts: seen }).runsControlPlane, true)
  t.equal(recordFacts(record, { ...off, facts: [about('i-a', staticPods([]))] }).runsControlPlane, true)
})

t.test('a write of the agent counts where it came after the start, and the last one does', async (t) => {
  const writtenAt = (record: ReturnType<typeof recordFacts> | undefined, secondsAgo: number) =>
    recordFacts(record, { ...NOTHING_NEW, running: RUNS_A, writtenAtUs: NOW_US - secondsAgo * SECOND_US })
  t.equal(writtenAt(undefined, 1).process?.writtenAtUs, undefined, 'kubelet started a second ago')
  const written = writtenAt(undefined, 0.5)
  t.equal(written.process?.writtenAtUs, NOW_US - 0.5 * SECOND_US)
  t.equal(writtenAt(written, 0.5), written)
  t.equal(writtenAt(written, 0.7), written)
  t.equal(writtenAt(written, 0.2).process?.writtenAtUs, NOW_US - 0.2 * SECOND_US)
})

t.test('what a baseline could not read', async (t) => {
  const unread = (...facts: readonly SeenFact[]) => {
    const fold = { ...NOTHING_NEW, running: RUNS_A, candidate: keyOf(B), facts: facts.map((each) => about('i-a', each)) }
    return recordFacts(undefined, fold).baseline?.unread
  }
  const busy = { question: 'node', answer: { kind: 'refused', detail: '429', busy: true } } as const
  t.strictSame(unread(busy), [{ question: 'node', kind: 'refused', detail: '429', atUs: NOW_US, busy: true }])
  const failed = { question: 'node', answer: { kind: 'refused', detail: '500', busy: false } } as const
  t.strictSame(unread(failed), [{ question: 'node', kind: 'refused', detail: '500', atUs: NOW_US }])
  const nothing = { question: 'runtime', answer: notAsked } as const
  t.match(unread(busy, nothing), [{ question: 'node' }, { question: 'runtime', kind: 'not-asked', detail: notAsked.detail }])
  t.same(unread(busy, node('True')), [], 'it was read later')
  t.match(unread(refused('node')), [{ kind: 'forbidden', detail: '403 Forbidden' }])
  const [long] = unread({ question: 'node', answer: { kind: 'unreachable', detail: 'x'.repeat(999) } }) ?? []
  t.equal(long?.detail.length, 200)
})

t.test('what an answer costs, and what it says of the API server', async (t) => {
  const at = (record: ReturnType<typeof recordFacts> | undefined, seconds: number, seen: SeenFact) =>
    recordFacts(record, { ...NOTHING_NEW, running: RUNS_A, facts: [{ about: 'i-a', atUs: NOW_US + seconds * SECOND_US, seen }] })
  const first = at(undefined, 10, lease('1'))
  t.match(first.process, { requests: 1, reachableSinceUs: NOW_US + 10 * SECOND_US, unauthorizedUs: undefined })
  t.equal(at(first, 9, lease('2')), first, 'an answer that was overtaken')
  t.match(at(first, 10, lease('2')).process, { requests: 2, lease: { resourceVersion: '2' } })
  t.match(at(first, 20, { question: 'lease', answer: notAsked }).process, { requests: 1 }, 'it was not asked')
  t.match(at(first, 610, lease('2')).process, { reachableSinceUs: NOW_US + 10 * SECOND_US })
  t.match(at(first, 611, lease('2')).process, { reachableSinceUs: NOW_US + 611 * SECOND_US }, 'an outage in between may have been missed')
  t.match(at(first, 20, unreachable('node')).process, { requests: 1, reachableSinceUs: undefined })
  const refusal = { kind: 'refused', detail: '500' } as const
  t.equal(at(first, 20, { question: 'node', answer: refusal }).process?.unauthorizedUs, undefined)
  const refusedAgain = at(first, 20, { question: 'node', answer: { ...refusal, isUnauthorized: true } })
  t.equal(refusedAgain.process?.unauthorizedUs, NOW_US + 20 * SECOND_US)
  t.equal(at(refusedAgain, 30, lease('3')).process?.unauthorizedUs, undefined, 'it has taken them since')
  const served = at(at(undefined, 5, serving(401)), 10, lease('1'))
  t.equal(served.process?.serving?.serverUpSinceUs, NOW_US + 10 * SECOND_US, 'kubelet could ask it about a certificate since then')
  for (const none of [unreachable('node'), { question: 'node', answer: { ...refusal, isUnauthorized: true } } as const])
    t.equal(at(served, 20, none).process?.serving?.serverUpSinceUs, undefined, `${none.answer.kind}: no more`)
})

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { EvidenceRecord, Fact, SeenFact } from '../../src/evidence/kinds.ts'
import { ALL_REQUIRED } from '../../src/evidence/kinds.ts'
import { recordFacts } from '../../src/evidence/record.ts'
import { dueEvidence, findCandidateOfBaseline, findEvidenceAccess } from '../../src/evidence/schedule.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import type { RolloutTurn } from '../../src/rollout/view.ts'
import {
  A,
  A_EDITED,
  A_IS_KEPT,
  accepts,
  assignedTo,
  BOOT,
  contentOf,
  dataOf,
  decide,
  INVOCATION,
  keyOf,
  MINUTE_US,
  NOW_US,
  POLICY,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  wants,
} from '../decision/snapshots.ts'
import { lease, node, pods, refused, runtime, serving, staticPods, unreachable } from './samples.ts'

const HASH = hashConfig(dataOf(A_EDITED), 'kubelet')
const CONFIG = 'kube-system/a'
const ASKS: RolloutTurn = { kind: 'wait', detail: 'its turn to claim has come', asks: 'evidence' }
const WELL: readonly SeenFact[] = [lease('1'), node('True'), pods(), runtime('answered'), serving(403), staticPods([])]

/** A runs, and its edit goes by a rollout. */
function waiting(turn: RolloutTurn, facts: Partial<Snapshot> = {}): Snapshot {
  const contents = [{ hash: HASH, content: contentOf(A_EDITED) }]
  return snapshot({
    ...wants(A_EDITED),
    ...assignedTo(A_EDITED),
    ...accepts(A, A_EDITED),
    stagings: [{ config: CONFIG, record: 'record', arrival: 'there', waves: DEFAULT_PLAN.waves, contents }],
    rollout: { config: CONFIG, hash: HASH, turn, confirmedAtUs: undefined, progress: undefined },
    ...facts,
  })
}

function recorded(seen: readonly SeenFact[], agoSeconds = 1): EvidenceRecord {
  const { running } = runs(A)
  if (running === undefined) throw new Error('A runs')
  const atUs = NOW_US - agoSeconds * SECOND_US
  const facts = seen.map((each): Fact => ({ about: INVOCATION, atUs, seen: each }))
  const now = { bootId: BOOT, monotonicUs: atUs, wallMs: 0 }
  return recordFacts(undefined, {
    now,
    nodeName: 'node-1',
    running,
    candidate: keyOf(A_EDITED),
    startDeadlineUs: 0,
    healthySinceUs: undefined,
    verdicts: new Map(),
    ...A_IS_KEPT,
    proven: undefined,
    facts,
    writtenAtUs: undefined,
  })
}

const accessOf = (seen: readonly SeenFact[], facts: Partial<Snapshot> = {}, agoSeconds?: number) =>
  findEvidenceAccess(waiting(ASKS, { evidence: recorded(seen, agoSeconds), ...facts }), keyOf(A_EDITED))

t.test('evidence is asked for before a claim once the turn says so, and then all that a proof needs', async (t) => {
  const waits = waiting({ kind: 'wait', detail: 'stage 1' })
  t.match(decide(waits), { kind: 'wait', phase: 'rollout' })
  t.equal(findCandidateOfBaseline(waits), undefined)
  const asked = waiting(ASKS, { evidence: recorded([]) })
  t.equal(findCandidateOfBaseline(asked), keyOf(A_EDITED))
  t.same([...dueEvidence(asked, findCandidateOfBaseline(asked)).questions].sort(), [
    'lease',
    'node',
    'pods',
    'runtime',
    'serving',
    'static-pods',
  ])
  t.same(dueEvidence({ ...asked, evidence: recorded(WELL) }, keyOf(A_EDITED)).questions, [])
  const next = { kind: 'known', held: { source: A_EDITED, content: contentOf(A_EDITED) } } as const
  t.notOk(dueEvidence({ ...asked, nextStart: next }, keyOf(A_EDITED)).questions.includes('lease'), 'a baseline needs no Lease')
})

t.test('the trial of what runs goes on meanwhile', async (t) => {
  const nowUs = NOW_US + 5 * MINUTE_US
  const now = { bootId: BOOT, monotonicUs: nowUs, wallMs: 0 }
  const asked = waiting(ASKS, { evidence: recorded(WELL), now })
  t.same(dueEvidence(asked, keyOf(A_EDITED)), { questions: [], write: false }, 'it has passed')
  const { questions, write } = dueEvidence({ ...asked, proven: undefined }, keyOf(A_EDITED))
  t.ok(questions.includes('lease') && questions.includes('static-pods'), questions.join())
  t.ok(write)
})

t.test('what could be read can be read', async (t) => {
  t.same(accessOf(WELL), { kind: 'readable' })
  t.same(accessOf(WELL.slice(1)), { kind: 'unread' })
  t.same(accessOf(WELL, {}, 700), { kind: 'unread' }, 'long ago')
  t.same(accessOf(WELL, runs(A, { invocationId: 'another' })), { kind: 'unread' }, 'of another process')
})

t.test('what is bad can be read: another config may mend it', async (t) => {
  const bad = [lease('1'), node('False'), pods(), runtime('silent'), serving(401), staticPods([])]
  t.same(accessOf(bad), { kind: 'readable' })
})

t.test('a kubelet without a TLS port has answered too: another config may open it', async (t) => {
  const closed: SeenFact = { question: 'serving', answer: { kind: 'no-tls', detail: 'connection refused' } }
  t.same(accessOf([...WELL.filter(({ question }) => question !== 'serving'), closed]), { kind: 'readable' })
})

t.test('what cannot be read is named', async (t) => {
  t.match(accessOf([...WELL, refused('pods')]), { kind: 'unreadable', detail: 'pods: 403 Forbidden' })
  t.match(accessOf([...WELL, unreachable('lease')]), { kind: 'unreadable', detail: /^lease: / })
  const both = { kind: 'unreadable', detail: 'lease: connect ETIMEDOUT; pods: 403 Forbidden' }
  t.same(accessOf([...WELL, refused('pods'), unreachable('lease')]), both)
  t.same(accessOf([...WELL, unreachable('lease')], {}, 90), { kind: 'unread' }, 'and asked again, soon after an outage')
  t.match(accessOf([...WELL, refused('pods')], {}, 90), { kind: 'unreadable' })
  const notFound: SeenFact = { question: 'lease', answer: { kind: 'refused', detail: '404 NotFound' } }
  t.same(accessOf([...WELL, notFound], {}, 90), { kind: 'unread' }, 'so is a Lease that kubelet has not created yet')
  t.same(accessOf([refused('pods'), ...WELL]), { kind: 'readable' }, 'the last answer counts')
})

t.test('only required evidence is needed', async (t) => {
  const policy = { ...POLICY, evidence: { ...ALL_REQUIRED, pods: 'watched' as const } }
  t.same(accessOf([...WELL, refused('pods')], { policy }), { kind: 'readable' })
  t.same(
    accessOf(
      WELL.filter(({ question }) => question !== 'pods'),
      { policy },
    ),
    { kind: 'readable' },
  )
  const watched = { runtime: 'watched', lease: 'watched', ready: 'watched', serving: 'off', 'static-pods': 'off', pods: 'off' } as const
  t.same(accessOf([], { policy: { ...POLICY, evidence: watched }, evidence: undefined }), { kind: 'readable' })
})

t.test('nothing can be asked about a kubelet that does not run, and somebody has to start what mends it', async (t) => {
  t.same(accessOf([], runsNothing('auto-restart')), { kind: 'readable' })
  t.same(accessOf([], runsNothing('failed')), { kind: 'readable' })
  t.same(accessOf([], runs(A, { unit: { activity: 'stopping' } })), { kind: 'readable' })
  t.same(accessOf([], { running: { kind: 'unknown', detail: '' } }), { kind: 'readable' })
  t.same(accessOf([], { unit: { kind: 'unknown', detail: '' } }), { kind: 'readable' })
  t.same(accessOf([]), { kind: 'unread' }, 'unlike one that runs')
})

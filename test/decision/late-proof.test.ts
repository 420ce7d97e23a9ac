import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { proveLate } from '../../src/decision/late-proof.ts'
import { nextStep } from '../../src/decision/next-step.ts'
import { describeRolloutSubject } from '../../src/decision/rollout-subject.ts'
import { assess, hasTarget } from '../../src/decision/situation.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StagedContent } from '../../src/decision/staging-state.ts'
import type { EvidenceRecord } from '../../src/evidence/kinds.ts'
import { dueEvidence } from '../../src/evidence/schedule.ts'
import { hashConfig } from '../../src/rollout/config-hash.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import type { RolloutTurn } from '../../src/rollout/view.ts'
import {
  A,
  B,
  BOOT,
  contentOf,
  dataOf,
  health,
  hold,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  MINUTE_US,
  NOW_US,
  restartTo,
  runs,
  verdict,
  wants,
} from './snapshots.ts'

const HASH = hashConfig(dataOf(B), 'kubelet')
const CLAIMED: RolloutTurn = { kind: 'go', detail: 'kubelet runs it, and this node is a witness of its trial', asks: 'proof' }
const SEEN = { sinceUs: NOW_US, lastUs: NOW_US - 19e6 }
const LEASE = {
  ...SEEN,
  resourceVersion: '9',
  durationSeconds: 40,
  renewals: 2,
  sameSinceUs: NOW_US - 30e6,
  provenAtUs: NOW_US,
  problem: '',
}
const NODE = { ...SEEN, ready: 'True', message: '', readySinceUs: NOW_US, firstReportedAtMs: 1, reportedAtUs: NOW_US, provenAtUs: NOW_US }
const NO_POD_LOST = { ...SEEN, lost: [], problem: '' }

/** Evidence that says yes to everything, but for what is said here. */
function evidence(facts: Partial<NonNullable<EvidenceRecord['process']>> = {}): EvidenceRecord {
  const baseline = { candidate: keyOf(B), invocationId: 'invocation-0', sinceUs: NOW_US - 12 * MINUTE_US, answered: [] }
  const before = { ready: 'True', reportedAtMs: 1, pressure: [], podsAtMs: 1, podsAtWallMs: 1, failedPods: [], serving: { status: 403 } }
  return {
    bootId: BOOT,
    baseline: { ...baseline, ...before, staticPods: [], endpoint: '/run/c.sock' },
    process: {
      invocationId: INVOCATION,
      key: keyOf(B),
      sinceUs: NOW_US - 11 * MINUTE_US,
      requests: 8,
      requestsSinceUs: NOW_US - 11 * MINUTE_US,
      answeredUs: { lease: NOW_US - 6 * MINUTE_US, node: NOW_US - 6 * MINUTE_US, pods: NOW_US - 6 * MINUTE_US },
      reachableSinceUs: NOW_US - 11 * MINUTE_US,
      lease: LEASE,
      node: { ...NODE, newPressure: [], problem: '' },
      pods: NO_POD_LOST,
      runtime: { ...SEEN, endpoint: '/run/c.sock', answers: true, detail: '' },
      serving: { ...SEEN, status: 403, detail: '' },
      staticPods: { missing: [], replaced: [], held: [], excused: [], provenAtUs: NOW_US, lastUs: NOW_US, problem: '' },
      ...facts,
    },
  }
}

/** A witness whose trial is over. */
function witness(facts: Partial<Snapshot>, staged: Partial<StagedContent> = {}): Snapshot {
  const { desired, ...rest } = wants(B)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  return inTrial({
    ...rest,
    desired: { ...desired, object: { ...desired.object, rollout: { record: 'record', plan: undefined } } },
    ...runs(B, { startedAgoUs: 11 * MINUTE_US }),
    health: health(B, { healthySinceUs: NOW_US - 10.5 * MINUTE_US, subjectSinceUs: NOW_US - 12 * MINUTE_US }),
    stagings: [
      {
        config: 'kube-system/b',
        record: 'record',
        arrival: 'there',
        waves: DEFAULT_PLAN.waves,
        contents: [{ hash: HASH, content: contentOf(B), started: true, ...staged }],
      },
    ],
    rollout: { config: 'kube-system/b', hash: HASH, turn: CLAIMED, confirmedAtUs: undefined, progress: undefined },
    ...facts,
  })
}

/** It has moved last-known-good, though the API server did not answer at the last look. */
const PROMOTED = { proven: keyOf(B), lastKnownGood: hold(B) }
const PROBLEM = evidence({ lease: { ...LEASE, problem: 'the API server does not answer' } })

const markedBy = (state: Snapshot) => {
  const step = nextStep(state)
  const effects = step.kind === 'wait' ? [] : effectsOf(step, state)
  return effects
    .flatMap((effect) => (effect.kind === 'write-stagings' ? effect.stagings : []))
    .at(0)
    ?.contents.at(-1)?.proved
}
const isProven = (state: Snapshot) => describeRolloutSubject(state)?.node.proven

t.test('a witness whose evidence is not known when its trial ends', async (t) => {
  const atEnd = witness({ evidence: PROBLEM })
  t.match(nextStep(atEnd), { kind: 'prove' }, 'passes all the same')
  t.notOk(markedBy(atEnd), 'without a proof')
  const later = witness({ ...PROMOTED, evidence: PROBLEM })
  t.match(nextStep(later), {
    kind: 'wait',
    phase: 'settled',
    detail: /cannot prove that to its rollout yet: lease: the API server does not/,
  })
  t.equal(isProven(later), false)
  t.ok(dueEvidence(later, undefined).questions.includes('lease'), 'it asks on')
  const known = witness({ ...PROMOTED, evidence: evidence() })
  t.match(nextStep(known), { kind: 'prove' })
  t.equal(markedBy(known), true, 'and proves it as soon as the evidence is known')
  const proved = witness({ ...PROMOTED, evidence: evidence() }, { proved: true })
  t.equal(isProven(proved), true)
  t.match(nextStep(proved), { kind: 'wait', phase: 'settled' })
})

t.test('where no kubelet ran before, there is nothing to compare with', async (t) => {
  const { baseline: _, ...taken } = evidence()
  const started = witness({ evidence: taken, restarts: [restartTo(B, { failed: true })] })
  t.equal(markedBy(started), true)
  const rebooted = witness({ evidence: taken, restarts: [] })
  t.notOk(markedBy(rebooted), 'what ran before a reboot is not known')
  const lost = { ...NO_POD_LOST, lost: [{ name: 'default/web', reason: 'Evicted' }] }
  const unread = witness({
    evidence: { ...taken, process: evidence({ lease: PROBLEM.process?.lease }).process },
    restarts: started.restarts,
  })
  t.notOk(markedBy(unread), 'the rest is needed')
  t.equal(markedBy(witness({ evidence: evidence({ pods: lost }), restarts: started.restarts })), undefined, 'a baseline counts')
})

t.test('evidence that says no after the trial gives no proof, and condemns nothing', async (t) => {
  const lost = { ...NO_POD_LOST, lost: [{ name: 'default/web', reason: 'Evicted' }] }
  const state = witness({ ...PROMOTED, evidence: evidence({ pods: lost }) })
  t.match(nextStep(state), { kind: 'wait', phase: 'settled', detail: /pods: a pod that ran before was lost/ })
})

t.test('what has a verdict against it is not proved, however healthy kubelet is with it again', async (t) => {
  // Everything has failed, and the node rests on it.
  const verdicts = [A, B, 'local'] as const
  const rests = assess(
    witness({ ...PROMOTED, evidence: evidence(), ...judged(...verdicts.map((source) => verdict(source, 'provisional'))) }),
  )
  if (!hasTarget(rests)) throw new Error('no target')
  t.match(rests.target, { source: B, atFault: true })
  t.equal(proveLate(rests), undefined)
})

t.test('what failed once and passes a trial again without evidence is not proven by the trial before', async (t) => {
  t.equal(markedBy(witness({ evidence: PROBLEM }, { proved: true })), false)
})

t.test('nothing is asked of a node that is settled, unless it owes a proof', async (t) => {
  for (const [what, state] of Object.entries({
    'a proof is given': witness({ ...PROMOTED, evidence: PROBLEM }, { proved: true }),
    'it has no claim': witness({
      ...PROMOTED,
      evidence: PROBLEM,
      rollout: { config: 'kube-system/b', hash: HASH, turn: { kind: 'go', detail: '' }, confirmedAtUs: undefined, progress: undefined },
    }),
    'the record is not known': witness({ ...PROMOTED, evidence: PROBLEM, rollout: undefined }),
    'there is no rollout': witness({ ...PROMOTED, evidence: PROBLEM, stagings: [], rollout: undefined }),
  }))
    t.same(dueEvidence(state, undefined), { questions: [], write: false }, what)
})

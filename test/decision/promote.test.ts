// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { carryOut } from '../../src/decision/carry-out.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { promote, proveLate } from '../../src/decision/promote.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import { describeRolloutSubject } from '../../src/decision/rollout-subject.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StagedContent } from '../../src/decision/staging-state.ts'
import type { Action } from '../../src/decision/step.ts'
import { assess, hasTarget } from '../../src/decision/target.ts'
import type { EvidenceRecord } from '../../src/evidence/kinds.ts'
import { dueEvidence } from '../../src/evidence/schedule.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import type { RolloutTurn } from '../../src/rollout/view.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  dataOf,
  decide,
  fallenBack,
  HOUR_US,
  health,
  hold,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  MINUTE_US,
  NOW_US,
  POLICY,
  restartTo,
  runs,
  startsWith,
  UPGRADED_KUBELET,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

const UNASKED = () => {
  throw new Error('nothing is asked')
}
const NOT_ASKED = { preflight: UNASKED, restart: UNASKED }

function decideAction(snapshot: Snapshot): Action {
  const step = nextStep(snapshot)
  if (step.kind === 'wait') throw new Error(step.detail)
  return step
}

t.test('the trial', async (t) => {
  t.match(nextStep(inTrial()), { kind: 'wait', phase: 'in-trial' })
  const over = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - POLICY.trialUs }) }
  t.match(nextStep(inTrial(over)), { kind: 'prove', key: keyOf(B) })
  t.match(nextStep(inTrial({ ...over, proven: keyOf(B) })), { kind: 'promote', target: hold(B), previous: A })
  t.match(nextStep(inTrial({ ...over, proven: keyOf(B), lastKnownGood: hold(B) })), { kind: 'wait', phase: 'settled' })

  t.test('a config that is tried again after a failure passes it again first', async (t) => {
    // B had proved itself, and could not be promoted before it failed: the disk was full.
    const failed = verdict(B, 'provisional', { doubtful: true })
    const retry = { kind: 'retry-failed', verdict: failed, number: 1, of: 3 } as const
    const { proven, suspendedVerdicts } = carryOut(inTrial({ proven: keyOf(B), ...judged(failed) }), retry, NOT_ASKED)
    t.match(nextStep(inTrial({ proven, suspendedVerdicts })), { kind: 'wait', phase: 'in-trial' })
    t.match(nextStep(inTrial({ ...over, proven, suspendedVerdicts })), { kind: 'prove', key: keyOf(B) })

    t.test('and has passed it then, also when it is started again', async (t) => {
      const restarted = { ...runs(B, { startedAgoUs: MINUTE_US }), health: health(B, { healthySinceUs: NOW_US - MINUTE_US }) }
      t.match(nextStep(inTrial({ ...restarted, proven: keyOf(B), suspendedVerdicts, lastKnownGood: hold(B) })), {
        kind: 'wait',
        phase: 'settled',
      })
    })
  })

  t.test('what has failed since it was promoted does not displace the fallback that works', async (t) => {
    const failed = { lastKnownGood: hold(C), previous: hold(A), ...judged(verdict(C, 'confirmed')) }
    const step = nextStep(inTrial({ ...over, proven: keyOf(B), ...failed }))
    t.equal(step.kind === 'promote' && step.previous, undefined)
  })

  t.test('a damaged last-known-good does not displace the fallback that works', async (t) => {
    const damaged = { lastKnownGood: hold('local'), previous: hold(A), damagedFallbacks: ['last-known-good'] } as const
    const step = nextStep(inTrial({ ...over, proven: keyOf(B), ...damaged }))
    t.match(step, { kind: 'promote', target: hold(B) })
    t.equal(step.kind === 'promote' && step.previous, undefined)
  })

  t.test('records that are damaged are whole again after it', async (t) => {
    const done = inTrial({ ...over, proven: keyOf(B) })
    for (const [damagedFallbacks, facts, previous] of [
      [['last-known-good'], { lastKnownGood: hold('local'), previous: hold(A) }, A],
      [['previous'], { lastKnownGood: hold(A), previous: hold('local') }, A],
      [['last-known-good', 'previous'], { lastKnownGood: hold('local'), previous: hold('local') }, 'local'],
    ] as const) {
      const damaged = { ...done, ...facts, damagedFallbacks }
      const seen = carryOut(damaged, decideAction(damaged), NOT_ASKED)
      t.match(seen, { lastKnownGood: hold(B), previous: hold(previous), damagedFallbacks: { length: 0 } }, damagedFallbacks.join())
    }
  })

  t.test('a damaged previous is written anew also where it would stay as it is', async (t) => {
    const damaged = { ...over, proven: keyOf(B), previous: hold('local'), damagedFallbacks: ['previous'] } as const
    const sameContent = { lastKnownGood: { source: C, content: hold(B).content } }
    for (const facts of [sameContent, { lastKnownGood: hold(C), ...judged(verdict(C, 'confirmed')) }]) {
      t.match(nextStep(inTrial({ ...damaged, ...facts })), { kind: 'promote', target: hold(B), previous: 'local' })
    }
  })

  t.test('a look is due when it ends', async (t) => {
    const almost = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - POLICY.trialUs + 1000 }) }
    t.match(nextStep(inTrial(almost)), { kind: 'wait', untilUs: NOW_US + 1000 })
  })

  t.test('nothing is promoted that does not run', async (t) => {
    const again = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), ...accepts(A), proven: keyOf(A) }
    t.match(decide({ ...again, ...startsWith(A), health: health(A, { started: false, healthySinceUs: undefined }) }), { kind: 'restart' })
  })

  t.test('nothing is promoted whose checkpoint is gone: it could not be what a node falls back to', async (t) => {
    const inPlace = { nextStart: { kind: 'known', held: { ...hold(B), onlyInPlace: true } } } as const
    t.not(nextStep(inTrial({ ...over, proven: keyOf(B), ...inPlace })).kind, 'promote')
  })

  t.test('nothing is promoted that has failed, also where the node rests on it since all has', async (t) => {
    const failed = judged(verdict(B, 'provisional'), verdict(A, 'provisional'), verdict('local', 'provisional'))
    const { running } = over
    if (running?.kind !== 'known') return t.fail('it does not run')
    const process = { ...running, wasHealthy: true, healthySinceUs: NOW_US - HOUR_US, unhealthySinceUs: undefined, exits: 0 }
    const situation = assess(inTrial({ ...over, health: { ...over.health, process }, ...failed }))
    t.match(situation.target, { source: B, fallback: false, atFault: true })
    t.equal(hasTarget(situation) && promote(situation), undefined)
  })

  t.test('a new kubelet reopens it, from its next start on', async (t) => {
    const upgraded = { unit: unit({ kubeletIdentity: UPGRADED_KUBELET }), health: undefined }
    t.match(decide(upgraded), { kind: 'wait', phase: 'in-trial', detail: /have changed since it started/ })
    const key = keyOf(A, UPGRADED_KUBELET)
    const started = runs(A, { kubelet: UPGRADED_KUBELET, unit: { kubeletIdentity: UPGRADED_KUBELET } })
    t.match(decide({ ...started, health: health(A, { subject: key, healthySinceUs: NOW_US - HOUR_US }) }), { kind: 'prove', key })
  })

  t.test('one that does not come to an end is said', async (t) => {
    t.match(nextStep(inTrial()), { detail: /^trial of kube-system\/b/ })
    const young = { healthySinceUs: NOW_US - MINUTE_US }
    t.match(nextStep(inTrial({ health: health(B, { ...young, starts: 6 }) })), { detail: /does not come to an end/ })
    t.match(nextStep(inTrial({ health: health(B, { ...young, subjectSinceUs: NOW_US - 2 * HOUR_US }) })), {
      detail: /does not come to an end/,
    })
  })

  t.test('last-known-good that runs as a fallback is proved, and stays what it is', async (t) => {
    const started = runs(A, { kubelet: UPGRADED_KUBELET, unit: { kubeletIdentity: UPGRADED_KUBELET } })
    const key = keyOf(A, UPGRADED_KUBELET)
    const facts = {
      ...started,
      health: health(A, { subject: key }),
      ...judged(verdict(B, 'confirmed', { key: keyOf(B, UPGRADED_KUBELET) })),
    }
    t.match(nextStep(fallenBack(facts)), { kind: 'prove', key })
    t.match(nextStep(fallenBack({ ...facts, proven: key })), { kind: 'wait', phase: 'fallen-back' })
    const previous = { lastKnownGood: hold(C), previous: hold(A), ...judged(verdict(B, 'confirmed'), verdict(C, 'confirmed')) }
    t.match(
      nextStep(fallenBack({ ...previous, proven: keyOf(C) })),
      { kind: 'wait', phase: 'fallen-back' },
      'previous is not promoted again',
    )
  })
})

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

/** B has moved last-known-good, though the API server did not answer at the last look. */
const PROMOTED = { proven: keyOf(B), lastKnownGood: hold(B) }
const PROBLEM = evidence({ lease: { ...LEASE, problem: 'the API server does not answer' } })

const markedBy = (state: Snapshot) => {
  const step = nextStep(state)
  const effects = step.kind === 'wait' ? [] : effectsOf(step, state)
  return effects
    .flatMap((effect) => (effect.kind === 'put' && effect.record === 'stagings' ? effect.value : []))
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
  t.match(nextStep(state), { kind: 'wait', phase: 'settled', detail: /pods: a pod failed: default\/web/ })
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

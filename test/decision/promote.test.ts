import t from 'tap'
import { carryOut } from '../../src/decision/carry-out.ts'
import { promote } from '../../src/decision/promote.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Action } from '../../src/decision/step.ts'
import { assess, hasTarget } from '../../src/decision/target.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  C,
  decide,
  fallenBack,
  HOUR_US,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  MINUTE_US,
  NOW_US,
  POLICY,
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
    // It had proved itself, and could not be promoted before it failed: the disk was full.
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

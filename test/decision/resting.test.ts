// SPDX-License-Identifier: Apache-2.0
/** What a node says while it rests, and when a kubelet runs on although its next start differs. */
import t from 'tap'
import { findLeftInPlace, findRunOn, restingPhase, restOn } from '../../src/decision/resting.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess, type Target, type TargetSituation } from '../../src/decision/target.ts'
import { ASSIGNED_DAMAGED } from '../../src/decision/wait.ts'
import {
  A,
  assignedTo,
  B,
  C,
  contentOf,
  fallenBack,
  HOUR_US,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  NOW_US,
  POLICY,
  runs,
  SECOND_US,
  snapshot,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

const NAME_A = 'kube-system/a:kubelet@1'
const NAME_B = 'kube-system/b:kubelet@1'
const DAMAGED = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
const GONE = { ...wants(B), assigned: { kind: 'source', source: B }, assignedContent: undefined } as const
const REFUSED = { ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'refused')) }

t.test('what a node says while it rests', async (t) => {
  const said = (of: Snapshot) => {
    const step = nextStep(of)
    return step.kind === 'wait' ? `${step.phase}: ${step.detail}` : step.kind
  }
  t.equal(said(snapshot()), `settled: ${NAME_A}`)
  const recentExits = Array.from({ length: 10 }, (_, index) => ({ key: keyOf(A), invocationId: `i-${index}`, atUs: NOW_US - 2 * HOUR_US }))
  t.match(said(snapshot({ health: health(A, { recentExits }) })), /^settled: kube-system\/a:kubelet@1; .*10/)
  t.equal(said(inTrial()), `in-trial: trial of ${NAME_B}`)
  t.equal(said(fallenBack()), `fallen-back: ${NAME_A} runs in place of what is assigned`)
  t.equal(said(snapshot(REFUSED)), `refused: ${NAME_A} runs in place of what is assigned`)
  const all = judged(...[B, A, 'local' as const].map((source) => verdict(source, 'provisional')))
  const rests = (facts: Partial<Snapshot>) => restOn(assess(snapshot({ ...all, ...facts })) as TargetSituation)
  const fault = `every config failed, so the node is at fault; resting on ${NAME_A}`
  const { phase, detail } = rests(assignedTo(B))
  t.equal(`${phase}: ${detail}`, `node-at-fault: ${fault}`)
  t.equal(rests(DAMAGED).detail, `${fault}; ${ASSIGNED_DAMAGED}`)
})

t.test('the end of a trial is waited for', async (t) => {
  const recurring = verdict(B, 'provisional', { recurring: true, suspended: true })
  const over = { health: health(B, { healthySinceUs: NOW_US - HOUR_US }), suspendedVerdicts: new Map([[keyOf(B), recurring]]) }
  t.equal(
    restOn(assess(inTrial({ ...runs(B), ...over })) as TargetSituation).detail,
    `trial of ${NAME_B} is over, but shows nothing: kubelet has exited again and again after one`,
  )
  const healthySinceUs = NOW_US - POLICY.trialUs + 2 * SECOND_US
  t.match(nextStep(inTrial({ ...runs(B), health: health(B, { healthySinceUs }) })), { phase: 'in-trial', untilUs: NOW_US + 2 * SECOND_US })
})

t.test('a node says that it was refused where that is all that was wrong', async (t) => {
  const phase = (facts: Partial<Snapshot>) => restingPhase(assess(snapshot(facts)) as TargetSituation)
  const onC = { lastKnownGood: hold(A), previous: hold(C), ...runs(C) }
  t.equal(phase({ ...REFUSED, ...onC, ...judged(verdict(B, 'refused'), verdict(A, 'refused')), policy: REPLACES }), 'refused')
  t.equal(phase({ ...REFUSED, ...onC, ...judged(verdict(B, 'refused'), verdict(A, 'provisional')), policy: REPLACES }), 'fallen-back')
  t.equal(phase(GONE), 'fallen-back', 'and not where the wanted one is gone')
})

const REPLACES = { ...POLICY, whenRefused: 'last-known-good' } as const
const TO_A: Target = { source: A, content: contentOf(A), key: keyOf(A), verdict: undefined, fallback: true, goesOn: false, atFault: false }
const TO_B: Target = { ...TO_A, source: B, content: contentOf(B), key: keyOf(B), fallback: false }
const TO_LOCAL: Target = { ...TO_A, source: 'local', content: 'local', key: keyOf('local'), fallback: false }
const RUNS_ON = `kubelet runs on, and its next start uses ${NAME_A}`

t.test('a kubelet that is well is not restarted for what was lost or refused', async (t) => {
  const find = (facts: Partial<Snapshot>, target: Target = TO_A) => {
    const seen = snapshot({ ...runs(C), health: undefined, ...facts })
    const situation = { ...assess(seen), unit: unit(seen.unit as object), target }
    return findRunOn(situation)?.detail
  }
  t.equal(find(GONE), `the checkpoint of the assigned config is gone: ${RUNS_ON}`)
  t.equal(find(REFUSED), `the assigned config was refused: ${RUNS_ON}`)
  const lost = { ...wants(B), ...assignedTo(B), ...runs(C) }
  t.equal(find(lost), undefined)
  const running = { ...snapshot(runs(C)).running, lost: true } as Snapshot['running']
  t.equal(find({ ...lost, running }), `the checkpoint of the running config is gone: ${RUNS_ON}`)
  t.equal(find(DAMAGED), ASSIGNED_DAMAGED)
  t.equal(find({ ...GONE, ...judged(verdict(C, 'provisional')) }), undefined, 'it has failed')
  const ill = health(C, { healthySinceUs: undefined, unhealthySinceUs: NOW_US - 2 * POLICY.toleranceUs })
  const process = { key: keyOf(C), invocationId: 'invocation-1', startedAtUs: 0, wasHealthy: true, healthySinceUs: undefined, exits: 0 }
  const hung = { ...ill, process: { ...process, unhealthySinceUs: ill.unhealthySinceUs } }
  t.equal(find({ ...GONE, health: hung }), undefined, 'or hangs')
  t.equal(find({ ...GONE, unit: unit({ activity: 'starting' }) }), undefined, 'it has not started')
  for (const kind of ['none', 'unknown'] as const) t.equal(find({ ...GONE, running: { kind, detail: '' } }), undefined, kind)
  t.equal(find({ ...GONE, ...runs(A) }), undefined, 'it is what is to run')
  t.equal(find(REFUSED, TO_B), undefined, 'a new assignment restarts it')
  t.equal(find(GONE, TO_LOCAL), undefined, 'and so does a return to local')
})

t.test('what is in place is left there while nobody knows what runs', async (t) => {
  const unknown = { nextStart: { kind: 'unknown', detail: 'EIO' }, running: { kind: 'unknown', detail: '' } } as const
  const find = (facts: Partial<Snapshot>, target: Target = TO_A) => {
    const seen = snapshot({ ...GONE, ...unknown, ...facts })
    return findLeftInPlace({ ...assess(seen), unit: unit(seen.unit as object), target })?.detail
  }
  t.equal(find({}), 'kubelet runs on with what is in place: EIO')
  t.equal(find({ nextStart: { kind: 'known', held: hold(C) } }), undefined)
  t.equal(find({ nextStart: { ...unknown.nextStart, absent: true } }), undefined)
  t.equal(find({ running: { kind: 'none' } }), undefined)
  t.equal(find({ unit: unit({ activity: 'starting' }) }), undefined)
  t.equal(find({ healthz: { ok: false, detail: 'refused' } }), undefined)
  t.equal(find({}, { ...TO_A, fallback: false }), undefined)
})

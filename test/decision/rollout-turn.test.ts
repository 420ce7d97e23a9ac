// SPDX-License-Identifier: Apache-2.0
/**
 * A node whose assigned config goes by a rollout: what runs without a turn, and what waits for one.
 */
import t from 'tap'
import { isOutOfReach } from '../../src/decision/condemn-failure.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import { describeRolloutSubject } from '../../src/decision/rollout-subject.ts'
import {
  describeStartWait,
  findRolloutTurn,
  findStartWait,
  isAwaitedByOthers,
  isInRollout,
  isOwnEdit,
  owesProof,
} from '../../src/decision/rollout-turn.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { RolloutKnowledge, StagedContent, Staging } from '../../src/decision/staging-state.ts'
import { assess } from '../../src/decision/target.ts'
import { findAwaited, findEndUs } from '../../src/decision/wait.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import type { RolloutTurn } from '../../src/rollout/view.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  crashing,
  dataOf,
  decide,
  HOUR_US,
  health,
  hold,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  lost,
  MINUTE_US,
  NOW_US,
  restartTo,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

type Facts = Partial<Snapshot>

const HALTED: RolloutTurn = { kind: 'halted', detail: 'halted, since it failed on node-2' }
const GO: RolloutTurn = { kind: 'go', detail: 'stage 5 of 6 (50 %)' }

const hashOf = (source: ConfigMapSource) => hashConfig(dataOf(source), source.kubeletConfigKey)

/** The source is assigned and accepted, and goes by a rollout. */
function staged(source: ConfigMapSource, contentFacts: Partial<StagedContent> = {}): Facts {
  const { desired } = wants(source)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const contents = [{ hash: hashOf(source), content: contentOf(source), ...contentFacts }]
  return {
    ...wants(source),
    desired: { ...desired, object: { ...desired.object, rollout: { record: 'rollout', plan: undefined } } },
    ...assignedTo(source),
    ...accepts(A, source),
    stagings: [{ config: `kube-system/${source.name}`, record: 'rollout', arrival: 'there', waves: DEFAULT_PLAN.waves, contents }],
  }
}

function turn(source: ConfigMapSource, what: RolloutTurn, confirmedAtUs?: number): { rollout: RolloutKnowledge } {
  return { rollout: { config: `kube-system/${source.name}`, hash: hashOf(source), turn: what, confirmedAtUs, progress: undefined } }
}

const readinessOf = (facts: Facts) => describeRolloutSubject(snapshot(facts))?.node.ready

const SICK = {
  wasHealthy: false,
  healthySinceUs: undefined,
  unhealthySinceUs: NOW_US - 9 * MINUTE_US,
  subjectSinceUs: NOW_US - 9 * MINUTE_US,
}
/** A has failed after it had passed a trial; it is tried again while something else is healthy. */
const A_FAILED = verdict('local', 'provisional', {
  key: keyOf(A),
  source: A,
  doubtful: true,
  bootId: BOOT,
  atWallMs: 1_700_000_000_000 - 3 * 3_600_000,
})
const ON_LOCAL = { ...startsWith('local'), ...runs('local'), health: health('local', { healthySinceUs: NOW_US - HOUR_US }) }

t.test('every config of a node has failed, and the fix goes by a rollout', async (t) => {
  const all = judged(verdict(A, 'provisional'), verdict('local', 'provisional'))
  const startedAgain = restartTo(A, { failed: true, atUs: NOW_US - 5 * SECOND_US })
  for (const [what, facts] of [
    ['A crashes', crashing(A, { ...SICK, exits: 5 })],
    ['systemd gave A up', { ...runsNothing('failed'), health: health(A, { ...SICK, exits: 5 }), restarts: [startedAgain] }],
    ['A runs and is ill', { health: health(A, SICK), healthz: { ok: false, detail: 'refused' } }],
    ['local runs and is ill', { ...startsWith('local'), ...runs('local'), health: health('local', SICK), lastKnownGood: hold('local') }],
  ] as const) {
    const trouble = { ...staged(C), ...all, ...facts }
    t.same(readinessOf(trouble), { ok: true }, `${what}: it may begin the rollout, or claim`)
    t.same(readinessOf({ ...trouble, ...turn(C, GO) }), { ok: true }, `${what}: its turn is confirmed`)
    t.match(decide({ ...trouble, ...turn(C, GO, NOW_US) }), { kind: 'activate', target: C }, `${what}: it takes the fix with its turn`)
    t.match(
      decide({ ...trouble, ...turn(C, HALTED) }),
      { detail: /the rollout of .* is halted: .*halted, since/ },
      `${what}: or says what it waits for`,
    )
  }
  const stopped = { ...staged(C), ...all, ...runsNothing('stopped') }
  t.match(readinessOf(stopped), { ok: false, detail: /kubelet is stopped/ }, 'a kubelet that a person stopped proves nothing')
  const unchecked = { ...staged(C), ...all, health: health(A, SICK), accepted: new Map() }
  t.match(decide({ ...unchecked, ...turn(C, HALTED) }), { kind: 'preflight', source: C }, 'it is checked while it waits')
})

t.test('last-known-good needs no turn', async (t) => {
  const all = judged(verdict(A, 'provisional'), verdict('local', 'provisional'))
  const assigned = { ...staged(A, { promoted: true }), ...startsWith('local') }
  for (const what of [GO, HALTED]) {
    const rest = { ...assigned, ...all, ...turn(A, what) }
    t.match(decide({ ...rest, ...runs('local'), health: health('local', SICK) }), { kind: 'activate', target: A }, 'every config failed')
    t.match(decide({ ...rest, ...crashing('local') }), { kind: 'activate', target: A }, 'also while local crashes')
    t.match(decide({ ...assigned, ...turn(A, what), ...ON_LOCAL }), { kind: 'activate', target: A }, 'what failed is tried again')
  }
  t.match(decide({ ...assigned, ...ON_LOCAL }), { kind: 'activate', target: A }, 'the record was never read')
})

t.test('a content that is held has no say in where the node falls back', async (t) => {
  const held = { ...staged(C), ...turn(C, HALTED) }
  t.match(decide(held), { kind: 'wait', phase: 'rollout', detail: /the rollout of .* is halted/ })
  const failing = crashing(A, { ...SICK, exits: 5, lastNRestarts: 5, triedAgainUs: NOW_US - HOUR_US })
  t.match(decide({ ...held, ...failing }), { kind: 'condemn', verdict: { source: A }, next: 'local' }, 'what runs fails')
  t.match(decide({ ...held, ...failing, ...judged(A_FAILED) }), { kind: 'activate', target: 'local' }, 'the node falls back')
  const key = keyOf(C)
  const target = { source: C, content: contentOf(C), key, verdict: undefined, fallback: false, goesOn: false, atFault: false }
  t.equal(isOutOfReach(snapshot(held), target), true, 'nothing waits for it')
  t.equal(findEndUs(snapshot(held), 'rollout', target), undefined, 'nor does its wait end by itself')
  for (const unread of [{ rollout: undefined }, { rollout: undefined, stagings: [], desired: wants(C).desired }])
    t.equal(findEndUs(snapshot({ ...held, ...unread }), 'rollout', target), undefined)
  const later = snapshot({ ...staged(C), ...turn(C, { kind: 'wait-until', atUs: NOW_US + 1, detail: 'stage 2 of 6' }) })
  t.equal(findEndUs(later, 'rollout', target), NOW_US + 1, 'as that for the next stage does')
  t.equal(findAwaited(later, 'rollout').waitUntilUs, undefined, 'which each node moves that takes the config')
  t.equal(isOutOfReach(snapshot({ ...staged(C), ...turn(C, GO, NOW_US) }), target), false, 'until its turn comes')

  const fallenBack = { ...held, ...judged(A_FAILED), ...ON_LOCAL }
  t.match(decide(fallenBack), { kind: 'retry-failed', verdict: { source: A } }, 'and tries again what had proved itself')
  const early = judged({ ...A_FAILED, atWallMs: 1_700_000_000_000 })
  const soon = health('local', { healthySinceUs: NOW_US - 2 * MINUTE_US })
  const notYet = { ...fallenBack, ...early, health: soon }
  t.match(decide(notYet), { kind: 'wait', phase: 'fallen-back', detail: /is tried again .*; the rollout of .* is halted/ }, 'not at once')
  t.match(decide({ ...notYet, accepted: new Map() }), { kind: 'preflight', source: C }, 'while it is checked')
  const suspended = { ...held, ...ON_LOCAL, suspendedVerdicts: new Map([[keyOf(A), { ...A_FAILED, suspended: true }]]) }
  t.match(decide(suspended), { kind: 'activate', target: A }, 'which is activated')
  t.match(decide({ ...suspended, ...startsWith(A) }), { kind: 'restart', to: A, record: { fallback: true } }, 'and started')
  t.match(decide({ ...held, ...ON_LOCAL }), { kind: 'activate', target: A }, 'also where an operator dropped the verdict')
  t.match(decide({ ...held, ...ON_LOCAL, lastKnownGood: hold('local') }), { phase: 'rollout' }, 'a node that was never elsewhere stays')

  const rolledBack = { ...held, requests: { hold: 'none', retry: false, rollback: { content: contentOf(A) } } } as const
  t.match(decide(rolledBack), { kind: 'condemn', verdict: { source: A }, next: 'local' }, 'nor where an operator rolls it back to')
})

t.test('what runs in its own right goes on while its successor is held', async (t) => {
  const inTrial = { ...startsWith(B), ...runs(B, { startedAgoUs: 11 * MINUTE_US }) }
  const held = { ...staged(C), ...turn(C, HALTED), ...inTrial }
  const young = health(B, { healthySinceUs: NOW_US - 5 * MINUTE_US, subjectSinceUs: NOW_US - 6 * MINUTE_US })
  t.match(decide({ ...held, health: young }), { kind: 'wait', phase: 'rollout' }, 'its trial')
  t.match(
    decide({ ...held, previous: hold(B), restarts: [restartTo(B)], health: young }),
    { kind: 'wait', phase: 'rollout' },
    'also where it was the config before',
  )
  t.match(
    decide({ ...held, previous: hold(B), restarts: [restartTo(B, { fallback: true })], health: young }),
    { kind: 'activate', target: A },
    'but not a fallback, once the better one is to be tried again',
  )
  const administrators = { kind: 'known', content: 'other:/etc/kubelet.yaml', key: 'other', startedAtUs: 0, invocationId: 'i' } as const
  t.match(decide({ ...staged(C), ...turn(C, HALTED), running: administrators }), { kind: 'wait' }, 'what an administrator runs')
  const between = { ...held, ...accepts(A, B, C), ...runsNothing('auto-restart'), health: young }
  t.match(decide(between), { kind: 'wait', phase: 'rollout' }, 'also between two starts')
  t.match(
    decide({ ...held, health: young, ...judged(verdict(C, 'refused')) }),
    { kind: 'wait', phase: 'in-trial' },
    'what is refused has no turn',
  )
  const gone = { kind: 'known', held: lost(B) } as const
  t.match(decide({ ...held, nextStart: gone }), { kind: 'activate', target: A }, 'but a next start that is lost is replaced')
})

t.test('which config waits for its turn, and what stands in for it', async (t) => {
  const held: Facts = { ...staged(C), ...turn(C, HALTED) }
  const found = (facts: Facts) => assess(snapshot(facts))
  t.match(found(held).awaitingTurn, { source: C, fallback: false, goesOn: false, atFault: false })
  t.equal(found({ ...held, assignedContent: undefined }).awaitingTurn, undefined, 'not one whose checkpoint is gone')
  const sources = found({ ...held, previous: lost(B) }).candidates.map(({ source }) => source)
  t.same(sources, [A, 'local'], 'and no fallback whose checkpoint is gone')

  const nothing = { kind: 'unknown', detail: '' } as const
  t.match(found({ ...held, ...runsNothing('failed'), nextStart: nothing }).target, { source: A }, 'nothing runs, or is known to start next')
  const unconfirmed: Facts = { ...staged(C), ...turn(C, GO, NOW_US - MINUTE_US) }
  t.match(found(unconfirmed).awaitingTurn, { source: C }, 'one whose turn is read again')
  t.match(found({ ...unconfirmed, nextStart: nothing }).awaitingTurn, { source: C })

  const administrators = { ...held, ...runs(B), nextStart: { kind: 'known', held: hold('local') } } as const
  t.equal(found(administrators).awaitingTurn, undefined, 'nothing waits while an administrator runs something else')
  const { running } = runs(B)
  if (running?.kind !== 'known') throw new Error('it runs')
  t.match(found({ ...administrators, running: { ...running, lost: true } }).awaitingTurn, { source: C }, 'but where its checkpoint is gone')

  const inTrial = { ...held, ...startsWith(B), ...runs(B) }
  t.match(
    found({ ...inTrial, restarts: [restartTo(A, { fallback: true })] }).target,
    { source: B, goesOn: true },
    'the last fallback was another',
  )
})

t.test('what was activated is started with a turn that holds only', async (t) => {
  const activated = { ...staged(B), ...startsWith(B), health: health(B, { started: false, subjectSinceUs: NOW_US - 30 * SECOND_US }) }
  t.match(decide({ ...activated, ...turn(B, GO, NOW_US) }), { kind: 'restart', to: B })
  const old = { ...activated, ...turn(B, GO, NOW_US - MINUTE_US) }
  t.match(decide(old), { kind: 'wait', phase: 'rollout', detail: /confirms the turn/ }, 'a turn that was read long ago')
  t.same(readinessOf(old), { ok: true }, 'is confirmed')
  for (const [what, rollout] of [
    ['it was halted meanwhile', turn(B, HALTED)],
    ['the record was never read', {}],
  ] as const) {
    t.match(decide({ ...activated, ...rollout }), { kind: 'activate', target: A }, `${what}: the next start goes back to what runs`)
    const down = { ...activated, ...rollout, ...runsNothing('failed') }
    t.match(decide(down), { kind: 'activate', target: A }, `${what}: also while nothing runs`)
  }
  const edited = { ...activated, ...staged(C), ...turn(C, HALTED) }
  t.match(decide(edited), { kind: 'activate', target: A }, 'an edit in between')
  t.match(decide({ ...edited, ...turn(C, GO, NOW_US) }), { kind: 'activate', target: C })

  const started = { ...activated, ...turn(B, HALTED), health: health(B, { healthySinceUs: NOW_US - MINUTE_US }) }
  t.match(
    decide({ ...started, ...runsNothing('auto-restart') }),
    { kind: 'wait', phase: 'in-trial' },
    'what was started goes on with its trial',
  )
  t.match(decide({ ...started, ...staged(B, { started: true }), ...runs(B) }), { kind: 'wait', phase: 'in-trial' }, 'as does what runs')
  const booted = { ...activated, ...turn(B, HALTED), ...runsNothing('stopped'), health: undefined }
  t.match(decide({ ...booted, ...staged(B, { started: true }) }), { kind: 'wait' }, 'also over a reboot')
  t.match(decide(booted), { kind: 'activate', target: A }, 'and what was not goes back')

  const full = { step: 'activate' as const, about: 'ConfigMap kube-system/a@1', detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }
  const stuck = decide({
    ...activated,
    ...turn(B, HALTED),
    ...judged(verdict(A, 'provisional')),
    troubles: [full, { ...full, about: 'local' }],
  })
  t.equal(stuck.kind, 'wait', 'also where the next start cannot be changed')
})

t.test('whether it was started is kept on disk', async (t) => {
  const running = { ...startsWith(B), ...runs(B), ...turn(B, HALTED), health: health(B) }
  const seen = snapshot({ ...staged(B), ...running })
  const step = nextStep(seen)
  if (step.kind !== 'record-staging') throw new Error(`${step.kind} is decided`)
  const stagings = effectsOf(step, seen).flatMap((effect) => (effect.kind === 'put' && effect.record === 'stagings' ? effect.value : []))
  t.match(stagings, [{ contents: [{ content: contentOf(B), started: true }] }])
  t.not(decide({ ...staged(B), ...running, stagings }).kind, 'record-staging', 'once')

  const before = snapshot({ ...staged(B, { started: true }), ...turn(B, GO, NOW_US) })
  const activate = nextStep(before)
  if (activate.kind !== 'activate') throw new Error(`${activate.kind} is decided`)
  t.match(
    effectsOf(activate, before).find((effect) => effect.kind === 'put' && effect.record === 'stagings'),
    { value: [{ contents: [{ started: false }] }] },
    'what is activated again has to be started again',
  )

  const [staging] = staged(B).stagings ?? []
  if (staging === undefined) throw new Error('nothing is staged')
  const other = { hash: hashOf(B), content: contentOf(A) }
  const overlaid = { ...before, stagings: [{ ...staging, contents: [other, ...staging.contents] }] }
  const marked = effectsOf(activate, overlaid).flatMap((effect) =>
    effect.kind === 'put' && effect.record === 'stagings' ? effect.value : [],
  )
  t.match(marked, [{ contents: [other, { content: contentOf(B), ownEdit: true }] }], 'and so is that only the overlay was edited')
})

t.test('a node that refuses the content claims no place, and halts nothing: others may know the kind of its text', async (t) => {
  const refused = { ...staged(C), ...judged(verdict(C, 'refused')) }
  for (const facts of [refused, { ...refused, ...turn(C, GO) }]) {
    const node = describeRolloutSubject(snapshot(facts))?.node
    t.match(node?.ready, { ok: false })
    t.equal(node?.verdict, undefined, 'no veto: it was never started')
    t.not(decide(facts).kind, 'activate')
  }
})

t.test('another overlay on a content that kubelet runs is only spread, whatever its rollout says', async (t) => {
  const before = { hash: hashOf(B), content: contentOf(A) }
  const [staging] = staged(B).stagings ?? []
  if (staging === undefined) throw new Error('nothing is staged')
  const overlaid = { ...staged(B), stagings: [{ ...staging, contents: [before, ...staging.contents] }], ...turn(B, GO, NOW_US) }
  const spread = { bootId: BOOT, source: B, sinceUs: NOW_US }
  t.match(decide({ ...overlaid, spread }), { kind: 'wait', phase: 'spread' })
  t.match(readinessOf({ ...overlaid, spread }), { ok: false, detail: 'kubelet runs it' }, 'it claims no place for that')
  t.match(decide({ ...overlaid, spread: { ...spread, sinceUs: NOW_US - HOUR_US } }), { kind: 'activate', target: B })
  const over = { ...spread, sinceUs: NOW_US - HOUR_US }
  for (const [what, rollout] of [
    ['it is halted', turn(B, HALTED)],
    ['the record was never read', { rollout: undefined }],
  ] as const) {
    t.match(decide({ ...overlaid, ...rollout, spread }), { kind: 'wait', phase: 'spread' }, what)
    t.match(decide({ ...overlaid, ...rollout, spread: over }), { kind: 'activate', target: B }, what)
    const activated = { ...overlaid, ...rollout, ...startsWith(B), health: health(B, { started: false }) }
    t.match(decide(activated), { kind: 'restart', to: B }, `${what}: what was activated is started`)
    t.not(decide({ ...activated, ...runsNothing('auto-restart') }).kind, 'activate', `${what}: and stays while nothing runs`)
    t.match(
      decide({ ...overlaid, ...rollout, ...ON_LOCAL, lastKnownGood: hold('local'), spread: over }),
      { phase: 'rollout' },
      `${what}: not where something else runs`,
    )
  }
  const other = { ...overlaid, ...staged(B) }
  t.match(decide({ ...other, spread }), { kind: 'activate', target: B }, 'a rollout spreads another content by itself')
  const settling = { ...other, spread: { ...over, factsSinceUs: NOW_US } }
  t.match(decide(settling), { phase: 'spread', detail: /the facts/ }, 'but facts settle in a rollout too')
  t.match(readinessOf(settling), { ok: false, detail: /the facts/ }, 'before the node claims a place')
  const hidden = { hash: hashOf(A), content: contentOf(A) }
  const unhidden = {
    ...overlaid,
    stagings: [{ ...staging, contents: [hidden, before, ...staging.contents] }],
    ...turn(B, HALTED),
    spread: over,
  }
  t.match(decide(unhidden), { phase: 'rollout' }, 'an overlay hid the edit of the cluster: taking it away needs a turn')
  t.match(readinessOf(unhidden), { ok: true })
  const down = { ...LOCAL_EVERYWHERE, ...overlaid, spread, ...startsWith(A), ...crashing(A, { exits: 9 }) }
  t.match(decide(down), { kind: 'activate', target: B }, 'a kubelet that fails does not wait')
})

t.test('a node that has its turn and cannot start says why, not that it reads the record once more', async (t) => {
  const facts = { ...staged(B), ...startsWith(B), ...runsNothing('stopped') }
  const unready: RolloutTurn = { ...GO, unready: 'kubelet is stopped' }
  t.match(decide({ ...facts, ...turn(B, unready) }), { phase: 'rollout', detail: /cannot start it now: kubelet is stopped/ })
  t.match(decide({ ...facts, ...turn(B, GO) }), { phase: 'rollout', detail: /the agent confirms the turn/ })
})

t.test('a node tells its rollout of a failure, unless the content of the rollout has worked here otherwise', async (t) => {
  const failed = { ...staged(B, { ownEdit: true }), ...judged(verdict(B, 'confirmed')) }
  const [staging] = failed.stagings ?? []
  if (staging === undefined) throw new Error('nothing is staged')
  const verdictWith = (...before: readonly StagedContent[]) =>
    describeRolloutSubject(snapshot({ ...failed, stagings: [{ ...staging, contents: [...before, ...staging.contents] }] }))?.node.verdict
  const other = { hash: hashOf(B), content: contentOf(A) }
  t.match(verdictWith(), { reason: 'crash-loop: said in a test', retry: 0 })
  t.ok(verdictWith(other), 'another overlay, whose trial was not over')
  t.ok(verdictWith({ ...other, hash: hashOf(A), proved: true, promoted: true }), 'another content of the config')
  t.equal(verdictWith({ ...other, proved: true }), undefined, 'another overlay, whose trial passed: the overlay is at fault')
  t.equal(verdictWith({ ...other, promoted: true }), undefined, 'another overlay, which was last-known-good')
  t.ok(describeRolloutSubject(snapshot({ ...failed, ...staged(B, { proved: true, promoted: true }) }))?.node.verdict, 'the very content')
  const worked = [{ ...staging, contents: [{ ...other, proved: true }, ...staging.contents.map((one) => ({ ...one, ownEdit: false }))] }]
  t.ok(
    describeRolloutSubject(snapshot({ ...failed, stagings: worked }))?.node.verdict,
    'what came by its turn: others may have the same local config or overlay',
  )
})

t.test('a content that was last-known-good starts again only with the same kubelet and the same retry', async (t) => {
  const { unit } = snapshot({})
  if (unit.kind !== 'known') throw new Error('there is no unit')
  const nodeWith = (facts: Partial<StagedContent>) => describeRolloutSubject(snapshot(staged(B, facts)))?.node
  const same = { promoted: true, promotedOn: unit.kubeletIdentity }
  t.match(nodeWith(same), { promoted: true, workedBefore: true })
  t.match(nodeWith({ ...same, promotedOn: 'kubelet before' }), { promoted: false, workedBefore: true })
  t.match(nodeWith({ promoted: true }), { promoted: false, workedBefore: true }, 'as an earlier agent wrote it')
})

t.test('a node is young for the time of the spread after its creation, and for a quarter of an hour at least', async (t) => {
  const { now } = snapshot({})
  const isYoung = (createdMs: number | undefined, plan?: string) => {
    const facts = staged(B)
    if (facts.desired?.kind !== 'config-map' || facts.desired.object.kind !== 'found') throw new Error('nothing is assigned')
    const object = { ...facts.desired.object, rollout: { record: 'rollout', plan } }
    const node = { uid: 'uid', canary: false, controlPlane: false, createdMs }
    return describeRolloutSubject(snapshot({ ...facts, desired: { ...facts.desired, object, node } }))?.node.young
  }
  t.equal(isYoung(now.wallMs - 1_799_000, 'spread: 30m'), true)
  t.equal(isYoung(now.wallMs - 1_801_000, 'spread: 30m'), undefined)
  for (const plan of [undefined, 'spread: 0s']) {
    t.equal(isYoung(now.wallMs - 899_000, plan), true)
    t.equal(isYoung(now.wallMs - 901_000, plan), undefined)
  }
  t.equal(isYoung(now.wallMs + 899_000), true, 'its clock is behind')
  t.equal(isYoung(now.wallMs + 3_600_000), undefined, 'its clock is wrong')
  t.equal(isYoung(undefined), undefined)
})

t.test('the zone of a node is what the label says that the plan names, or named when it saw the content', async (t) => {
  const zoneWith = (plan: string | undefined, kept: Partial<Staging>) => {
    const facts = staged(B)
    if (facts.desired?.kind !== 'config-map' || facts.desired.object.kind !== 'found') throw new Error('nothing is assigned')
    const object = { ...facts.desired.object, rollout: { record: 'rollout', plan } }
    const labels = { 'topology.kubernetes.io/zone': 'a', 'example.com/rack': 'r7' }
    const node = { uid: 'uid', canary: false, controlPlane: false, labels }
    const stagings = (facts.stagings ?? []).map(({ waves: _, ...staging }) => ({ ...staging, ...kept }))
    return describeRolloutSubject(snapshot({ ...facts, stagings, desired: { ...facts.desired, object, node } }))?.node.zone
  }
  const rack = { label: 'example.com/rack', zones: ['r7'] }
  t.equal(zoneWith(undefined, {}), undefined)
  t.same(zoneWith('zones: [a, b]', {}), { label: 'topology.kubernetes.io/zone', value: 'a' })
  t.same(zoneWith('zones: [a], zoneLabel: example.com/rack', {}), { label: 'example.com/rack', value: 'r7' })
  t.equal(zoneWith('zones: [a], zoneLabel: toString', {}), undefined)
  t.same(zoneWith('zones: [a, b]', { waves: [100], zones: rack }), { label: 'example.com/rack', value: 'r7' })
  t.equal(zoneWith('zones: [a, b]', { waves: [100] }), undefined, 'it had none then')
})

t.test('a decision on what the watch shows knows of a pause', async (t) => {
  const seenWith = (paused: { readonly on: 'ConfigMap'; readonly by: string } | undefined) => {
    const facts = staged(B)
    if (facts.desired?.kind !== 'config-map') throw new Error('nothing is assigned')
    const channelState = { channel: 'annotation', problem: undefined, paused } as const
    const desired = { ...facts.desired, channelState }
    return describeRolloutSubject(snapshot({ ...facts, desired }))?.seen.paused
  }
  t.same(seenWith({ on: 'ConfigMap', by: 'an annotation' }), { on: 'ConfigMap', by: 'an annotation' })
  t.equal(seenWith(undefined), undefined)
})

t.test('a content that was last-known-good with another overlay worked before, and is new all the same', async (t) => {
  const [staging] = staged(B).stagings ?? []
  if (staging === undefined) throw new Error('nothing is staged')
  const nodeWith = (...before: readonly StagedContent[]) =>
    describeRolloutSubject(snapshot({ ...staged(B), stagings: [{ ...staging, contents: [...before, ...staging.contents] }] }))?.node
  t.match(nodeWith(), { promoted: false, workedBefore: false })
  t.match(nodeWith({ hash: hashOf(B), content: contentOf(A), promoted: true }), { promoted: false, workedBefore: true })
  t.match(nodeWith({ hash: hashOf(A), content: contentOf(A), promoted: true }), { promoted: false, workedBefore: false })
})

t.test('while a record is damaged that could forbid it, nothing new starts until the cluster is read', async (t) => {
  const unread = { desired: { kind: 'unknown', detail: 'not asked yet' }, desiredContent: undefined, storedContent: undefined } as const
  const forgotten = { ...assignedTo(C), ...accepts(A, C), stagings: [], ...unread }
  t.match(decide(forgotten), { kind: 'activate', target: C }, 'no record is damaged: it has no rollout')
  for (const [what, damaged, detail] of [
    ['rollouts', { stagingsDamaged: true }, /kube-system\/c.* is not started yet: .*meta\/rollouts was damaged/],
    ['heard', { channelStateDamaged: true }, /kube-system\/c.* is not started yet: .*meta\/heard was damaged/],
  ] as const) {
    const held = { ...forgotten, ...damaged }
    t.match(decide(held), { kind: 'wait', phase: 'rollout', detail }, what)
    t.match(
      decide({ ...held, ...startsWith(C), health: health(C, { started: false }) }),
      { kind: 'activate', target: A },
      'nor was it started',
    )
    t.match(decide({ ...held, accepted: new Map() }), { kind: 'preflight', source: C }, 'it is checked meanwhile')
    const failing = crashing(A, { ...SICK, exits: 5, lastNRestarts: 5, triedAgainUs: NOW_US - HOUR_US })
    t.match(decide({ ...held, ...failing }), { kind: 'condemn', verdict: { source: A }, next: 'local' }, 'what runs fails')
    t.match(decide({ ...held, ...failing, ...judged(A_FAILED) }), { kind: 'activate', target: 'local' }, 'the node falls back')
    const inPlace = { ...held, ...startsWith(C), ...runsNothing('failed'), health: health(C, { started: false }) }
    t.match(decide(inPlace), { kind: 'restart', to: C }, 'what is in place, and the only one to start, is not undone')
    const failed = crashing(C, { ...SICK, exits: 5, lastNRestarts: 5 })
    t.match(decide({ ...held, ...startsWith(C), ...failed }), { kind: 'condemn', verdict: { source: C }, next: A }, 'it fails itself')
    t.match(decide({ ...held, ...assignedTo('local'), ...accepts('local') }), { kind: 'activate', target: 'local' }, 'local has no rollout')
    t.match(decide({ ...held, ...assignedTo(A) }), { kind: 'wait', phase: 'settled' }, 'what runs')
  }
  t.match(decide({ ...forgotten, stagingsDamaged: true, ...wants(C) }), { kind: 'record-staging' }, 'its ConfigMap was read')
  const recorded = effectsOf(
    { kind: 'record-staging', source: C, object: objectOf(C) },
    snapshot({ ...forgotten, stagingsDamaged: true, ...wants(C) }),
  )
  t.same(recorded, [{ kind: 'put', record: 'stagings', value: [] }], 'and has no rollout')
  const isStaged = { ...staged(C), stagings: [], stagingsDamaged: true }
  t.match(decide(isStaged), { kind: 'record-staging' }, 'or it has one')
  const trouble = { step: 'record-staging', about: '', detail: 'ENOSPC', retryAtUs: NOW_US + SECOND_US } as const
  t.match(decide({ ...isStaged, troubles: [trouble] }), { kind: 'wait', phase: 'rollout' }, 'that cannot be written down')
})

function objectOf(source: ConfigMapSource) {
  const { desired } = wants(source)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  return desired.object
}

/** A rollout as its record shows it. */
function progress(finished: boolean): NonNullable<RolloutKnowledge['progress']> {
  const counts = { stage: 1, lastStage: 6, openPercent: 10, proofs: 0, needed: 1, claimed: [], silent: [], vetoes: [] }
  return { generation: 1, ...counts, finished, halted: false }
}

function staging(source: ConfigMapSource, ...contents: readonly StagedContent[]): { stagings: readonly Staging[] } {
  return { stagings: [{ config: `kube-system/${source.name}`, record: 'rollout', arrival: 'there', contents }] }
}

const OF_B: StagedContent = { hash: hashOf(B), content: contentOf(B) }
/** Of C's text, under the name of B. */
const OTHER: StagedContent = { hash: hashOf(C), content: contentOf(C) }

t.test('what is known of the turn of a config', async (t) => {
  const turnOf = (facts: Facts, source: ConfigMapSource | 'local' = B, content = contentOf(B)) =>
    findRolloutTurn(snapshot({ ...staged(B), ...facts }), source, content)
  const unread = { kind: 'wait', detail: 'the record of its rollout has not been read yet' }
  t.strictSame(turnOf({}), unread)
  t.equal(turnOf({ stagings: [] }), undefined, 'it has no rollout')
  t.equal(turnOf({}, 'local'), undefined, 'nor has local')
  const { rollout } = turn(B, GO, NOW_US)
  t.equal(turnOf({ rollout }), rollout.turn)
  for (const other of [{ config: 'kube-system/c' }, { hash: hashOf(C) }])
    t.strictSame(turnOf({ rollout: { ...rollout, ...other } }), unread, 'what was read is about another')
  t.strictSame(turnOf({ rollout }, B, contentOf(C)), unread, 'another content')

  t.equal(turnOf(turn(B, GO, NOW_US - 10 * SECOND_US))?.kind, 'go', 'a turn counts for ten seconds')
  const confirms = { kind: 'wait', detail: 'the agent confirms the turn with a fresh read of the record and the config' }
  t.strictSame(turnOf(turn(B, GO, NOW_US - 10 * SECOND_US - 1)), confirms)
  t.strictSame(turnOf(turn(B, GO)), confirms)
  const unready = { kind: 'wait', detail: 'this node has its turn, but cannot start it now: kubelet is stopped' }
  t.strictSame(turnOf(turn(B, { ...GO, unready: 'kubelet is stopped' })), unready)
  t.equal(turnOf(turn(B, HALTED)), HALTED, 'no is no, however old')

  const requested = staging(B, { ...OF_B, requested: true })
  const go = { kind: 'go', detail: 'an operator requested it on the node' }
  t.strictSame(turnOf({ ...requested, ...turn(B, HALTED) }), go)
  t.strictSame(turnOf({ ...requested, ...turn(B, HALTED) }, B, contentOf(C)), unread, 'but nothing else than that')
})

t.test('what waits for a turn, or for the end of a pause', async (t) => {
  const waits = (facts: Facts, source: ConfigMapSource | 'local' = B) =>
    findStartWait(snapshot({ ...staged(B), ...turn(B, HALTED), ...facts }), { source, content: contentOf(source) })
  t.strictSame(waits({}), { turn: HALTED, isBeingConfirmed: false })
  t.equal(waits(turn(B, GO, NOW_US)), undefined, 'its turn has come')
  t.match(waits(turn(B, GO)), { isBeingConfirmed: true }, 'or is confirmed')
  const { rollout } = turn(B, GO, NOW_US)
  t.match(waits({ rollout: { ...rollout, hash: hashOf(C) } }), { isBeingConfirmed: false }, 'which is of another content')
  const told = waits({})
  t.equal(told && describeStartWait('it', told), `the rollout of it is halted: ${HALTED.detail}`)
  const unread = waits({ rollout: undefined })
  t.equal(unread && describeStartWait('it', unread), 'it waits for its rollout: the record of its rollout has not been read yet')

  t.test('but no fallback, nor what runs or has run', async (t) => {
    const { stagings } = staging(C, OTHER)
    t.equal(waits({ ...staging(B, OF_B), stagings, previous: hold(C) }, C), undefined, 'a fallback')
    t.equal(waits({ ...staging(B, OF_B), stagings, assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined }, C), undefined)
    t.equal(waits({ lastKnownGood: hold(B) }), undefined, 'last-known-good')
    t.equal(waits(runs(B)), undefined, 'it runs')
    const down = { ...startsWith(B), ...runsNothing('auto-restart') }
    t.equal(waits({ ...down, health: health(B) }), undefined, 'it was started')
    t.ok(waits({ ...down, health: health(B, { started: false }) }), 'it was never started')
    const started = staging(B, OTHER, { ...OF_B, started: true })
    t.equal(waits({ ...down, ...started, health: undefined }), undefined, 'it was started before the boot')
    t.ok(waits({ ...down, ...staging(B, { ...OTHER, started: true }, OF_B), health: undefined }), 'another content was')
    t.ok(waits({ ...started, ...runsNothing('auto-restart'), health: undefined }), 'and left since')
    t.ok(waits({ ...started, ...startsWith(B), health: health(B) }), 'and something else has run since')
    t.ok(waits({ ...down, nextStart: { kind: 'unknown', detail: '' }, health: health(B) }), 'nobody knows what is in place')
  })

  t.test('a pause of its ConfigMap holds what is new, too', async (t) => {
    const channelState = { channel: 'label', paused: { on: 'ConfigMap', by: 'its label' }, problem: undefined } as const
    const paused = { stagings: [], rollout: undefined, desired: { ...wants(B).desired, channelState } }
    const turnOfPause = { kind: 'wait', detail: 'paused by its label' }
    const found = waits(paused)
    t.strictSame(found, { turn: turnOfPause, isBeingConfirmed: false, isPaused: true })
    t.equal(found && describeStartWait('it', found), 'paused by its label; wanted is it')
    t.equal(waits({ ...paused, ...runs(B) }), undefined, 'but not what runs')
    t.equal(waits({ ...paused, ...assignedTo('local') }, 'local'), undefined, 'nor local, which is no version of it')
  })
})

t.test('a change of nothing but the overlay of this node', async (t) => {
  const isOwn = (facts: Facts) => isOwnEdit(snapshot({ ...staged(B), ...facts }), B)
  const before = { hash: hashOf(B), content: contentOf(A) }
  const overlaid = staging(B, before, OF_B)
  t.equal(isOwn(overlaid), true, 'it tells the content from what runs')
  t.equal(isOwn({ ...overlaid, ...runs(C) }), false, 'which may be another config than last-known-good')
  t.equal(isOwn({ ...overlaid, ...runsNothing('failed') }), true, 'and where nothing runs from that')
  t.equal(isOwn({ ...staging(B, before), ...assignedTo(B) }), false, 'it is not known of what the new content is made')
  t.equal(isOwn({ stagings: [] }), false)
})

t.test('other nodes wait for what this one has to say', async (t) => {
  const { rollout } = turn(B, GO)
  const known: Facts = { ...staging(B, OF_B), rollout: { ...rollout, progress: progress(false) } }
  const awaited = (facts: Facts) => isAwaitedByOthers(snapshot({ ...known, ...facts }), B, contentOf(B))
  t.equal(awaited({}), true, 'in its rollout')
  const of = (facts: Partial<RolloutKnowledge>) => ({ rollout: { ...rollout, progress: progress(false), ...facts } })
  const not: Record<string, Facts> = {
    'it has none': { stagings: [] },
    'another content is staged, and in its rollout': { ...staging(B, OF_B, OTHER), ...of({ hash: hashOf(C) }) },
    'it was last-known-good here': staging(B, { ...OF_B, promoted: true }),
    'it has worked here with another overlay': staging(
      B,
      { hash: hashOf(B), content: contentOf(A), proved: true },
      { ...OF_B, ownEdit: true },
    ),
    'the record was not read': { rollout: undefined },
    'nor for it': of({ progress: undefined }),
    'but for another config': of({ config: 'kube-system/c' }),
    'or content': of({ hash: hashOf(C) }),
    'it is over': of({ progress: progress(true) }),
  }
  for (const [what, facts] of Object.entries(not)) t.equal(awaited(facts), false, what)
})

t.test('a failure would be told to a rollout that is not known to be over', async (t) => {
  const { rollout } = turn(B, GO)
  const over = { ...rollout, progress: progress(true) }
  const isIn = (facts: Facts, content = contentOf(B)) =>
    isInRollout({ ...staging(B, OF_B), rollout: over, ...facts } as Pick<Snapshot, 'stagings' | 'rollout'>, B, content)
  t.equal(isIn({}), false)
  t.equal(isIn({ rollout: { ...rollout, progress: progress(false) } }), true)
  t.equal(isIn({ rollout }), true, 'how far it is was not read')
  t.equal(isIn({ rollout: undefined }), true, 'nor anything')
  t.equal(isIn({ rollout: { ...over, hash: hashOf(C) } }), true, 'the record is about another content')
  t.equal(isIn({ rollout: { ...over, config: 'kube-system/c' } }), true)
  t.equal(isIn({ stagings: [], rollout }), false, 'it has no rollout')
  t.equal(isIn({ rollout }, contentOf(C)), false, 'another content has')
})

t.test('a proof is owed for what runs, and has passed its trial', async (t) => {
  const asks: RolloutTurn = { kind: 'go', detail: '', asks: 'proof' }
  const claimed: Facts = { ...staged(B), ...startsWith(B), ...runs(B), ...turn(B, asks), proven: keyOf(B) }
  const owes = (facts: Facts) => owesProof(snapshot({ ...claimed, ...facts }))
  t.equal(owes({}), true)
  const { rollout } = turn(B, asks)
  const not: Record<string, Facts> = {
    'nothing runs': runsNothing('failed'),
    'what is assigned is not known': { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined },
    'the record was not read': { rollout: undefined },
    'it has no rollout': { stagings: [] },
    'another content runs, which has passed': { ...runs(A), proven: keyOf(A) },
    'it has not passed': { proven: keyOf(A) },
    'it was proved': staging(B, { ...OF_B, proved: true }),
    'the record is about another config': { rollout: { ...rollout, config: 'kube-system/c' } },
    'or about another content': { rollout: { ...rollout, hash: hashOf(C) } },
    'it may start, and has no claim yet': turn(B, GO),
    'the node has to ask for evidence first': turn(B, { kind: 'wait', detail: '', asks: 'evidence' }),
  }
  for (const [what, facts] of Object.entries(not)) t.equal(owes(facts), false, what)
})

t.test('a damaged memory of rollouts holds what may have one', async (t) => {
  const held = (facts: Facts, source: ConfigMapSource | 'local' = C) =>
    findStartWait(snapshot({ ...staged(C), stagings: [], stagingsDamaged: true, ...facts }), { source, content: contentOf(source) })
  const { desired } = staged(C)
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const { object } = desired
  const saying = (record: string | undefined) => ({
    desired: { ...desired, object: { ...object, rollout: { record, plan: undefined } } },
  })
  t.match(held({}), { turn: { kind: 'wait', detail: /^meta\/rollouts was damaged/ }, isBeingConfirmed: false, isInDoubt: true })
  t.equal(held(saying(undefined)), undefined, 'its ConfigMap has none')
  t.equal(held(saying('off')), undefined)
  t.equal(held(wants(C)), undefined, 'nor a word of one')
  t.ok(held({ desired: wants(B).desired }), 'another ConfigMap says nothing of it')
  t.ok(held({ desired: { ...desired, object: { kind: 'pending' } } }), 'nor one that was not read')
  t.ok(held({ desired: { kind: 'unknown', detail: '' } }))
  t.equal(held({ ...assignedTo('local'), desired: { kind: 'local' } }, 'local'), undefined, 'local has no rollout')
})

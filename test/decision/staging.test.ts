// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { foldEffects } from '../../src/decision/carry-out.ts'
import type { Effect, StateEffect } from '../../src/decision/effects.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import { describeRolloutSubject } from '../../src/decision/rollout-subject.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { findLatest, hasSameHash, hasWorkedOtherwise, latestContent, planHere, stageAssigned } from '../../src/decision/staging.ts'
import type { StagedContent, Staging } from '../../src/decision/staging-state.ts'
import type { Action } from '../../src/decision/step.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import { identityOfKey, trialKey } from '../../src/subject/trial-key.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  C,
  contentOf,
  dataOf,
  hold,
  inTrial,
  judged,
  keyOf,
  lost,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

/** The config is B's: its contents are told apart by their names. */
const CONFIG = 'kube-system/b'
const REST = { config: CONFIG, record: 'record', arrival: 'there' } as const

const PROGRESS = {
  ...{ generation: 3, stage: 4, lastStage: 5, openPercent: 50, proofs: 0, needed: 5 },
  ...{ claimed: [], silent: [], vetoes: [], finished: false, halted: false },
}

/** One content that was assigned. */
function staged(facts: Partial<StagedContent> = {}, source: ConfigMapSource = B): StagedContent {
  return { hash: hashConfig(dataOf(source), 'kubelet'), content: contentOf(source), ...facts }
}

function staging(...contents: readonly StagedContent[]): { stagings: readonly Staging[] } {
  return { stagings: [{ ...REST, contents }] }
}

/** Assigned, with this plan in its rollout. */
function wantsStaged(plan?: string, source: ConfigMapSource = B): Partial<Snapshot> {
  const { desired, ...rest } = wants(source)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  return { ...rest, desired: { ...desired, object: { ...desired.object, rollout: { record: 'record', plan } } } }
}

function stageWith(facts: Partial<Snapshot>): StagedContent | undefined {
  const state = snapshot({ ...assignedTo(B), ...facts })
  const { desired } = state
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const after = stageAssigned(state, B, desired.object)?.find(({ config }) => config === CONFIG)
  return after && latestContent(after)
}

/** The effects of the step that this node takes. */
function effectsFor(facts: Partial<Snapshot>): readonly Effect[] {
  const state = snapshot(facts)
  const step = nextStep(state)
  return step.kind === 'wait' ? [] : effectsOf(step, state)
}

function markedIn(effects: readonly Effect[]): StagedContent | undefined {
  const [written] = effects.flatMap((effect) => (effect.kind === 'put' && effect.record === 'stagings' ? effect.value : []))
  return written && latestContent(written)
}

const other = (facts: Partial<StagedContent> = {}): StagedContent => ({ hash: 'other', content: 'content-other', ...facts })

t.test('retry of the plan counts for one content', async (t) => {
  await t.test('an edit whose plan has none begins at 0', async (t) => {
    const { retry = 0 } = stageWith({ ...wantsStaged(), ...staging(other({ retry: 1 })) }) ?? {}
    t.equal(retry, 0)
  })

  await t.test('so that raising it lifts the verdict on the edit', async (t) => {
    const failed = { ...assignedTo(B), ...accepts(A, B), ...judged(verdict(B, 'confirmed')) }
    const effects = effectsFor({ ...failed, ...wantsStaged('retry: 1'), ...staging(other({ retry: 1 }), staged()) })
    t.match(
      effects.find(({ kind }) => kind === 'remove-verdict'),
      { key: keyOf(B) },
    )
    t.equal(markedIn(effects)?.retry, 1)
  })

  await t.test('a content that comes back keeps its own', async (t) => {
    t.equal(stageWith({ ...wantsStaged(), ...staging(staged({ retry: 2 }), other()) })?.retry, 2)
    t.equal(stageWith({ ...wantsStaged('retry: 3'), ...staging(staged({ retry: 2 }), other({ retry: 3 })) })?.retry, 3)
  })

  await t.test('raising it asks for a whole trial, and notes nothing else', async (t) => {
    const raised = (facts: Partial<StagedContent>) => stageWith({ ...wantsStaged('retry: 1'), ...staging(staged(facts)) })
    t.strictSame(raised({}), staged({ retry: 1 }))
    t.strictSame(raised({ proved: true }), staged({ retry: 1, proved: false }))
  })

  await t.test('lowered and raised again, it lifts nothing', async (t) => {
    const failed = { ...assignedTo(B), ...accepts(A, B), ...judged(verdict(B, 'confirmed')) }
    t.equal(stageWith({ ...failed, ...wantsStaged(), ...staging(staged({ retry: 1 })) })?.retry, 1)
    t.same(
      effectsFor({ ...failed, ...wantsStaged('retry: 1'), ...staging(staged({ retry: 1 })) }).filter(
        ({ kind }) => kind === 'remove-verdict',
      ),
      [],
    )
  })
})

t.test('what an operator requests on the node is kept, wherever its writing is cut off', async (t) => {
  const requests = { hold: 'none', rollback: undefined, retry: true } as const
  const failed = { ...assignedTo(B), ...accepts(A, B), ...judged(verdict(B, 'confirmed')), ...wantsStaged(), ...staging(staged()) }
  const before = snapshot({ ...failed, requests })
  const step = nextStep(before)
  if (step.kind === 'wait') throw new Error('nothing is done')
  const effects = effectsOf(step, before).filter((effect) => effect.kind !== 'run-preflight' && effect.kind !== 'restart-kubelet')
  for (const written of effects.keys()) {
    const cut = foldEffects(before, effects.slice(0, written))
    const again = nextStep(cut)
    const after = again.kind === 'wait' ? cut : foldEffects(cut, effectsOf(again, cut) as readonly StateEffect[])
    t.equal(after.stagings?.[0]?.contents[0]?.requested, true, `after ${written} of ${effects.length} effects`)
    t.equal(after.verdicts.size, 0)
  }
})

t.test('what an operator requested on the node counts until', async (t) => {
  await t.test('it fails', async (t) => {
    const crashed = { unit: { ...inTrial().unit, activity: 'failed', process: { kind: 'none' } }, running: { kind: 'none' } } as const
    const effects = effectsFor({ ...inTrial(), ...wantsStaged(), ...crashed, ...staging(staged({ requested: true, proved: true })) })
    t.ok(
      effects.some(({ kind }) => kind === 'write-verdict'),
      'it is condemned',
    )
    t.match(markedIn(effects), { requested: false, proved: false })
  })

  await t.test('retry is raised in the plan', async (t) => {
    const failed = { ...assignedTo(B), ...accepts(A, B), ...judged(verdict(B, 'confirmed')), proven: keyOf(B) }
    const effects = effectsFor({ ...failed, ...wantsStaged('retry: 1'), ...staging(staged({ requested: true, proved: true })) })
    t.match(markedIn(effects), { requested: false, proved: false })
    t.match(
      effects.find((effect) => effect.kind === 'put' && effect.record === 'proven'),
      { value: undefined },
      'and a whole trial has to pass again',
    )
  })

  await t.test('another content is assigned', async (t) => {
    t.notOk(stageWith({ ...wantsStaged(), ...staging(staged({ requested: true }), other()) })?.requested)
    t.ok(stageWith({ ...wantsStaged(), ...staging(staged({ requested: true })) })?.requested, 'but not while it stays assigned')
  })
})

t.test('the log says which record the config has, also when the annotation names another', async (t) => {
  const wanted = wantsStaged()
  const { desired } = wanted
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const { object } = desired
  const logged = (record: string, before: readonly Staging[]) => {
    const state = snapshot({ ...assignedTo(B), ...wanted, stagings: before })
    const effects = effectsOf({ kind: 'record-staging', source: B, object: { ...object, rollout: { record, plan: undefined } } }, state)
    return effects.flatMap((effect) => (effect.kind === 'log' ? effect.message : []))
  }
  const known = [{ ...REST, contents: [staged()] }]
  t.same(logged('record', []), [`ConfigMap ${CONFIG} has a rollout: the record is record`])
  t.same(logged('another', known), [`ConfigMap ${CONFIG} has a rollout: the record is another`])
  t.same(logged('off', known), [`ConfigMap ${CONFIG} no longer has a rollout: its changes are spread`])
})

t.test('a content is last-known-good of the kubelet with which its trial passed, until retry is raised', async (t) => {
  const promoted = staged({ promoted: true, promotedOn: 'kubelet' })
  t.equal(stageWith({ ...wantsStaged('retry: 1'), ...staging(promoted) })?.promotedOn, undefined)
  t.match(stageWith({ ...wantsStaged(), ...staging(promoted) }), { promotedOn: 'kubelet' })
  const state = snapshot({ ...assignedTo(B), ...staging(staged()), proven: keyOf(B) })
  const step = { kind: 'promote', target: { source: B, content: contentOf(B) }, previous: undefined } as const
  t.match(markedIn(effectsOf(step, state)), { promoted: true, promotedOn: identityOfKey(keyOf(B)) })
  const upgraded = trialKey(contentOf(B), 'upgraded')
  const again = snapshot({ ...assignedTo(B), ...staging(promoted), lastKnownGood: hold(B) })
  t.match(markedIn(effectsOf({ kind: 'prove', key: upgraded }, again)), { promotedOn: 'upgraded' })
})

t.test('a content that is activated is of the generation that brought it before it was last-known-good', async (t) => {
  const step = { kind: 'activate', target: B, fallback: undefined, wiring: { ok: true } } as unknown as Action
  const promotedOn = identityOfKey(keyOf(B))
  const markedWith = (before: Partial<StagedContent>, hash = staged().hash) => {
    const rollout = { config: CONFIG, hash, turn: { kind: 'go', detail: '' }, confirmedAtUs: undefined, progress: PROGRESS } as const
    const facts = { ...assignedTo(B), ...staging(staged({ started: true, ...before })), rollout }
    return markedIn(effectsOf(step, snapshot(facts)))?.broughtIn
  }
  t.equal(markedWith({}), PROGRESS.generation)
  t.equal(markedWith({ broughtIn: 1 }), PROGRESS.generation, 'it had not passed')
  t.equal(markedWith({ broughtIn: 1 }, 'other'), undefined, 'which is not known')
  t.equal(markedWith({ broughtIn: 1, promotedOn }), 1, 'a revert brings it again')
  t.equal(markedWith({ promotedOn }), 0, 'after another rollout, of which an earlier agent did not write')
  t.equal(markedWith({ broughtIn: 1, promotedOn: 'kubelet before' }), PROGRESS.generation, 'to another kubelet it is new')
  const raised = { ...wantsStaged('retry: 1'), ...staging(staged({ promotedOn, broughtIn: 1 })) }
  t.equal(stageWith(raised)?.broughtIn, undefined, 'and while it runs, when retry is raised')
})

t.test('a node keeps on disk when a content failed first, as long as the verdict stands', async (t) => {
  const failed = { ...wantsStaged(), ...judged(verdict(B, 'confirmed')) }
  const { hash } = staged()
  const turn = { kind: 'wait', detail: '' } as const
  const told = (when: 'late' | 'in-rollout') => ({
    rollout: { config: CONFIG, hash, turn, confirmedAtUs: undefined, failed: when, progress: undefined },
  })
  t.equal(stageWith({ ...failed, ...staging(staged()) })?.failed, undefined)
  t.equal(stageWith({ ...failed, ...staging(staged()), ...told('late') })?.failed, 'late')
  const ofAnother = { rollout: { ...told('late').rollout, hash: 'other' } }
  t.equal(stageWith({ ...failed, ...staging(staged()), ...ofAnother })?.failed, undefined, 'not when another content did')
  t.equal(stageWith({ ...failed, ...staging(staged({ failed: 'in-rollout' })), ...told('late') })?.failed, 'late', 'once it is over')
  t.equal(stageWith({ ...failed, ...staging(staged({ failed: 'late' })), ...told('in-rollout') })?.failed, 'late', 'and stays so')
  t.equal(stageWith({ ...failed, ...staging(staged({ failed: 'late' }), other()) })?.failed, 'late', 'and comes back')
  t.equal(stageWith({ ...wantsStaged(), ...staging(staged({ failed: 'late' })), ...told('late') })?.failed, undefined)
  const late = (when: 'late' | 'in-rollout') =>
    describeRolloutSubject(snapshot({ ...assignedTo(B), ...failed, ...staging(staged({ failed: when })) }))?.node.verdict?.late
  t.same([late('late'), late('in-rollout')], [true, false])
})

t.test('a node keeps on disk that its veto halted a rollout, as long as the verdict stands', async (t) => {
  const failed = { ...wantsStaged(), ...judged(verdict(B, 'confirmed')) }
  const told = (when: 'late' | 'in-rollout' | undefined, halted: boolean) => {
    const rest = { config: CONFIG, hash: staged().hash, turn: { kind: 'wait', detail: '' }, confirmedAtUs: undefined } as const
    return { rollout: { ...rest, failed: when, progress: { ...PROGRESS, halted } } }
  }
  const halted = staged({ failed: 'in-rollout', halted: true })
  t.match(stageWith({ ...failed, ...staging(staged()), ...told('in-rollout', true) }), halted)
  t.equal(stageWith({ ...failed, ...staging(staged()), ...told(undefined, true) })?.halted, undefined, 'not that of another node')
  t.match(stageWith({ ...failed, ...staging(halted), ...told('in-rollout', false) }), halted, 'also of a record that lost it')
  t.equal(stageWith({ ...failed, ...staging(halted), ...told('late', false) })?.halted, undefined, 'until the rollout went on')
  t.equal(stageWith({ ...wantsStaged(), ...staging(halted) })?.halted, undefined)
  const { verdict: subject } = describeRolloutSubject(snapshot({ ...assignedTo(B), ...failed, ...staging(halted) }))?.node ?? {}
  t.match(subject, { late: false, halted: true })
})

t.test('what had proved itself and failed is marked also where the disk refused that when it failed', async (t) => {
  const proved = { ...wantsStaged(), ...staging(staged({ proved: true, requested: true })) }
  for (const state of ['provisional', 'confirmed'] as const)
    t.match(stageWith({ ...proved, ...judged(verdict(B, state)) }), { proved: false, requested: false }, state)
  const kept = { proved: true, requested: true }
  t.match(stageWith({ ...proved, ...judged(verdict(B, 'refused')) }), kept, 'not what preflight refused, which did not fail')
  t.match(
    stageWith({ ...proved, ...judged({ ...verdict(B, 'confirmed'), key: keyOf(B, 'kubelet-v0') }) }),
    kept,
    'nor what another kubelet failed with',
  )
  const unit = { kind: 'unknown', detail: 'no answer' } as const
  for (const mark of ['proved', 'requested'] as const)
    t.match(stageWith({ ...proved, ...staging(staged({ [mark]: true })), ...judged(verdict(B, 'confirmed')) }), { [mark]: false }, mark)
  const oneWay = judged({ ...verdict(B, 'confirmed'), damage: 'one-way' })
  t.match(stageWith({ ...proved, ...oneWay, unit }), kept, 'nor, whatever it failed with, while systemd does not answer')
  t.match(stageWith({ ...proved, ...judged(verdict(B, 'confirmed')), unit }), kept, 'nor while it is not known which kubelet is installed')
})

t.test('a config that comes back is another assignment of it', async (t) => {
  const at = (facts: Partial<Snapshot>, before: readonly Staging[]) => {
    const state = snapshot({ ...assignedTo(B), ...wantsStaged(), stagings: before, ...facts })
    const { desired } = state
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
    return stageAssigned(state, B, desired.object)?.[0]?.assignment
  }
  const known = [{ ...REST, assignment: 3, contents: [staged()] }]
  t.equal(at({}, known), 3)
  t.equal(at(assignedTo(A), known), 4)
  t.equal(at(assignedTo(A), []), 1)
})

t.test('a node keeps on disk with which waves it saw a rollout first', async (t) => {
  const at = (plan: string | undefined, before: Partial<Staging> = {}, facts: Partial<Snapshot> = {}) => {
    const stagings: readonly Staging[] = [{ ...REST, contents: [staged()], ...before }]
    const state = snapshot({ ...assignedTo(B), ...wantsStaged(plan), stagings, ...facts })
    const { desired } = state
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
    return stageAssigned(state, B, desired.object)?.[0]?.waves
  }
  const waves = [25, 100]
  t.same(at('waves: [25%]'), waves)
  t.same(at('waves: [100%]', { waves }), waves, 'however they are edited')
  t.same(at('waves: none', { waves }), waves)
  t.same(at('waves: none'), undefined, 'but not while they cannot be read')
  t.same(at('waves: [100%], retry: 1', { waves }), [100], 'until retry is raised')
  t.same(at('waves: [100%]', { waves, contents: [other()] }), [100], 'or another content is assigned')
  t.same(at('waves: [100%]', { waves }, assignedTo(A)), [100], 'or the config')
})

t.test('so it does with the zones', async (t) => {
  const at = (plan: string | undefined, before: Partial<Staging> = {}) => {
    const state = snapshot({ ...assignedTo(B), ...wantsStaged(plan), stagings: [{ ...REST, contents: [staged()], ...before }] })
    const { desired } = state
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
    return stageAssigned(state, B, desired.object)?.[0]?.zones
  }
  const zones = { label: 'topology.kubernetes.io/zone', zones: ['a', 'b'] }
  const waves = [25, 100]
  t.same(at('zones: [a, b]'), zones)
  t.same(at('zones: [b, a]', { waves, zones }), zones, 'however they are edited')
  t.same(at('waves: [25%]', { waves, zones }), zones)
  t.equal(at('zones: [a, b]', { waves }), undefined, 'and that there were none')
  t.same(at('zones: [a, b], retry: 1', { waves }), zones, 'until retry is raised')
})

t.test('a node that switched to the config keeps on disk that it saw a rollout that was not finished', async (t) => {
  const { hash } = staged()
  const knows = (finished: boolean, of = hash) => ({
    rollout: {
      ...{ config: CONFIG, hash: of, confirmedAtUs: undefined },
      turn: { kind: 'wait', detail: '' } as const,
      progress: { ...PROGRESS, finished },
    },
  })
  const at = (facts: Partial<Snapshot>, before: Partial<Staging> = {}) => {
    const stagings: readonly Staging[] = [{ ...REST, arrival: 'switched', contents: [staged()], ...before }]
    const state = snapshot({ ...assignedTo(B), ...wantsStaged(), stagings, ...facts })
    const { desired } = state
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
    return stageAssigned(state, B, desired.object)?.[0]?.sawUnfinished
  }
  t.equal(at({}), undefined)
  t.equal(at(knows(true)), undefined)
  t.equal(at(knows(false, 'other')), undefined, 'of another content')
  t.equal(at({ rollout: { ...knows(false).rollout, progress: undefined } }), undefined, 'of which nothing can be read')
  t.equal(at(knows(false), { contents: [] }), undefined, 'or where none was recorded')
  t.equal(at(knows(false)), true)
  t.equal(at({}, { sawUnfinished: true }), true, 'after a reboot')
  t.equal(at({}, { sawUnfinished: true, contents: [other()] }), undefined, 'until an edit')
  t.equal(at(assignedTo(A), { sawUnfinished: true }), undefined, 'or until the config switches anew')
  t.equal(at(knows(false), { arrival: 'there' }), undefined, 'no other node needs it')
})

function stagedBy(facts: Partial<Snapshot>): readonly Staging[] | undefined {
  const state = snapshot({ ...wantsStaged(), ...facts })
  const { desired } = state
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  return stageAssigned(state, B, desired.object)
}

t.test('what a node remembers of a rollout', async (t) => {
  const ofA = { ...REST, config: 'kube-system/a', contents: [staged({}, A)] }
  const first = stagedBy({ ...assignedTo(A), ...startsWith(A), stagings: [ofA] })
  const waves = DEFAULT_PLAN.waves
  const fresh = { config: CONFIG, record: 'record', arrival: 'switched', assignment: 1, waves, contents: [staged()] }
  t.strictSame(first, [ofA, fresh], 'beside the rollouts of other configs')
  t.equal(findLatest({ stagings: [{ ...REST, contents: [] }] }, B), undefined, 'a record that holds no content says nothing')
  t.strictSame(stageWith({ ...wants(B), ...staging(staged()) }), staged(), 'an annotation that is gone ends nothing')
  const many = Array.from({ length: 25 }, (_, index) => other({ hash: `hash-${index}` }))
  const kept = stagedBy({ ...assignedTo(B), ...staging(...many) })?.[0]?.contents.map(({ hash }) => hash)
  t.strictSame(kept, [...many.slice(6).map(({ hash }) => hash), staged().hash], 'the last twenty contents')
  t.equal(stageWith({ ...wantsStaged(), ...staging(staged()), ...runs(B) })?.started, true, 'that kubelet runs it')
  t.equal(stageWith({ ...wantsStaged(), ...staging(staged()), ...runsNothing('failed') })?.started, undefined)
})

t.test('how a config came to this node', async (t) => {
  const arrivalOf = (facts: Partial<Snapshot>) => stagedBy(facts)?.find(({ config }) => config === CONFIG)?.arrival
  const onLocal = { ...assignedTo('local'), ...startsWith('local') }
  const unknown = { kind: 'unknown', detail: '' } as const
  const before = (arrival: Staging['arrival'], ...contents: readonly StagedContent[]) => ({ stagings: [{ ...REST, arrival, contents }] })
  t.equal(arrivalOf(onLocal), 'joined', 'with the first answer of the cluster')
  t.equal(arrivalOf({ ...onLocal, nextStart: unknown }), 'joined')
  const answered = { recordedChannelState: { channel: undefined, paused: undefined, problem: undefined, nodeHash: 'said' } }
  t.equal(arrivalOf({ ...onLocal, ...answered }), 'switched', 'from local')
  const older = { recordedChannelState: { ...answered.recordedChannelState, nodeHash: undefined } }
  t.equal(arrivalOf({ ...onLocal, ...older }), 'joined', 'an earlier agent did not note an answer')
  t.equal(arrivalOf({}), 'switched', 'from another config')
  const damaged = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
  t.equal(arrivalOf({ ...damaged, ...startsWith(A) }), 'switched', 'or from nobody knows which')
  t.equal(arrivalOf({ ...damaged, ...startsWith(B) }), 'there', 'kubelet starts with it already')
  t.equal(arrivalOf(startsWith(B)), 'there')

  t.equal(arrivalOf({ ...assignedTo(B), ...before('switched', staged()), ...startsWith(B) }), 'switched', 'as it did before')
  t.equal(arrivalOf({ ...assignedTo(B), ...before('joined', other()) }), 'joined', 'an edit of what has not started yet')
  t.equal(arrivalOf({ ...assignedTo(B), ...before('joined', other()), ...startsWith(B) }), 'there', 'an edit of what has')
  t.equal(arrivalOf({ ...assignedTo(B), ...before('joined') }), 'joined')
  t.equal(arrivalOf(assignedTo(B)), 'there', 'its rollout begins while the node uses it')
  t.equal(arrivalOf({ ...before('joined', staged()), ...startsWith(C) }), 'switched', 'it comes back from another')
})

t.test('whether a content has worked here with another overlay', async (t) => {
  const [own, before] = [staged({ ownEdit: true }), other({ hash: staged().hash, proved: true })]
  t.equal(hasWorkedOtherwise({ ...REST, contents: [before, own] }, own), true)
  const proved = { ...own, proved: true }
  t.equal(hasWorkedOtherwise({ ...REST, contents: [proved] }, proved), false, 'its own trial says nothing of others')
})

t.test('whether nothing but the overlay differs from what kubelet starts with', async (t) => {
  const { hash } = staged()
  const overlaid = staging(other({ hash, content: contentOf(A) }), staged())
  const isSame = (facts: Partial<Snapshot>) => hasSameHash(snapshot({ ...overlaid, ...facts }), { source: B, content: contentOf(B) })
  t.equal(isSame({}), true)
  t.equal(isSame(staging(other({ content: contentOf(A) }), staged())), false, 'it was made of another text')
  t.equal(isSame(staging(other({ hash, content: contentOf(A) }), other({ content: contentOf(A) }), staged())), false, 'lately')
  t.equal(isSame(staging(staged())), false, 'what kubelet starts with is of another config')
  t.equal(isSame(staging(other())), false, 'nothing is known of either')
  t.equal(isSame({ stagings: [] }), false)
  t.equal(isSame({ stagings: [], nextStart: { kind: 'known', held: lost(A) } }), false)
  t.equal(isSame({ nextStart: { kind: 'unknown', detail: '' } }), false)
})

t.test('a node goes by the waves and zones that it began a rollout with', async (t) => {
  const zones = { label: 'zone', zones: ['a'] }
  const plan = { ...DEFAULT_PLAN, waves: [50, 100] }
  const here = (stagings: readonly Staging[]) => planHere(plan, { stagings }, B, staged().hash)
  const began = { waves: [10, 100], zones, contents: [staged()] }
  const ofA = { ...REST, config: 'kube-system/a', ...began }
  t.match(here([ofA, { ...REST, ...began }]), { waves: [10, 100], zones: ['a'], zoneLabel: 'zone' })
  t.equal(here([ofA]), plan, 'those of another config do not count')
  t.equal(here([{ ...REST, ...began, contents: [staged(), other()] }]), plan, 'nor those of another content')
  t.equal(here([{ ...REST, ...began, contents: [] }]), plan)
  t.equal(here([]), plan)
})

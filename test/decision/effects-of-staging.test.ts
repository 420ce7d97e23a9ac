// SPDX-License-Identifier: Apache-2.0
/** The marks that steps leave on what this node remembers of rollouts, and what is told of one. */
import t from 'tap'
import type { Effect } from '../../src/decision/effects.ts'
import { mark, markActivated, markRequested, stage } from '../../src/decision/effects-of-staging.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StagedContent, Staging } from '../../src/decision/staging-state.ts'
import { A, assignedTo, B, C, contentOf, dataOf, hold, judged, keyOf, runs, runsNothing, snapshot, verdict, wants } from './snapshots.ts'

function staged(facts: Partial<StagedContent> = {}): StagedContent {
  return { hash: hashConfig(dataOf(B), 'kubelet'), content: contentOf(B), ...facts }
}

function staging(content: StagedContent, facts: Partial<Staging> = {}): { stagings: readonly Staging[] } {
  return { stagings: [{ config: 'kube-system/b', record: 'record', arrival: 'there', contents: [content], ...facts }] }
}

/** The effects of assigning B, whose annotation names this record. */
function stageWith(record: string | undefined, facts: Partial<Snapshot>, plan?: string): readonly Effect[] {
  const state = snapshot({ ...wants(B), ...assignedTo(B), ...facts })
  const { desired } = state
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('B is assigned')
  return stage(state, B, { ...desired.object, ...(record !== undefined && { rollout: { record, plan } }) })
}

const kinds = (effects: readonly Effect[]) => effects.map((effect) => (effect.kind === 'put' ? effect.record : effect.kind))
const told = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.kind === 'log' ? [`${effect.level}: ${effect.message}`] : []))
const markOf = (effects: readonly Effect[]) =>
  effects.flatMap((effect) =>
    effect.kind === 'put' && effect.record === 'stagings' ? effect.value.flatMap(({ contents }) => contents) : [],
  )

t.test('the beginning and the end of a rollout are told, once', (t) => {
  const begins = 'info: ConfigMap kube-system/b has a rollout: the record is record'
  t.same(told(stageWith('record', {})), [begins])
  t.same(told(stageWith('record', staging(staged()))), [], 'it is known')
  t.same(told(stageWith('record', staging(staged(), { record: 'another' }))), [begins], 'another record')
  t.same(told(stageWith('off', staging(staged()))), ['info: ConfigMap kube-system/b no longer has a rollout: its changes are spread'])
  t.same(stageWith('off', {}), [], 'it had none')
  t.same(stageWith(undefined, {}), [])
  t.same(
    stageWith(undefined, { stagingsDamaged: true }),
    [{ kind: 'put', record: 'stagings', value: [] }],
    'a damaged record is written anew',
  )
  t.end()
})

t.test('a retry that is raised in the plan lifts the verdicts on that content alone', (t) => {
  const failed = judged(verdict(B, 'confirmed'), verdict(C, 'confirmed'))
  const suspended = { suspendedVerdicts: new Map([[keyOf(B, 'kubelet-2'), verdict(B, 'provisional')]]) }
  const lift = (facts: Partial<Snapshot>, retry = 2) =>
    stageWith('record', { ...staging(staged({ retry: 1 })), ...facts }, `retry: ${retry}`)
  const lifted = ['append-history', 'remove-verdict', 'remove-verdict', 'health', 'trial-boots', 'stagings']
  t.same(kinds(lift({ ...failed, ...suspended })), lifted)
  t.match(lift({ ...failed, ...suspended }), [
    { transition: { kind: 'retrying', from: undefined, to: undefined, why: 'retry was raised in the rollout plan' } },
    { key: keyOf(B) },
    { key: keyOf(B, 'kubelet-2') },
  ])
  t.same(kinds(lift({ ...failed, proven: keyOf(B) })), ['append-history', 'proven', 'remove-verdict', 'health', 'trial-boots', 'stagings'])
  t.same(kinds(lift({ ...failed, proven: undefined })), ['append-history', 'remove-verdict', 'health', 'trial-boots', 'stagings'])
  t.same(kinds(lift(failed, 1)), ['stagings'], 'it is not raised')
  t.same(kinds(lift(judged(verdict(C, 'confirmed')))), ['stagings'], 'there is none')
  const other = staging(staged({ retry: 1, content: 'another' }))
  t.same(kinds(lift({ ...failed, ...other })), ['stagings'], 'this content is new')
  t.same(kinds(lift({ ...failed, ...staging(staged({ retry: 1, hash: 'another' })) })), ['stagings'], 'made of something else')
  t.end()
})

t.test('a mark is written where it changes something', (t) => {
  t.same(markOf(mark(snapshot(staging(staged())), contentOf(B), { promoted: true })), [staged({ promoted: true })])
  t.same(mark(snapshot(staging(staged({ promoted: true }))), contentOf(B), { promoted: true }), [])
  t.same(mark(snapshot(staging(staged())), contentOf(C), { promoted: true }), [])
  t.end()
})

t.test('a config that an operator requests on the node needs no turn', (t) => {
  const request = (facts: Partial<Snapshot>, ...keys: readonly string[]) =>
    markOf(markRequested(snapshot({ ...wants(B), ...assignedTo(B), ...staging(staged()), ...facts }), keys))
  t.same(request({}, keyOf(A), keyOf(B)), [staged({ requested: true })])
  t.same(request({}, keyOf(A)), [], 'its verdict is none of those that are dropped')
  t.same(request({ assigned: { kind: 'damaged', detail: '' } }, keyOf(B)), [], 'what is assigned is not known')
  t.same(request({ assignedContent: undefined }, keyOf(B)), [], 'nor what is in it')
  t.same(request({ ...assignedTo(C, contentOf(B)) }, keyOf(B)), [], 'what is assigned has no rollout')
  t.end()
})

t.test('what is activated has not started yet', (t) => {
  const activate = (facts: Partial<Snapshot> = {}, target: typeof B | 'local' = B) =>
    markOf(markActivated(snapshot({ ...wants(B), ...assignedTo(B), ...staging(staged({ started: true })), ...facts }), target))
  t.match(activate(), [{ started: false }])
  t.notOk(activate()[0]?.ownEdit)
  t.match(activate(runsNothing('failed')), [{ started: false }], 'nothing runs')
  t.same(activate(runs(B)), [], 'it runs already')
  t.same(activate({}, 'local'), [], 'it is not what is assigned')
  t.same(activate({ assignedContent: undefined }), [])
  const own = staging(staged(), { contents: [staged({ content: contentOf(A) }), staged({ started: true })] })
  t.match(activate(own), [{}, { started: false, ownEdit: true }], 'the overlay alone tells it from what runs')
  t.match(activate({ ...own, ...runsNothing('failed'), lastKnownGood: hold(C) }), [{}, { started: false, ownEdit: false }])
  t.same(activate(staging(staged({ started: false, ownEdit: false }))), [], 'it is marked already')
  t.end()
})

// SPDX-License-Identifier: Apache-2.0
/** What assigning a version saves, writes and tells, and what is kept for the way back. */
import t from 'tap'
import type { Effect } from '../../src/decision/effects.ts'
import { assign, leave, prepareWayBack, startSpread } from '../../src/decision/effects-of-assign.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StepOf } from '../../src/decision/step.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import {
  A,
  A_EDITED,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  dataOf,
  health,
  hold,
  NOW_US,
  POLICY,
  READY,
  runs,
  snapshot,
  startsWith,
  wants,
} from './snapshots.ts'

/** Made on this node of a version and its overlay. */
const merged = (source: ConfigMapSource, overlay = 'o1'): ConfigMapSource => ({ ...source, overlay })
const NEW = { storedContent: undefined } as const
const SPREAD = { bootId: BOOT, source: A, sinceUs: 1 }

function assigning(source: ConfigMapSource, facts: Partial<Snapshot> = {}, step: Partial<StepOf<'assign'>> = {}): readonly Effect[] {
  return assign({ kind: 'assign', source, data: dataOf(source), shared: false, ...step }, snapshot({ ...wants(source), ...facts }))
}

function put(record: string, value: unknown): object {
  return { kind: 'put', record, value }
}

function logged(effects: readonly Effect[]): readonly string[] {
  return effects.flatMap((effect) => (effect.kind === 'log' ? [`${effect.level}: ${effect.message}`] : []))
}

function without(effects: readonly Effect[], ...kinds: readonly Effect['kind'][]): readonly Effect[] {
  return effects.filter(({ kind }) => !kinds.includes(kind))
}

function byChannel(channel: 'config-source' | 'label', source: ConfigMapSource = B): Partial<Snapshot> {
  return { desired: { ...wants(source).desired, channelState: { channel } } as Snapshot['desired'] }
}

t.test('what is told of an assignment', (t) => {
  const first = 'will checkpoint source and update config if necessary'
  t.same(logged(assigning(B, NEW)), [`info: Node.Spec.ConfigSource is non-empty, ${first}`])
  t.same(logged(assigning(B, { ...NEW, ...byChannel('config-source') })), [`info: Node.Spec.ConfigSource is non-empty, ${first}`])
  t.match(logged(assigning(B, { ...NEW, ...byChannel('label') })), [/^info: assigned by label .* of the Node, will checkpoint/])
  t.same(logged(assigning(B)), [
    `info: Node.Spec.ConfigSource is non-empty, ${first}`,
    'info: checkpoint already exists for /api/v1/namespaces/kube-system/configmaps/b, UID: uid-b, ResourceVersion: 1',
  ])
  t.equal(logged(assigning(B, { storedContent: 'other' })).length, 1, 'other content is not the same checkpoint')
  t.equal(logged(assigning(B, { ...NEW, desiredContent: undefined })).length, 1, 'nor is what is not known')
  t.end()
})

function isMerged(source: ConfigMapSource, factsSinceUs?: number): Partial<Snapshot> {
  const { desired } = wants(source)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('it is found')
  return { desired: { ...desired, object: { ...desired.object, mergedFrom: ['base'], factsSinceUs } } }
}

t.test('why a version is assigned, as the history says it', (t) => {
  const made = "this node's overlay makes something else of it"
  const cases: readonly (readonly [string, ConfigMapSource, Partial<Snapshot>, why: string])[] = [
    ['nothing was assigned', B, { assigned: { kind: 'damaged', detail: '' } }, 'Node.Spec.ConfigSource was updated'],
    ['local was', B, assignedTo('local'), 'Node.Spec.ConfigSource was updated'],
    ['another was', B, {}, 'Node.Spec.ConfigSource was updated'],
    ['another was, by a label', B, byChannel('label'), 'assigned by label '],
    ['another version', A_EDITED, {}, 'ConfigMap was updated'],
    ['another version, and another overlay', merged(A_EDITED), {}, 'ConfigMap was updated'],
    ['the same once more', A, {}, 'ConfigMap was updated'],
    ['another overlay', merged(A), {}, made],
    ['an overlay no more', A, assignedTo(merged(A)), made],
    [
      'another base or layer',
      merged(A),
      isMerged(A),
      "a base or a layer of it, or this node's overlay, was updated: this node makes something else of it",
    ],
    [
      'another fact of the Node',
      merged(A),
      isMerged(A, NOW_US),
      "a base or a layer of it, or this node's overlay, or what its Node shows, was updated: this node makes something else of it",
    ],
  ]
  for (const [what, source, facts, why] of cases) {
    const told = assigning(source, facts).flatMap((effect) => (effect.kind === 'append-history' ? [effect.transition] : []))
    t.match(told, [{ kind: 'assigned', to: source }], what)
    t.equal(told[0]?.why.replace(/ kubelet-cfg-agent.* of the Node$/, ' '), why, what)
  }
  t.end()
})

t.test('what is saved of a version, and of what this node makes of it', (t) => {
  const saved = (source: ConfigMapSource, facts: Partial<Snapshot>, step: Partial<StepOf<'assign'>> = {}) =>
    without(assigning(source, facts, step), 'append-history', 'keep-wordings', 'put').flatMap((effect) =>
      effect.kind === 'log' && effect.level === 'info' ? [] : [effect],
    )
  const content = contentOf(B)
  const own = { kind: 'save-checkpoint', source: B, data: dataOf(B), content }
  const source = merged(B)
  const rendered = { kubelet: 'rendered' }
  const madeOfIt = { kind: 'save-checkpoint', source, data: rendered, content }
  const asItIs = { kind: 'save-checkpoint', source: B, data: dataOf(B), content: undefined }
  const warns = (what: string) => ({ kind: 'log', level: 'warn', message: what, fields: { source: B } })
  const name = 'kube-system/b:kubelet@1'
  const unchecked = warns(`no checkpoint of ${name} is saved: kubelet may start with it, and it was not checked`)
  const unknownNext = { nextStart: { kind: 'unknown', detail: 'EIO' } } as const
  t.same(saved(B, NEW), [own])
  t.same(saved(B, {}), [], 'it is stored already')
  t.same(saved(B, { ...NEW, desiredContent: undefined }), [{ ...own, content: undefined }], 'its content is not known')
  const cases: readonly (readonly [string, Partial<Snapshot>, readonly object[]])[] = [
    ['both', { storedUnrendered: 'missing' }, [asItIs, madeOfIt]],
    ['it is stored', { storedUnrendered: 'same' }, [madeOfIt]],
    [
      'other content is stored',
      { storedUnrendered: 'differs' },
      [warns(`the checkpoint of ${name} differs from what the cluster has, and is left unchanged`), madeOfIt],
    ],
    [
      'what is stored cannot be read',
      { storedUnrendered: 'unreadable' },
      [warns(`the checkpoint of ${name} cannot be read, and is left unchanged`), madeOfIt],
    ],
    ['kubelet may start with it', { storedUnrendered: 'missing', lastKnownGood: hold(B) }, [unchecked, madeOfIt]],
    ['it is not known what kubelet starts with', { storedUnrendered: 'missing', ...unknownNext }, [unchecked, madeOfIt]],
  ]
  for (const [what, facts, expected] of cases) {
    const desired = { ...wants(B), desiredContent: content }
    t.same(saved(source, { ...desired, ...NEW, ...facts }, { data: dataOf(B), rendered }), expected, what)
  }
  t.end()
})

t.test('what is written of an assignment, in order', (t) => {
  const written = (source: ConfigMapSource, facts: Partial<Snapshot> = {}, step: Partial<StepOf<'assign'>> = {}) =>
    without(assigning(source, facts, step), 'log', 'append-history')
  const assigned = [{ kind: 'keep-wordings' }, put('assigned', B)]
  t.same(written(B), assigned)
  t.same(written(B, { leftDamaged: true }), [...assigned, put('left', { sources: [] })])
  const charged = health(A, { exits: 2 })
  const dropped = { ...charged, exits: 0, excusedExits: undefined, recentExits: [] }
  t.same(written(B, { assigned: { kind: 'damaged', detail: '' }, health: charged }), [
    ...assigned,
    put('health', dropped),
    put('trial-boots', undefined),
  ])
  t.same(written(B, {}, { shared: true }), [put('spread', { bootId: BOOT, source: B, sinceUs: NOW_US }), ...assigned])
  const why = 'the cluster gave this version other content, as after a restored etcd'
  const replaced = { kind: 'replace-checkpoint', source: B, data: dataOf(B), content: contentOf(B), why }
  t.same(written(B, { storedContent: 'other' }), [replaced, ...assigned])
  const isDeleted = { desired: { ...wants(B).desired, object: { kind: 'missing' } } as unknown as Snapshot['desired'] }
  t.same(written(B, { ...isDeleted, stagingsDamaged: true }), assigned, 'no rollout is known of what is not there')
  t.same(written(B, { stagingsDamaged: true }), [put('stagings', []), ...assigned])
  t.end()
})

t.test('whether a node waits for its turn', (t) => {
  const begin = (shared: boolean, spread: Snapshot['spread']) => startSpread(B, shared, snapshot({ spread }))
  const since = { bootId: BOOT, source: B, sinceUs: NOW_US }
  const own = { sinceUs: NOW_US - POLICY.spreadUs, own: true }
  t.same(begin(false, undefined), [])
  t.same(begin(true, undefined), [put('spread', since)])
  t.same(begin(true, SPREAD), [put('spread', since)])
  t.same(begin(false, SPREAD), [put('spread', { ...since, ...own })])
  const [of] = startSpread(B, false, snapshot({ spread: undefined }), NOW_US - 1)
  t.match(of, put('spread', { ...since, ...own, factsSinceUs: NOW_US - 1 }), 'for its facts')
  const byFacts = without(assigning(merged(A), isMerged(A, NOW_US - 1)), 'log', 'append-history', 'keep-wordings')
  t.match(byFacts[0], put('spread', { source: merged(A), factsSinceUs: NOW_US - 1 }), 'as the assignment says')
  t.same(begin(false, since), [put('spread', { ...since, ...own })], 'not the turn of others that it waited for')
  const damaged = (spread: Snapshot['spread']) => startSpread(B, false, snapshot({ spread, assigned: { kind: 'damaged', detail: '' } }))
  t.same(damaged(since), [], 'the record of what is assigned is damaged: the turn of this version stays')
  t.match(startSpread(B, true, snapshot({ assigned: { kind: 'damaged', detail: '' } })), [put('spread', since)], 'it has none yet')
  t.same(damaged({ ...since, source: A }), [put('spread', { ...since, ...own })], 'and nobody knows whose change another version is')
  t.end()
})

t.test('what a return to local leaves, to go back to', (t) => {
  t.same(leave(snapshot()), [put('left', { sources: [A] })])
  const onLocal = { ...assignedTo('local'), ...startsWith('local'), ...runs('local') }
  t.same(leave(snapshot(onLocal)), [], 'nothing')
  t.same(leave(snapshot({ ...onLocal, leftDamaged: true })), [put('left', { sources: [] })])

  const wayBack = (facts: Partial<Snapshot>, fallback: ConfigMapSource | undefined = A) =>
    prepareWayBack(snapshot({ ...assignedTo('local'), left: [hold(A), hold(C), hold('local')], ...facts }), fallback, READY)
  const unproven = put('proven', undefined)
  const left = put('left', { sources: [A, C] })
  const staged = { kind: 'stage-fallback', fallback: A, wiring: READY }
  t.same(wayBack({}), [unproven, left, staged])
  t.same(wayBack({ proven: undefined }), [left, staged])
  t.same(wayBack({ localConfig: 'hash' }), [unproven, put('left', { sources: [A, C], localConfig: 'hash' }), staged])
  t.same(prepareWayBack(snapshot({ ...assignedTo('local'), left: [hold(A)] }), undefined, READY), [unproven, put('left', { sources: [A] })])
  t.same(wayBack({ left: [] }), [], 'nothing was left')
  t.same(wayBack(assignedTo(A)), [], 'a config is assigned')
  t.end()
})

t.test('what a return to local left is kept while the next config is assigned, unless its record is damaged', async (t) => {
  const onLeft = (facts: Partial<Snapshot>) =>
    assigning(B, { ...assignedTo('local'), left: [hold(A)], ...facts }).filter(
      (effect) => effect.kind === 'put' && effect.record === 'left',
    )
  t.strictSame(onLeft({}), [])
  t.strictSame(onLeft({ leftDamaged: true }), [put('left', { sources: [] })])
})

// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { choosePrunable } from '../../src/decision/prune.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { CheckpointInfo } from '../../src/subject/config-source.ts'
import { recordNothing } from '../evidence/samples.ts'
import {
  A,
  A_EDITED,
  assignedTo,
  B,
  C,
  configMap,
  decide,
  GOOD,
  hold,
  inTrial,
  judged,
  keyOf,
  POLICY,
  READY_FOR_B,
  runs,
  snapshot,
  startsWith,
  unit,
  verdict,
} from './snapshots.ts'

const OLD = Array.from({ length: 5 }, (_, index) => configMap('old', String(index)))
const KEEP_NONE = { policy: { ...POLICY, keepCheckpoints: 0 } }

function saved(...sources: readonly (typeof A)[]): CheckpointInfo[] {
  return sources.map(({ uid, resourceVersion }, index) => ({ uid, resourceVersion, savedAtMs: index }))
}

t.test('the newest are kept, by the time they were saved and not by their version', async (t) => {
  const checkpoints = saved(configMap('x', '9'), configMap('x', '10'), configMap('x', '8'))
  const kept = (keepCheckpoints: number) => choosePrunable(snapshot({ checkpoints, policy: { ...POLICY, keepCheckpoints } }))
  t.same(kept(3), [])
  t.match(kept(2), [{ resourceVersion: '9' }])
  t.match(kept(1), [{ resourceVersion: '10' }, { resourceVersion: '9' }])
  const atOnce = saved(B, C).map((checkpoint) => ({ ...checkpoint, savedAtMs: 0 }))
  for (const listed of [atOnce, atOnce.toReversed()])
    t.match(
      choosePrunable(snapshot({ checkpoints: listed, policy: { ...POLICY, keepCheckpoints: 1 } })),
      { length: 1, 0: { uid: B.uid } },
      'of two that were saved at once, the same one in whatever order they are listed',
    )
})

t.test('what is named stays, whoever names it', async (t) => {
  const named = { ...assignedTo(A), lastKnownGood: hold(B), previous: hold(C), ...startsWith(GOOD), ...runs(A_EDITED) }
  const checkpoints = saved(A, B, C, GOOD, A_EDITED, ...OLD)
  t.same(
    choosePrunable(snapshot({ ...named, ...KEEP_NONE, checkpoints })).map(({ uid }) => uid),
    OLD.map(({ uid }) => uid),
  )
})

t.test('nothing is removed while a record is damaged: any checkpoint may be the one that it names', async (t) => {
  const facts = { ...KEEP_NONE, checkpoints: saved(...OLD) }
  t.equal(choosePrunable(snapshot(facts)).length, OLD.length)
  t.same(choosePrunable(snapshot({ ...facts, assigned: { kind: 'damaged', detail: '' } })), [])
  for (const name of ['last-known-good', 'previous'] as const) t.same(choosePrunable(snapshot({ ...facts, damagedFallbacks: [name] })), [])
})

t.test('what did damage that nothing undoes stays, so that another wording of it is recognized', async (t) => {
  const oneWay = verdict(C, 'confirmed', { reason: 'evidence', damage: 'one-way' })
  const failed = verdict(B, 'confirmed', { reason: 'crash-loop' })
  const facts = { ...KEEP_NONE, checkpoints: saved(B, C, ...OLD), ...judged(oneWay, failed) }
  t.same(
    choosePrunable(snapshot(facts)).map(({ uid }) => uid),
    [...OLD, B].map(({ uid }) => uid),
  )
})

t.test('nothing goes while a name is unknown', async (t) => {
  const facts = { ...KEEP_NONE, checkpoints: saved(...OLD) }
  t.equal(choosePrunable(snapshot(facts)).length, OLD.length)
  t.same(choosePrunable(snapshot({ ...facts, assigned: { kind: 'damaged', detail: '' } })), [])
  t.same(choosePrunable(snapshot({ ...facts, nextStart: { kind: 'unknown', detail: '' } })), [])
  t.same(choosePrunable(snapshot({ ...facts, unit: { kind: 'unknown', detail: '' } })), [])
  t.same(choosePrunable(snapshot({ ...facts, unit: unit({ process: { kind: 'unknown', detail: '' } }) })), [])
})

t.test('never one that a record, the next start or the running process names, or that it was seen to start from', async () => {
  const pool = [A, A_EDITED, B, C, GOOD, ...OLD]
  const source = fc.constantFrom(...pool)
  const names = fc.record({ assigned: source, lastKnownGood: source, previous: source, next: source, running: source, seen: source })
  fc.assert(
    fc.property(names, fc.shuffledSubarray(pool), fc.nat(5), (is, present, keepCheckpoints) => {
      const records = { ...assignedTo(is.assigned), lastKnownGood: hold(is.lastKnownGood), previous: hold(is.previous) }
      const facts = { ...records, ...startsWith(is.next), ...runs(is.running), checkpoints: saved(...present) }
      const { health, ...others } = inTrial({ ...facts, policy: { ...POLICY, keepCheckpoints } })
      const lastProcess = health?.lastProcess && { ...health.lastProcess, source: is.seen }
      const pruned = choosePrunable({ ...others, health: health && { ...health, lastProcess } })
      const named = Object.values(is)
      const gone = pruned.some(({ uid, resourceVersion }) =>
        named.some((one) => one.uid === uid && one.resourceVersion === resourceVersion),
      )
      return !gone && present.length - pruned.length >= Math.min(keepCheckpoints, present.length)
    }),
  )
})

t.test('renderings are counted by themselves, and what a named one was made of stays with it', async (t) => {
  const overlays = ['1', '2', '3'].map((digit) => ({ ...A, overlay: digit.repeat(16) }))
  const [first = A, second = A, third = A] = overlays
  const checkpoints = [
    ...saved(A, ...OLD),
    ...overlays.map(({ uid, resourceVersion, overlay }, index) => ({ uid, resourceVersion, overlay, savedAtMs: index })),
  ]
  const gone = (facts: Partial<Snapshot>) =>
    choosePrunable(snapshot({ ...startsWith(third), ...runs(third), ...facts, checkpoints })).map(({ uid, overlay }) => overlay ?? uid)
  const named = { ...assignedTo(third), lastKnownGood: hold(second), previous: hold('local'), ...KEEP_NONE }
  t.same(gone(named).sort(), [first.overlay, ...OLD.map(({ uid }) => uid)].sort())
  const keepsOne = { ...named, lastKnownGood: hold('local'), policy: { ...POLICY, keepCheckpoints: 1 } }
  t.same(
    gone(keepsOne).filter((one) => one !== 'uid-old'),
    [second.overlay, first.overlay],
  )
})

t.test('old checkpoints go last', async (t) => {
  const checkpoints = Array.from({ length: POLICY.keepCheckpoints + 2 }, (_, index) => {
    const { uid, resourceVersion } = configMap('old', String(index))
    return { uid, resourceVersion, savedAtMs: index }
  })
  t.match(decide({ checkpoints }), { kind: 'prune', checkpoints: [{ resourceVersion: '1' }, { resourceVersion: '0' }] })
  t.match(decide({ checkpoints, ...READY_FOR_B }), { kind: 'activate' })
  const activated = { checkpoints, ...READY_FOR_B, ...startsWith(B) }
  const awaiting = snapshot({ ...activated, evidence: recordNothing(keyOf(B), snapshot(activated)) })
  const { now } = awaiting
  t.match(nextStep(awaiting), { kind: 'wait', phase: 'restarting' }, 'not before a restart that waits for answers alone')
  t.match(nextStep({ ...awaiting, now: { ...now, monotonicUs: now.monotonicUs + 6e6 } }), { kind: 'restart' })
})

// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { Policy, Snapshot } from '../../src/decision/snapshot.ts'
import { assess, hasTarget, isLocalWanted, nextAfter, withEvidence } from '../../src/decision/target.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import {
  A,
  A_EDITED,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  health,
  hold,
  judged,
  keyOf,
  lost,
  NOW_US,
  POLICY,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

/** B assigned, A last-known-good, C before it. */
const STAIRS = { ...assignedTo(B), lastKnownGood: hold(A), previous: hold(C) }

function target(facts: Partial<Snapshot>) {
  return assess(snapshot(facts)).target
}

t.test('the stairs down: assigned, last-known-good, previous, local', async (t) => {
  const condemned: Verdict[] = []
  for (const [index, source] of ([B, A, C, 'local'] as const).entries()) {
    t.match(target({ ...STAIRS, ...judged(...condemned) }), { source, fallback: index > 0, atFault: false })
    condemned.push(verdict(source, 'provisional'))
  }
})

t.test('whatever the verdict says, it counts', async (t) => {
  for (const state of ['refused', 'provisional', 'confirmed'] as const)
    t.match(target({ ...STAIRS, ...judged(verdict(B, state)) }), { source: A })
})

t.test('a verdict belongs to one kubelet', async (t) => {
  const facts = { ...STAIRS, ...judged(verdict(B, 'confirmed')) }
  t.match(target({ ...facts, unit: unit({ kubeletIdentity: UPGRADED_KUBELET }) }), { source: B, key: keyOf(B, UPGRADED_KUBELET) })
})

t.test('a verdict belongs to a content, whatever its version', async (t) => {
  const facts = { ...STAIRS, ...assignedTo(A_EDITED, contentOf(B)), ...judged(verdict(B, 'confirmed')) }
  t.match(target(facts), { source: A, fallback: true })
})

t.test('each content once, and what has no checkpoint not at all', async (t) => {
  const list = (facts: Partial<Snapshot>) => assess(snapshot({ ...STAIRS, ...facts })).candidates.map(({ source }) => source)
  t.same(list({}), [B, A, C, 'local'])
  t.same(list({ lastKnownGood: hold(A_EDITED, contentOf(B)) }), [B, C, 'local'])
  t.same(list({ lastKnownGood: lost(A) }), [B, C, 'local'])
  t.same(list({ ...assignedTo(B), assignedContent: undefined }), [A, C, 'local'])
  t.same(list(assignedTo('local')), ['local'], 'local needs no fallback')
  const damaged = { assigned: { kind: 'damaged', detail: '' } } as const
  t.same(list({ ...damaged, ...startsWith(B) }), [B, A, C, 'local'], 'where the record is lost, what kubelet starts with next')
  t.same(list({ ...damaged, ...startsWith('local'), ...runs('local') }), ['local', A, C])
  t.same(list({ ...damaged, ...startsWith('local') }), [A, C, 'local'], 'but not local that somebody has put back')
  const onlyLocal = { ...damaged, ...startsWith('local'), lastKnownGood: hold('local'), previous: hold('local') }
  t.same(list(onlyLocal), ['local'])
  t.same(list({ ...damaged, nextStart: { kind: 'unknown', detail: '' } }), [])
})

t.test('where the record is lost and nothing runs, local that somebody has put back gives way to last-known-good', async (t) => {
  const damaged = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
  const putBack = { ...STAIRS, ...damaged, ...startsWith('local'), health: health(B), ...runsNothing('auto-restart') }
  t.match(target(putBack), { source: A, fallback: true, goesOn: false, atFault: false })
  for (const none of [hold('local'), lost(A)]) t.match(target({ ...putBack, lastKnownGood: none }), { source: 'local' }, 'if there is one')
  t.match(target({ ...putBack, ...judged(verdict(A, 'provisional')) }), { source: 'local' }, 'that has not failed')
  t.match(target({ ...putBack, health: health('local') }), { source: 'local' }, 'and kubelet did not run local before')
  t.match(target({ ...putBack, ...runs('local') }), { source: 'local' }, 'a kubelet that runs is left alone')
})

t.test('local that was put back gives way also where the loss of /run took what kubelet ran last', async (t) => {
  const refused = judged(verdict(B, 'refused'))
  const unknown = { ...STAIRS, ...refused, ...startsWith('local'), ...runsNothing('auto-restart') }
  for (const record of [undefined, { ...health('local'), lastProcess: undefined }]) {
    t.match(target({ ...unknown, health: record }), { source: A, fallback: true, goesOn: false })
    t.match(target({ ...unknown, health: record, lastKnownGood: hold('local') }), { source: 'local' }, 'if there is a last-known-good')
  }
  t.match(target({ ...unknown, health: health('local') }), { source: 'local' }, 'if it is not known that kubelet ran local')
})

t.test('when everything failed the node rests on last-known-good', async (t) => {
  const all = judged(...[B, A, C, 'local' as const].map((source) => verdict(source, 'provisional')))
  t.match(target({ ...STAIRS, ...all }), { source: A, atFault: true, goesOn: false })
  t.match(target({ ...STAIRS, ...all, ...assignedTo(A) }), { source: A, atFault: true }, 'also where that is what is assigned')
  const returned = { ...all, ...assignedTo(B), lastKnownGood: hold('local'), previous: hold('local') }
  t.match(target({ ...returned, left: [hold(C)] }), { source: C }, 'or on what a return to local has left')
  t.match(target({ ...returned, left: [hold(B)] }), { source: 'local' }, 'but not where that is assigned again')
  t.match(target({ ...returned, left: [hold(B), hold(A)] }), { source: A }, 'then on what ran before that')
})

t.test('when everything failed the node rests on what kubelet is healthy with', async (t) => {
  const all = judged(...[B, A, C, 'local' as const].map((source) => verdict(source, 'provisional')))
  const runsLocal = (healthySinceUs: number | undefined) => {
    const { running } = runs('local')
    if (running?.kind !== 'known') throw new Error('it runs')
    const process = { ...running, wasHealthy: true, healthySinceUs, unhealthySinceUs: undefined, exits: 0 }
    return { ...runs('local'), health: health('local', { process }) }
  }
  t.match(target({ ...STAIRS, ...all, ...runsLocal(NOW_US) }), { source: 'local', atFault: true })
  t.match(target({ ...STAIRS, ...all, ...runsLocal(undefined) }), { source: A, atFault: true })
  const byEvidence = judged(
    ...[B, A, C].map((source) => verdict(source, 'provisional')),
    verdict('local', 'provisional', { reason: 'evidence' }),
  )
  t.match(target({ ...STAIRS, ...byEvidence, ...runsLocal(NOW_US) }), { source: A }, 'kubelet was healthy with it when its evidence failed')
  const confirmed = judged(...[B, A, C].map((source) => verdict(source, 'provisional')), verdict('local', 'confirmed'))
  t.match(target({ ...STAIRS, ...confirmed, ...runsLocal(NOW_US) }), { source: A })
})

t.test('when everything failed the node never rests on what was proved bad', async (t) => {
  const facts = judged(verdict(B, 'provisional'), verdict(A, 'confirmed'), verdict(C, 'provisional'), verdict('local', 'provisional'))
  t.match(target({ ...STAIRS, ...facts }), { source: C, atFault: true })
  const localIsBetter = { lastKnownGood: hold('local'), previous: hold(C) } as const
  const refused = judged(verdict(B, 'refused'), verdict(C, 'refused'), verdict('local', 'confirmed'))
  t.match(
    target({ ...STAIRS, ...localIsBetter, ...refused, ...startsWith(B), ...runs(B) }),
    { source: 'local', atFault: true },
    'nor on what preflight refused',
  )
  const worse = judged(...[B, A, C, 'local' as const].map((source) => verdict(source, 'confirmed')))
  t.match(target({ ...STAIRS, ...worse }), { source: 'local', atFault: true })
})

t.test('where a refusal sends the node to its fallbacks, and they have failed, what runs goes on unless it has failed, too', async (t) => {
  const policy: Policy = { ...POLICY, whenRefused: 'last-known-good' }
  const runsOther = { ...STAIRS, ...startsWith(A_EDITED), ...runs(A_EDITED), policy }
  const failed = [verdict(B, 'refused'), verdict(A, 'confirmed'), verdict(C, 'confirmed'), verdict('local', 'provisional')]
  t.match(target({ ...runsOther, ...judged(...failed) }), { source: A_EDITED, goesOn: true, atFault: false })
  const all = judged(...failed, verdict(A_EDITED, 'provisional'))
  t.match(target({ ...runsOther, ...all }), { source: 'local', goesOn: false, atFault: true })
})

t.test('local, where it is assigned, is never judged: there is nothing else to run', async (t) => {
  for (const state of ['provisional', 'confirmed'] as const) {
    t.match(
      target({ ...assignedTo('local'), ...judged(verdict('local', state)) }),
      { source: 'local', fallback: false, goesOn: false, atFault: false },
      state,
    )
  }
})

t.test('local that stands in for a damaged record is the administrator’s, unless it may be a fallback', async (t) => {
  const damaged: Partial<Snapshot> = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined, ...startsWith('local') }
  const isOwn = (facts: Partial<Snapshot>) =>
    isLocalWanted(snapshot({ ...damaged, lastKnownGood: hold('local'), previous: hold('local'), ...facts }))
  t.equal(isOwn({}), true)
  t.equal(isOwn(judged(verdict(B, 'refused'))), true, 'nothing has failed')
  t.equal(isOwn(judged(verdict(B, 'provisional'))), false, 'something has')
  t.equal(isOwn({ lastKnownGood: hold(A), ...runs('local') }), false)
  t.equal(isOwn({ previous: hold(A) }), false)
  t.equal(isOwn(startsWith(A)), false, 'it does not stand in')
  t.equal(isOwn({ nextStart: { kind: 'unknown', detail: '' } }), false, 'nobody knows what does')
})

t.test('what a return to local left comes before local, and after it where kubelet runs with local', async (t) => {
  const failed: Partial<Snapshot> = {
    ...assignedTo(B),
    lastKnownGood: hold('local'),
    previous: hold('local'),
    left: [hold(A)],
    ...judged(verdict(B, 'confirmed')),
  }
  t.match(target({ ...failed, ...runs(B) }), { source: A, fallback: true })
  t.match(target({ ...failed, ...runs('local') }), { source: 'local', fallback: true })
  t.match(target({ ...failed, lastKnownGood: hold(C), ...runs(B) }), { source: C }, 'and after what was promoted since')
})

t.test('nextAfter is the target once this one is condemned', async () => {
  const source = fc.constantFrom('local' as const, A, A_EDITED, B, C)
  const facts = fc.record({ assigned: fc.constantFrom(A, A_EDITED, B, C), lastKnownGood: source, previous: source })
  fc.assert(
    fc.property(facts, fc.subarray([A, A_EDITED, B, C, 'local' as const]), (is, bad) => {
      const verdicts = bad.map((each) => verdict(each, 'provisional'))
      const seen = snapshot({
        ...assignedTo(is.assigned),
        lastKnownGood: hold(is.lastKnownGood),
        previous: hold(is.previous),
        ...judged(...verdicts),
      })
      const now = assess(seen).target
      if (now === undefined || now.atFault) return true
      const then = assess({ ...seen, ...judged(...verdicts, verdict(now.source, 'provisional')) }).target
      const next = nextAfter(assess(seen), now)
      return then?.atFault === true ? next === undefined : next?.content === then?.content
    }),
  )
})

t.test('what cannot be undone is not done a second time on another kubelet', async (t) => {
  const damage = (how: 'transient' | 'one-way') =>
    assess(
      snapshot({ ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'confirmed', { key: keyOf(B, UPGRADED_KUBELET), damage: how })) }),
    )
  t.match(damage('transient').target, { source: B, fallback: false })
  t.match(damage('one-way').target, { source: A, fallback: true })
})

t.test('newer evidence does not change what should run, which is not derived again', async (t) => {
  const before = snapshot(STAIRS)
  const { target, candidates } = assess(before)
  const evidence = { bootId: BOOT }
  const after = assess(withEvidence(before, evidence))
  t.equal(after.target, target)
  t.equal(after.candidates, candidates)
  t.equal(after.snapshot.evidence, evidence)
  t.equal(withEvidence(before, before.evidence), before)
  t.match(assess(withEvidence(snapshot(STAIRS), evidence)).target, { source: B }, 'nor where it comes before that')
})

t.test('while systemd does not answer, nothing is known of what should run', async (t) => {
  const situation = assess(snapshot({ unit: { kind: 'unknown', detail: 'no bus' } }))
  t.strictSame(situation.candidates, [])
  t.equal(hasTarget(situation), false)
})

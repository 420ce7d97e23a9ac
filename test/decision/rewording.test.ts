// SPDX-License-Identifier: Apache-2.0
/**
 * An activation says whether its target is what is in place, in other bytes, and which process runs
 * it already.
 */
import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { LOCAL } from '../../src/subject/config-source.ts'
import { A, A_EDITED, assignedTo, B, contentOf, INVOCATION, READY, runs, runsNothing, snapshot } from './snapshots.ts'

function activates(target: typeof A | 'local', facts: Partial<Snapshot>) {
  const step = { kind: 'activate', target, fallback: undefined, wiring: READY } as const
  const effect = effectsOf(step, snapshot(facts)).find(({ kind }) => kind === 'activate')
  return effect?.kind === 'activate' ? effect : undefined
}

const isRewording = (target: typeof A | 'local', facts: Partial<Snapshot>) => activates(target, facts)?.isRewording

const A_IN_PLACE = { nextStart: { kind: 'known', held: { source: A, content: contentOf(A) } } } as const

t.test('another version with the content of what is in place is one', async (t) => {
  const same = { ...assignedTo(A_EDITED), assignedContent: contentOf(A), ...A_IN_PLACE }
  t.equal(isRewording(A_EDITED, same), true)
})

t.test('another content is none, nor is local, nor what is compared with nothing', async (t) => {
  t.equal(isRewording(B, { ...assignedTo(B), ...A_IN_PLACE }), false)
  t.equal(isRewording('local', { nextStart: { kind: 'known', held: LOCAL } }), false)
  const lost = { nextStart: { kind: 'known', held: { source: A, content: undefined } } } as const
  t.equal(isRewording(A_EDITED, { ...assignedTo(A_EDITED), assignedContent: undefined, ...lost }), false)
})

t.test('what runs is named where it is put in place again', async (t) => {
  t.equal(activates(A, { ...assignedTo(A), ...runs(A) })?.ranIn, INVOCATION)
  t.equal(activates('local', { ...assignedTo('local'), ...runs('local') })?.ranIn, INVOCATION)
  t.equal(activates(A, { ...assignedTo(A), ...runs(B) })?.ranIn, undefined)
  t.equal(activates(A, { ...assignedTo(A), ...runsNothing('stopped') })?.ranIn, undefined)
})

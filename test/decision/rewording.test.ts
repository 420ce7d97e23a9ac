// SPDX-License-Identifier: Apache-2.0
/**
 * An activation says whether its target is what is in place, in other bytes, or what runs already.
 */
import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { LOCAL } from '../../src/subject/config-source.ts'
import { A, A_EDITED, assignedTo, B, contentOf, READY, runs, runsNothing, snapshot } from './snapshots.ts'

function activate(target: typeof A | 'local', facts: Partial<Snapshot>) {
  const step = { kind: 'activate', target, fallback: undefined, wiring: READY } as const
  const effect = effectsOf(step, snapshot(facts)).find(({ kind }) => kind === 'activate')
  return effect?.kind === 'activate' ? effect : undefined
}

function isRewording(target: typeof A | 'local', facts: Partial<Snapshot>): boolean | undefined {
  return activate(target, facts)?.isRewording
}

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

t.test('what kubelet runs already names the invocation in which it does', async (t) => {
  t.equal(activate(A, runs(A, { invocationId: 'i-7' }))?.runsIn, 'i-7')
  t.equal(activate('local', runs('local', { invocationId: 'i-7' }))?.runsIn, 'i-7')
  t.equal(activate(B, { ...assignedTo(B), ...runs(A) })?.runsIn, undefined, 'another config')
  t.equal(activate(A, runsNothing('failed'))?.runsIn, undefined, 'nothing runs')
})

// SPDX-License-Identifier: Apache-2.0
/** What is forgotten, and what is remembered, of configs that had all failed. */
import t from 'tap'
import { forgiveOnce, isOpen } from '../../src/decision/forgiveness.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { A, B, keyOf, snapshot, verdict } from './snapshots.ts'

t.test('whether the node may still have been at fault', async (t) => {
  const open = (state: Verdict['state'], facts: Partial<Verdict> = {}) => isOpen(verdict(B, state, facts))
  t.equal(open('provisional'), true)
  t.equal(open('confirmed'), false)
  t.equal(open('refused'), false)
  t.equal(open('provisional', { retrials: 9 }), true, 'however often it was tried again')
  const reason = 'reboots'
  t.equal(open('provisional', { reason }), true)
  t.equal(open('provisional', { reason, retrials: 2 }), true)
  t.equal(open('provisional', { reason, retrials: 3 }), false, 'unless the node resets with it')
})

t.test('a config that may be what the others failed of is tried again, but not forgotten', async (t) => {
  const forgiven = (of: Verdict, healthy?: string) => {
    const step = forgiveOnce(snapshot(), [of], 'why', healthy === undefined ? {} : { healthy })
    if (step?.kind !== 'forgive') return step
    return step.drop.length > 0 ? 'dropped' : step.suspend?.map(({ acquitted, doubtful, retrials }) => ({ acquitted, doubtful, retrials }))
  }
  const again = (retrials: number) => [{ acquitted: true, doubtful: true, retrials }]
  t.strictSame(forgiven(verdict(B, 'provisional')), again(1), 'with the tries of one that had proved itself')
  t.strictSame(forgiven(verdict(B, 'provisional', { retrials: 2 })), again(2))
  t.strictSame(forgiven(verdict(B, 'provisional', { reason: 'reboots', retrials: 2 })), again(3))
  t.equal(forgiven(verdict(B, 'provisional'), keyOf(B)), 'dropped', 'kubelet is healthy with it')
  t.strictSame(forgiven(verdict(B, 'provisional', { acquitted: true }), keyOf(B)), again(1), 'but it was so before')
  t.equal(forgiven(verdict('local', 'provisional', { acquitted: true })), 'dropped', 'local leaves nothing')
  t.equal(forgiven(verdict(A, 'provisional', { doubtful: true })), 'dropped', 'it had passed a trial here')
  t.strictSame(forgiven(verdict(A, 'provisional')), again(1), 'but failed in a way that leaves no doubt')
  t.equal(forgiveOnce(snapshot(), [], 'why'), undefined, 'nothing is done where nothing is to be forgiven')
})

// SPDX-License-Identifier: Apache-2.0
/** When leaving the process that runs costs nothing, and when it is well again. */
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { isCondemned, isWellAgain } from '../../src/decision/worth-keeping.ts'
import {
  B,
  health,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  NOW_US,
  POLICY,
  runs,
  runsNothing,
  UPGRADED_KUBELET,
  unit,
  verdict,
} from './snapshots.ts'

const FAILED = judged(verdict(B, 'provisional'))

t.test('a process is well again once it has run on for a while, and is healthy', async (t) => {
  const of = { key: keyOf(B), invocationId: INVOCATION, startedAtUs: 0, wasHealthy: true, exits: 0 }
  const process = { ...of, healthySinceUs: NOW_US - 1, unhealthySinceUs: undefined }
  const isWell = (facts: Partial<Snapshot>) => isWellAgain(inTrial({ ...FAILED, health: health(B, { process }), ...facts }))
  t.equal(isWell(runs(B, { startedAgoUs: POLICY.toleranceUs + 1 })), true)
  t.equal(isWell(runs(B, { startedAgoUs: POLICY.toleranceUs })), false, 'it may exit again')
  t.equal(isWell({ verdicts: new Map() }), true, 'no verdict is on it')
  t.equal(isWell(judged(verdict(B, 'provisional', { reason: 'evidence' }))), false, 'its health says nothing of that')
  t.equal(isWell(runsNothing('failed')), false)
  t.equal(isWell({ health: health(B, { process: { ...process, healthySinceUs: undefined } }) }), false)
  t.equal(isWell({ health: undefined }), false)
})

t.test('a verdict sends the target elsewhere where it is on the installed kubelet', async (t) => {
  const isSent = (facts: Partial<Snapshot>, identity?: string) =>
    isCondemned(inTrial({ ...FAILED, ...facts }), unit(identity === undefined ? {} : { kubeletIdentity: identity }))
  t.equal(isSent({}), true)
  t.equal(isSent({}, UPGRADED_KUBELET), false)
  t.equal(isSent(judged(verdict(B, 'provisional', { key: keyOf(B, UPGRADED_KUBELET) })), UPGRADED_KUBELET), true)
  t.equal(isSent(judged(verdict(B, 'refused'))), false, 'preflight refused it, and it runs')
  t.equal(isSent({ verdicts: new Map() }), false)
  t.equal(isSent(runsNothing('failed')), false)
})

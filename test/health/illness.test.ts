// SPDX-License-Identifier: Apache-2.0
/** For how long kubelet has been healthy or ill, and what ends that. */
import t from 'tap'
import { healthyForUs, isOutOfLoop } from '../../src/health/illness.ts'
import { A, NOW_US, POLICY, SECOND_US } from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look, OK, REFUSED } from './samples.ts'

const STRANGERS = { ...ill(), healthz: { ...REFUSED.healthz, isStrangers: true } } as const
const UNREAD: Look = { ...healthy(), running: { kind: 'unknown', detail: 'permission denied' } }

t.test('what a look after an illness makes of it (rules 9, 26, 28 and 29)', (t) => {
  const cases: readonly (readonly [string, Look, 'goes on' | 'waits' | 'begins anew' | 'over'])[] = [
    ['still ill', ill(), 'goes on'],
    ['the next process of systemd', ill(A, 'i-2', 1), 'goes on'],
    ['the next process of a person', ill(A, 'i-2'), 'begins anew'],
    ...(['starting', 'auto-restart', 'failed'] as const).map((each) => [each, down(each), 'goes on'] as const),
    ['queued', down('queued'), 'waits'],
    ...(['stopped', 'stopping', 'not-found', 'exited', 'left-down'] as const).map((each) => [each, down(each), 'over'] as const),
    ['healthy', healthy(), 'over'],
    ['a process that cannot be told', UNREAD, 'over'],
  ]
  const ends = { 'goes on': NOW_US, waits: NOW_US + SECOND_US, 'begins anew': NOW_US + SECOND_US, over: undefined }
  for (const [what, next, end] of cases) t.equal(follow([ill(), next]).unhealthySinceUs, ends[end], what)
  t.end()
})

t.test('a stranger that had the health port is remembered for as long as that illness lasts', (t) => {
  const cases: readonly (readonly [string, readonly Look[], true | undefined])[] = [
    ['it has the port', [STRANGERS], true],
    ['it had the port', [STRANGERS, ill()], true],
    ['it had it when systemd restarted kubelet', [STRANGERS, ill(A, 'i-2', 1)], true],
    ['a person has restarted kubelet since', [STRANGERS, ill(A, 'i-2')], undefined],
    ['kubelet has been healthy since', [STRANGERS, healthy(), ill()], undefined],
    ['nobody knows whether kubelet is ill', [{ ...STRANGERS, healthz: { ...STRANGERS.healthz, ok: 'unknown' } }], undefined],
    ['nobody has it', [ill()], undefined],
  ]
  for (const [what, looks, expected] of cases) t.equal(follow(looks).strangerHadPort, expected, what)
  t.end()
})

t.test('whether a process has been healthy', (t) => {
  const cases: readonly (readonly [string, readonly Look[], { wasHealthy: boolean; healthySinceUs: number | undefined }])[] = [
    ['it is', [healthy()], { wasHealthy: true, healthySinceUs: NOW_US }],
    ['it still is', [healthy(), healthy()], { wasHealthy: true, healthySinceUs: NOW_US }],
    ['it is again', [healthy(), ill(), healthy()], { wasHealthy: true, healthySinceUs: NOW_US + 2 * SECOND_US }],
    ['it was', [healthy(), ill()], { wasHealthy: true, healthySinceUs: undefined }],
    ['the one before it was', [healthy(), ill(A, 'i-2', 1)], { wasHealthy: false, healthySinceUs: undefined }],
    ['it and the one before', [healthy(), healthy(A, 'i-2', 1)], { wasHealthy: true, healthySinceUs: NOW_US + SECOND_US }],
    ['never', [ill(), ill()], { wasHealthy: false, healthySinceUs: undefined }],
  ]
  for (const [what, looks, expected] of cases) {
    const record = follow(looks)
    t.match(record, expected, what)
    t.match(record.process, expected, `${what}, by its own record`)
  }
  t.match(follow([{ ...healthy('local'), ...OK }]), { wasHealthy: false, everHealthy: false }, 'another config was')
  t.end()
})

t.test('how long health has lasted', (t) => {
  t.equal(healthyForUs(undefined, NOW_US, NOW_US), Number.NEGATIVE_INFINITY)
  t.equal(healthyForUs(NOW_US - 3, NOW_US - 5, NOW_US), 3)
  t.equal(healthyForUs(NOW_US - 5, NOW_US - 3, NOW_US), 3, 'health from before its start is not its own')
  const isOut = (healthySinceUs: number | undefined) => isOutOfLoop({ healthySinceUs }, { startedAtUs: 0 }, NOW_US, POLICY)
  t.equal(isOut(undefined), false)
  t.equal(isOut(NOW_US - POLICY.toleranceUs), false)
  t.equal(isOut(NOW_US - POLICY.toleranceUs - 1), true)
  t.end()
})

// SPDX-License-Identifier: Apache-2.0
/** For how long kubelet has been healthy or ill, and what ends that. */
import t from 'tap'
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import { healthyForUs, isOutOfLoop } from '../../src/health/illness.ts'
import { A, NOW_US, POLICY, SECOND_US } from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look, OK, pre, REFUSED, runsSince, SUBJECT, times } from './samples.ts'

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

t.test('a kubelet that is not executed is known as that until it is, and has its whole time then', (t) => {
  const [first, second, third] = [NOW_US, NOW_US + SECOND_US, NOW_US + 2 * SECOND_US] as const
  const cases: readonly (readonly [string, readonly Look[], unexecutedSinceUs?: number | undefined, unhealthySinceUs?: number])[] = [
    ['it is not executed yet', [pre('starting')], first, first],
    ['nor after that', [pre('starting'), pre('auto-restart'), pre('starting', 'i-2', 1)], first, first],
    ['systemd gave it up', [pre('starting'), pre('failed')], first, first],
    ['the same, before the first look', [pre('failed')], first],
    ['a start is queued', [pre('auto-restart'), pre('queued')], second, second],
    ['somebody restarts it', [pre('auto-restart'), pre('starting', 'i-2')], first, first],
    ['somebody restarts it, and it is executed', [pre('auto-restart'), ill(A, 'i-2')], undefined, second],
    ['somebody stopped it', [pre('starting'), pre('stopped')]],
    ['it has exited, and starts again', [ill(), pre('starting', 'i-2', 1)], undefined, first],
    ['it has exited, and a whole start does without it', [ill(), pre('starting', 'i-2', 1), pre('auto-restart', 'i-2', 1)], third, first],
    ['it is executed', [pre('starting'), ill()], undefined, second],
    ['it is executed at last', [pre('auto-restart'), pre('starting', 'i-2', 1), ill(A, 'i-3', 2)], undefined, third],
  ]
  for (const [what, looks, unexecutedSinceUs, unhealthySinceUs] of cases) {
    const record = follow(looks)
    t.strictSame([record.unexecutedSinceUs, record.unhealthySinceUs], [unexecutedSinceUs, unhealthySinceUs], what)
  }
  const afterGap = follow([pre('starting'), pre('starting', 'i-2')], undefined, SUBJECT, 600 * SECOND_US)
  const agesUs = [afterGap.unexecutedSinceUs, afterGap.unhealthySinceUs].map((sinceUs = 0) => afterGap.lastSampleUs - sinceUs)
  t.strictSame(agesUs, [0, 0], 'nobody looked for a while')
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

t.test('a runtime that was silent is remembered until that process is up, and as long as that illness lasts', (t) => {
  const silent = (facts: Look): Look => ({ ...facts, runtimeUp: false })
  const answering = (facts: Look): Look => ({ ...facts, runtimeUp: true })
  const [first, second, third] = [ill(), ill(A, 'i-2', 1), ill(A, 'i-3', 2)] as const
  const pastExcuse = follow([...times(RUNTIME_EXCUSE_US / SECOND_US + 1, silent(first)), silent(second)])
  const next = (...looks: readonly Look[]) => follow(looks.map(answering), pastExcuse)
  const portless = (count: number) =>
    follow(times(count, answering(runsSince(NOW_US))), follow([silent(first)]), SUBJECT, POLICY.toleranceUs)
  const others = (facts: Look): Look => ({ ...facts, changesRuntime: true })
  const cases: readonly (readonly [string, HealthRecord, true | undefined])[] = [
    ['it answers', follow([answering(first)]), undefined],
    ['nobody knows whether it answers', follow([first]), undefined],
    ['it is silent', follow([silent(first)]), true],
    ['it excuses no more', pastExcuse, true],
    ['kubelet is healthy without it', follow([silent(healthy())]), undefined],
    ['it was silent before, and the process is the same', follow([silent(first), answering(first), answering(first)]), true],
    ['it was silent at the look before the process was there', follow([silent(first), answering(second), answering(second)]), true],
    ['it has excused another process', follow([silent(first), ...[first, second].map(answering)]), undefined],
    ['it excused no more, and systemd restarts kubelet', next(second, third, ill(A, 'i-4', 3)), true],
    ['it excused no more, and a person restarts kubelet', next(second, ill(A, 'i-3')), undefined],
    ['the process has been healthy', next(healthy(A, 'i-2', 1), second), undefined],
    ['the process just runs, without a health port', portless(1), true],
    ['the process has run for long, without a health port', portless(2), undefined],
    ['nobody looked for long', follow([answering(third)], pastExcuse, SUBJECT, 200 * SECOND_US), true],
    ['the config names another one', follow([silent(first), answering(first)].map(others)), undefined],
  ]
  for (const [what, record, expected] of cases) t.equal(record.lackedRuntimeUs !== undefined || undefined, expected, what)
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

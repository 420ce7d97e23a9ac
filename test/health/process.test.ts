// SPDX-License-Identifier: Apache-2.0
/** The record of the process that runs, or ran last. */
import t from 'tap'
import type { HealthRecord } from '../../src/health/fold.ts'
import { healthOfRunning, isIllNow, isLongIll, rememberProcess } from '../../src/health/process.ts'
import { A, B, contentOf, HOUR_US, health, KUBELET, keyOf, NOW_US, POLICY, SECOND_US } from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look, look, times } from './samples.ts'

const SEEN = { invocationId: 'i-1', content: contentOf(A), kubeletIdentity: KUBELET }
const SILENT = { runtimeUp: false }

t.test('what is remembered of a process', (t) => {
  t.same(rememberProcess(undefined, look(0, healthy()), KUBELET), SEEN)
  t.same(rememberProcess(SEEN, look(0, healthy(B, 'i-2')), 'another'), {
    invocationId: 'i-2',
    content: contentOf(B),
    kubeletIdentity: 'another',
  })
  t.equal(rememberProcess(SEEN, look(0, healthy()), 'another'), SEEN, 'what it was started as')
  const gone = { ...SEEN, content: 'missing:a', healthPort: 'none' } as const
  t.same(rememberProcess(gone, look(0, healthy()), 'another'), { ...gone, content: contentOf(A) }, 'its checkpoint is there again')
  t.equal(rememberProcess(SEEN, look(0, down('failed')), KUBELET), SEEN, 'nothing runs')
  t.end()
})

t.test('what is presumed of what systemd gave up before the first look', (t) => {
  const presumed = (facts: Look, subject = keyOf(A)) => follow([facts], undefined, subject).lastProcess
  t.same(presumed(down('failed')), SEEN)
  t.equal(presumed(down('failed', '')), undefined, 'it was never started')
  t.equal(presumed(down('failed'), keyOf('local')), undefined)
  t.equal(presumed(down('failed'), 'missing:uid-a/1/kubelet@kubelet-v1'), undefined)
  t.equal(presumed(down('auto-restart')), undefined)
  t.equal(presumed({ ...down('failed'), running: { kind: 'unknown', detail: 'no /proc' } }), undefined)
  t.same(presumed(healthy(B)), { ...SEEN, content: contentOf(B) })
  t.end()
})

t.test('the record of the process that runs', (t) => {
  const started = { key: keyOf(A), invocationId: 'i-1', startedAtUs: NOW_US - HOUR_US, exits: 0, startedByOthers: true }
  const well = { ...started, wasHealthy: true, healthySinceUs: NOW_US, unhealthySinceUs: undefined }
  const sick = { ...started, wasHealthy: false, healthySinceUs: undefined, unhealthySinceUs: NOW_US }
  const later = NOW_US + SECOND_US
  const next = { ...sick, invocationId: 'i-2' }
  const cases: readonly (readonly [string, readonly Look[], HealthRecord['process']])[] = [
    ['nothing has run yet', [down('auto-restart')], undefined],
    ['healthy', [healthy()], well],
    ['ill', [ill()], sick],
    ['excused', [{ ...ill(), ...SILENT }], { ...sick, unhealthySinceUs: undefined }],
    ['ill after health', [healthy(), ill()], { ...well, healthySinceUs: undefined, unhealthySinceUs: later }],
    ['it exits', [ill(), down('auto-restart')], { ...sick, exits: 1 }],
    ['it exits, and its runtime is silent', [ill(), { ...down('auto-restart'), ...SILENT }], { ...sick, unhealthySinceUs: undefined }],
    ['systemd restarts it', [ill(), ill(A, 'i-2', 1)], { ...next, exits: 1 }],
    ['systemd restarts it twice', [ill(), ill(A, 'i-3', 2)], { ...next, invocationId: 'i-3', exits: 2 }],
    ['a person restarts it', [ill(), ill(A, 'i-2')], { ...next, unhealthySinceUs: later }],
    ['another config runs', [ill(), down('auto-restart'), ill(B, 'i-2')], { ...next, key: keyOf(B), unhealthySinceUs: later + SECOND_US }],
    ['stopped', [ill(), down('stopped')], { ...sick, unhealthySinceUs: undefined }],
    ['on its way down', [ill(), down('stopping')], { ...sick, unhealthySinceUs: undefined }],
    ['given up', [healthy(), down('failed')], { ...well, healthySinceUs: undefined, unhealthySinceUs: later, exits: 1 }],
    ['starting', [ill(), down('starting', 'i-2', 1)], { ...sick, exits: 1 }],
  ]
  for (const [what, looks, expected] of cases) t.same(follow(looks).process, expected, what)
  t.end()
})

t.test('a whole trial or a gap ends the crash loop of the process (rules 12 and 19)', (t) => {
  const looped = follow([ill(), ill(A, 'i-2', 1)])
  const exits = (facts: Look, everyUs: number, count = 1) => follow(times(count, facts), looped, keyOf(A), everyUs).process?.exits
  const trial = POLICY.trialUs / POLICY.toleranceUs
  t.equal(exits(healthy(A, 'i-2', 1), POLICY.toleranceUs, trial), 1)
  t.equal(exits(healthy(A, 'i-2', 1), POLICY.toleranceUs, trial + 1), 0)
  t.equal(exits(healthy(A, 'i-2', 1), POLICY.toleranceUs + 1), 0)
  t.equal(exits(ill(A, 'i-2', 1), POLICY.toleranceUs + 1), 1, 'it is still ill after the gap')
  t.equal(exits(healthy(A, 'i-3', 2), POLICY.toleranceUs + 1), 1, 'another process is healthy after the gap')
  t.end()
})

t.test('what a look after a long time, or one that cannot be read, says of what ran last (rules 11 and 34)', (t) => {
  const GAP = POLICY.toleranceUs + 1
  const exits = (...looks: readonly Look[]) => follow(looks, undefined, keyOf(A), GAP).process?.exits
  t.equal(exits(ill(), ill(), ill(A, 'i-5', 4)), 1, 'looks come late, and it was ill at both')
  t.equal(exits(healthy(), healthy(), ill(A, 'i-5', 4)), 0, 'it was healthy before')
  t.equal(exits(ill(), ill(), down('auto-restart', 'i-5', 4)), 1)
  t.equal(exits(healthy(), healthy(), down('auto-restart', 'i-5', 4)), 0)
  t.equal(exits(ill(), ill(), down('queued', 'i-5', 4)), 0, 'a start that is queued is no illness')

  const sick = follow([ill(), ill()])
  const since = (facts: Look, everyUs = SECOND_US) => {
    const { process, lastSampleUs } = follow([facts], sick, keyOf(A), everyUs)
    return process?.unhealthySinceUs === undefined ? undefined : lastSampleUs - process.unhealthySinceUs
  }
  const unread = (facts: Look): Look => ({ ...facts, running: { kind: 'unknown', detail: 'permission denied' } })
  t.equal(since(down('starting', 'i-2', 1)), 2 * SECOND_US, 'it goes on')
  t.equal(since(down('starting', 'i-2', 1), GAP), 0, 'it begins anew after a gap')
  t.equal(since(down('starting', 'i-1'), GAP), SECOND_US, 'unless it is the same process')
  t.equal(since(unread(down('running'))), 2 * SECOND_US, 'the same process that cannot be read')
  t.equal(since(unread(down('running', 'i-2', 1))), undefined, 'another one')
  t.equal(since(unread(down('queued', 'i-2', 1))), SECOND_US, 'another one that waits in the queue')
  t.end()
})

t.test('which health is that of the process that runs', (t) => {
  const record = follow([healthy()])
  const { running } = look(0, healthy())
  t.equal(healthOfRunning({ running, health: record }), record.process)
  t.equal(healthOfRunning({ running: { kind: 'none' }, health: record }), undefined)
  t.equal(healthOfRunning({ running: look(0, healthy(A, 'i-2')).running, health: record }), undefined)
  t.equal(healthOfRunning({ running, health: undefined }), undefined)
  t.end()
})

t.test('whether a process is ill for long, and now', (t) => {
  const { toleranceUs, crashLimit } = POLICY
  const agoUs = (us: number) => NOW_US - us
  const process = {
    ...follow([ill()]).process,
    key: keyOf(A),
    invocationId: 'i-1',
    wasHealthy: false,
    startedAtUs: agoUs(HOUR_US),
    exits: 0,
  }
  const cases: readonly (readonly [string, Partial<NonNullable<HealthRecord['process']>>, isLong: boolean, isNow: boolean])[] = [
    ['exactly the tolerance', { unhealthySinceUs: agoUs(toleranceUs) }, false, false],
    ['longer', { unhealthySinceUs: agoUs(toleranceUs + 1) }, true, true],
    ['longer, with a process that has just started', { unhealthySinceUs: agoUs(HOUR_US), startedAtUs: agoUs(toleranceUs) }, true, false],
    ['no more exits than one below the limit', { exits: crashLimit - 1, unhealthySinceUs: agoUs(1) }, false, false],
    ['exits at the limit', { exits: crashLimit, unhealthySinceUs: agoUs(1) }, true, true],
    ['exits at the limit, and neither health nor illness', { exits: crashLimit }, true, false],
    ['exits at the limit, and healthy for the tolerance', { exits: crashLimit, healthySinceUs: agoUs(toleranceUs) }, true, false],
    ['exits at the limit, and healthy for longer', { exits: crashLimit, healthySinceUs: agoUs(toleranceUs + 1) }, false, false],
  ]
  for (const [what, facts, isLong, isNow] of cases) {
    const record = health(A, { process: { ...process, healthySinceUs: undefined, unhealthySinceUs: undefined, ...facts } })
    t.same([isLongIll(record, NOW_US, POLICY), isIllNow(record, NOW_US, POLICY)], [isLong, isNow], what)
  }
  t.same([isLongIll(health(A), NOW_US, POLICY), isIllNow(health(A), NOW_US, POLICY)], [false, false], 'nothing has run')
  t.equal(isIllNow(undefined, NOW_US, POLICY), false)
  t.end()
})

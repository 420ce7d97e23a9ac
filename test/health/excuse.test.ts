// SPDX-License-Identifier: Apache-2.0
/** What a runtime that does not answer excuses, and for how long. */
import t from 'tap'
import { isExcused, isExcuseUsedUp, RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { HealthSample } from '../../src/health/sample.ts'
import { A, BOOT, health, keyOf, NOW_US, POLICY, SECOND_US } from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look, loop } from './samples.ts'

const silent = (facts: Look): Look => ({ ...facts, runtimeUp: false })
const answering = (facts: Look): Look => ({ ...facts, runtimeUp: true })
const agoUs = (us: number) => NOW_US - us

t.test('the excuse ends after ten minutes and 60 exits', (t) => {
  const isUsedUp = (count: number, forUs: number) => isExcuseUsedUp({ count, sinceUs: agoUs(forUs) }, NOW_US)
  t.equal(isExcuseUsedUp(undefined, NOW_US), false)
  t.same([isUsedUp(60, RUNTIME_EXCUSE_US), isUsedUp(59, RUNTIME_EXCUSE_US), isUsedUp(60, RUNTIME_EXCUSE_US - 1)], [true, false, false])
  t.end()
})

t.test('who is excused, and until when (rules 36 and 37)', (t) => {
  const usedUp = { count: 60, sinceUs: agoUs(RUNTIME_EXCUSE_US) }
  const [over, within] = [agoUs(RUNTIME_EXCUSE_US), agoUs(RUNTIME_EXCUSE_US - 1)]
  const cases: readonly (readonly [string, boolean, Parameters<typeof health>[1], Partial<HealthSample>])[] = [
    ['the runtime answers', false, {}, { runtimeUp: true }],
    ['nobody asked it', false, {}, { runtimeUp: undefined }],
    ['it does not answer since now', true, { startedSinceUs: over }, {}],
    ['nor for less than ten minutes', true, { runtimeDownSinceUs: within, startedSinceUs: over }, {}],
    ['nor for ten minutes', false, { runtimeDownSinceUs: over, startedSinceUs: over }, {}],
    ['nor for ten minutes, and kubelet started since', true, { runtimeDownSinceUs: over, startedSinceUs: within }, {}],
    [
      'nor for ten minutes, and the config is newer',
      true,
      { runtimeDownSinceUs: over, startedSinceUs: undefined, subjectSinceUs: within },
      {},
    ],
    ['the config is newer than its start', false, { runtimeDownSinceUs: over, startedSinceUs: over, subjectSinceUs: within }, {}],
    ['the excuse is used up', false, { excusedExits: usedUp }, {}],
    ['the config names another runtime', false, {}, { changesRuntime: true }],
    ['somebody has a port of kubelet', true, {}, { portTaken: 'port 10250 is taken', runtimeUp: true }],
    [
      'somebody has a port of kubelet, and the config names another runtime',
      true,
      {},
      { portTaken: 'port 10250 is taken', changesRuntime: true },
    ],
  ]
  for (const [what, expected, facts, sample] of cases) {
    const all = { ...healthSample(), runtimeUp: false, ...sample }
    t.equal(isExcused(health(A, facts), all), expected, what)
  }
  t.end()
})

function healthSample(): HealthSample {
  return {
    at: { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 },
    ...{ unit: { kind: 'unknown', detail: '' }, running: { kind: 'none' }, healthz: undefined, runtimeUp: undefined },
  }
}

t.test('what the record keeps of an excuse', (t) => {
  const kept = (looks: readonly Look[], everyUs = SECOND_US) => {
    const { excused, beganExcused, runtimeDownSinceUs, excusedExits } = follow(looks, undefined, keyOf(A), everyUs)
    return { excused, beganExcused, runtimeDownSinceUs, excusedExits }
  }
  const NOTHING = { excused: false, beganExcused: false, runtimeDownSinceUs: undefined, excusedExits: undefined }
  const SILENT = { excused: true, beganExcused: true, runtimeDownSinceUs: NOW_US, excusedExits: undefined }
  const later = NOW_US + SECOND_US
  const one = { count: 1, sinceUs: later }
  const cases: readonly (readonly [string, readonly Look[], typeof NOTHING | typeof SILENT | object])[] = [
    ['all is well', [healthy()], NOTHING],
    ['it waits for its restart', [silent(down('auto-restart'))], SILENT],
    ['it runs', [silent(ill())], { ...SILENT, excused: false }],
    ['it is stopped', [silent(down('stopped'))], { ...SILENT, excused: false }],
    ['the same process is silent on', [silent(ill()), silent(ill())], { ...SILENT, excused: false }],
    ['the process was there before', [ill(), silent(ill())], { ...NOTHING, runtimeDownSinceUs: later }],
    ['the process is healthy', [silent(ill()), answering(healthy())], NOTHING],
    ['it exits', [silent(ill()), silent(down('auto-restart'))], { ...SILENT, excusedExits: one }],
    ['it exits as the runtime is back', [silent(ill()), answering(down('auto-restart'))], { ...NOTHING, beganExcused: true }],
    [
      'it is given up as the runtime is back',
      [silent(ill()), answering(down('failed'))],
      { ...SILENT, runtimeDownSinceUs: undefined, excusedExits: one },
    ],
    [
      'it was down before the runtime was back',
      [silent(down('auto-restart')), answering(down('auto-restart'))],
      { ...SILENT, runtimeDownSinceUs: undefined },
    ],
    [
      'systemd counts two',
      [silent(ill()), silent(ill(A, 'i-3', 2))],
      { ...SILENT, excused: false, excusedExits: { count: 2, sinceUs: later } },
    ],
    [
      'one more',
      [silent(ill()), silent(ill(A, 'i-2', 1)), silent(ill(A, 'i-3', 2))],
      { ...SILENT, excused: false, excusedExits: { count: 2, sinceUs: later } },
    ],
    [
      'the port was taken',
      [
        { ...ill(), portTaken: 'taken' },
        { ...down('auto-restart'), portTaken: 'taken' },
      ],
      { ...NOTHING, excused: true, beganExcused: true },
    ],
  ]
  for (const [what, looks, expected] of cases) t.same(kept(looks), expected, what)
  t.equal(kept([silent(ill()), silent(ill())], POLICY.toleranceUs + 1).runtimeDownSinceUs, NOW_US + POLICY.toleranceUs + 1, 'a gap')
  t.end()
})

t.test('a whole trial clears the excused exits', (t) => {
  const outage = follow(loop(2).map(silent))
  t.match(outage, { exits: 0, excusedExits: { count: 2 } })
  const calm = Array.from({ length: POLICY.trialUs / POLICY.toleranceUs + 1 }, () => answering(healthy(A, 'i-3', 2)))
  t.match(follow(calm.slice(1), outage, keyOf(A), POLICY.toleranceUs), { excusedExits: { count: 2 } })
  t.equal(follow(calm, outage, keyOf(A), POLICY.toleranceUs).excusedExits, undefined)
  t.end()
})

t.test('a kubelet that is another one at each start is excused for no longer, and no more often (rules 36 and 38)', (t) => {
  const starts = (count: number, waits: Look) => {
    let record: HealthRecord | undefined
    for (let n = 0; n < count; n += 1) {
      const looks = [
        silent(ill(A, `i-${n}`, n)),
        silent(down('auto-restart', `i-${n}`, n)),
        { ...down('auto-restart', `i-${n}`, n), ...waits },
      ]
      record = follow(looks, record, keyOf(A, `kubelet-${n}`), RUNTIME_EXCUSE_US / 30)
    }
    return record
  }
  t.same(
    [starts(10, { runtimeUp: false }), starts(11, { runtimeUp: false })].map((record) => record?.excused),
    [true, false],
  )
  t.match(starts(70, { runtimeUp: true }), { excusedExits: { count: 60, sinceUs: NOW_US + RUNTIME_EXCUSE_US / 30 } })
  t.end()
})

t.test('what began right after the last look that found the runtime silent', (t) => {
  const began = (lastFor: number, startedAfterUs: number, gap: boolean) => {
    const before = { ...follow([silent(ill())]), runtimeDownSinceUs: agoUs(lastFor) }
    const next = ill(A, 'i-2', 1)
    if (next.unit?.kind !== 'known') throw new Error('the unit is known')
    const started = answering({ ...next, unit: { ...next.unit, startedAtUs: NOW_US + startedAfterUs } })
    return follow([started], before, keyOf(A), gap ? POLICY.toleranceUs + SECOND_US : SECOND_US).beganExcused
  }
  const { toleranceUs } = POLICY
  t.same([began(0, 0, true), began(0, toleranceUs, true)], [true, true])
  t.same([began(0, -1, true), began(0, toleranceUs + 1, true)], [false, false])
  t.same([began(0, -1, false), began(RUNTIME_EXCUSE_US - 1, 0, false), began(RUNTIME_EXCUSE_US, 0, false)], [true, true, false])
  t.end()
})

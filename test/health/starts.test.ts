// SPDX-License-Identifier: Apache-2.0
/** Who started kubelet, with what, and what a request still waits for. */
import t from 'tap'
import { expectStart, type HealthRecord } from '../../src/health/fold.ts'
import { isStartAwaited, isStartedByOthers, isStartedBySystemd } from '../../src/health/starts.ts'
import { A, B, HOUR_US, health, keyOf, MINUTE_US, NOW_US, POLICY, SECOND_US, unit } from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look } from './samples.ts'

const MISSING = 'missing:uid-a/1/kubelet@kubelet-v1'
const UPGRADED = keyOf(A, 'kubelet-2')

t.test('who started a process (rules 43 and 44)', (t) => {
  const next = { invocationId: 'i-2', nRestarts: 4 }
  const due = { restartDueUntilUs: NOW_US + 1, restartedFrom: 'i-0' }
  const cases: readonly (readonly [string, Partial<HealthRecord> | undefined, object, 'systemd' | 'others' | 'agent' | 'none'])[] = [
    ['at the first look', undefined, next, 'others'],
    ['it is the same', {}, { ...next, invocationId: 'i-1' }, 'none'],
    ['there is none', {}, { ...next, invocationId: '' }, 'none'],
    ['a new one', {}, next, 'others'],
    ['counted since', {}, { ...next, nRestarts: 5 }, 'systemd'],
    ['counted since the invocation began', { firstNRestarts: 3 }, next, 'systemd'],
    ['a request is due', due, next, 'agent'],
    ['a request is not due any more', { ...due, restartDueUntilUs: NOW_US }, next, 'others'],
    ['a request whose start was not seen', { ...due, restartDueUntilUs: NOW_US, restartedFrom: 'i-1' }, next, 'agent'],
    ['no request was due', { restartedFrom: 'i-1' }, next, 'others'],
  ]
  for (const [what, facts, now, expected] of cases) {
    const known = facts && health(A, { invocationId: 'i-1', lastNRestarts: 4, ...facts })
    t.equal(isStartedByOthers(known, unit(now), NOW_US), expected === 'others', what)
    if (known !== undefined) t.equal(isStartedBySystemd(known, unit(now)), expected === 'systemd', `${what}: by systemd`)
  }
  t.end()
})

t.test('whether the start of a request is awaited', (t) => {
  const isAwaited = (restartedFrom: string | undefined) => isStartAwaited({ restartedFrom }, unit({ invocationId: 'i-1' }))
  t.same([isAwaited('i-1'), isAwaited('i-0'), isAwaited(undefined)], [true, false, false])
  t.end()
})

const FIELDS = ['starts', 'started', 'startedSinceUs', 'subjectSinceUs', 'contentSinceUs', 'startedByOthers'] as const

t.test('whether the subject was started, since when, and how often (rules 2, 3, 4, 8 and 9)', (t) => {
  const later = NOW_US + SECOND_US
  const first = { starts: 1, started: true, startedSinceUs: NOW_US, subjectSinceUs: NOW_US, contentSinceUs: NOW_US, startedByOthers: true }
  const unstarted = { ...first, starts: 0, started: false, startedSinceUs: undefined }
  const another = { ...unstarted, subjectSinceUs: later, contentSinceUs: later, startedByOthers: false }
  const fresh = { ...another, starts: 1, started: true, startedSinceUs: later }
  const cases: readonly (readonly [string, readonly Look[], Partial<HealthRecord>, before?: HealthRecord])[] = [
    ['it runs at the first look', [healthy()], first],
    ['another runs at the first look', [healthy(B)], unstarted],
    ['it waits for its restart at the first look', [down('auto-restart')], { ...first, starts: 0 }],
    ['it was given up before the first look', [down('failed')], unstarted],
    ['it was left down before the first look', [down('left-down')], unstarted],
    ['it is stopped at the first look', [down('stopped')], unstarted],
    ['it runs on', [healthy(), healthy()], first],
    ['it is restarted', [healthy(), healthy(A, 'i-2')], { ...first, starts: 2 }],
    ['it is stopped', [healthy(), down('stopped')], { ...first, started: false, startedSinceUs: undefined }],
    [
      'it is started again',
      [healthy(), down('stopped'), down('starting', 'i-2')],
      { ...first, starts: 2, startedSinceUs: later + SECOND_US },
    ],
    ['another config, not started yet', [healthy(B)], another, follow([healthy(B)], undefined, keyOf(B))],
    ['another config, started', [healthy(A, 'i-2')], fresh, follow([healthy(B)], undefined, keyOf(B))],
    ['another config, started by nobody knows whom', [down('starting', 'i-2')], another, follow([healthy(B)], undefined, keyOf(B))],
    [
      'after what the disk did not return',
      [down('auto-restart')],
      { ...another, started: true, startedSinceUs: later, startedByOthers: true },
      follow([down('auto-restart')], undefined, MISSING),
    ],
  ]
  for (const [what, looks, expected, before] of cases) {
    const record = follow(looks, before)
    t.strictSame(Object.fromEntries(FIELDS.map((field) => [field, record[field]])), expected, what)
  }
  t.end()
})

t.test('an upgrade on disk makes another subject of the same content', (t) => {
  const before = follow([healthy()])
  const upgraded = (...looks: readonly Look[]) => follow(looks, before, UPGRADED)
  const ofContent = { contentSinceUs: NOW_US, startedSinceUs: NOW_US, startedByOthers: true }
  t.match(upgraded(down('auto-restart')), { starts: 0, started: false, ...ofContent }, 'it began before')
  t.match(upgraded(down('auto-restart', 'i-2', 1)), { starts: 1, started: true, ...ofContent })
  t.match(
    upgraded(down('auto-restart'), down('auto-restart', 'i-2', 1)),
    { starts: 1, started: true, ...ofContent },
    'first one, then the other',
  )
  t.match(upgraded(down('stopped')), { started: false, startedSinceUs: undefined }, 'somebody has stopped it')
  const old = { ...before, contentSinceUs: undefined, subjectSinceUs: NOW_US - HOUR_US }
  t.equal(follow([healthy()], old, UPGRADED).contentSinceUs, NOW_US - HOUR_US, 'an agent did not record when the content came')
  t.end()
})

t.test('the count of systemd when an invocation was first seen', (t) => {
  const countOf = (looks: readonly Look[], before?: HealthRecord) => follow(looks, before).firstNRestarts
  t.equal(countOf([ill(A, 'i-1', 3)]), 3)
  t.equal(countOf([ill(A, 'i-1', 3), down('auto-restart', 'i-1', 4)]), 3)
  t.equal(countOf([ill(A, 'i-1', 3), down('queued', '', 4)]), 3, 'there is no invocation')
  t.equal(countOf([ill(A, 'i-1', 3), ill(A, 'i-2', 4)]), 4)
  t.equal(countOf([ill(A, 'i-1', 3), down('failed', 'i-1', 0)]), 0, 'reset-failed')
  const old = { ...follow([ill(A, 'i-1', 3)]), firstNRestarts: undefined }
  t.equal(countOf([down('auto-restart', 'i-1', 4)], old), 3, 'an agent did not record it')
  t.end()
})

t.test('what is left of a request after a look (rules 10 and 45)', (t) => {
  const dueUntilUs = NOW_US + POLICY.startDeadlineUs
  const asked = expectStart(follow([ill(A, 'i-1', 1)]), NOW_US, POLICY)
  const OPEN = { restartedFrom: 'i-1', restartDueUntilUs: dueUntilUs }
  const DUE = { ...OPEN, restartedFrom: undefined }
  const OVER = { restartedFrom: undefined, restartDueUntilUs: undefined }
  const cases: readonly (readonly [string, readonly Look[], typeof OPEN | typeof DUE | typeof OVER])[] = [
    ['nothing happened', [ill(A, 'i-1', 1)], OPEN],
    ['it makes way', [down('stopping', 'i-1', 1)], OPEN],
    ['it is stopped, to be started', [down('stopped', 'i-1', 1)], OPEN],
    ['it has started', [healthy(A, 'i-2', 0)], OVER],
    ['systemd restarted it before', [ill(A, 'i-2', 2)], DUE],
    ['systemd restarted it before, and that one makes way', [down('stopping', 'i-2', 0)], DUE],
    ['systemd restarted it before, and that one has made way', [down('queued', 'i-2', 0)], DUE],
    ['systemd restarted it before, and that one runs on', [ill(A, 'i-2', 2), ill(A, 'i-2', 2)], DUE],
    ['systemd restarted it before, and somebody stopped it', [ill(A, 'i-2', 2), down('stopped', 'i-2', 2)], OVER],
    ['there is no invocation', [ill(A, '', 1)], DUE],
  ]
  for (const [what, looks, expected] of cases) {
    const { restartedFrom, restartDueUntilUs } = follow(looks, asked)
    t.same({ restartedFrom, restartDueUntilUs }, expected, what)
  }
  t.same(follow([ill(A, 'i-1', 1)], asked, keyOf(B)).restartDueUntilUs, undefined, 'another config')
  t.equal(follow([ill(A, 'i-1', 1)], { ...follow([ill(A, 'i-1', 1)]), triedAgainUs: 7 }).triedAgainUs, 7)
  t.end()
})

t.test('what a request changes of the record', (t) => {
  const before = follow([ill(), down('auto-restart')])
  const expected = { started: true, everHealthy: false, unhealthySinceUs: undefined, restartedFrom: 'i-1' }
  t.same(expectStart(before, NOW_US + MINUTE_US, POLICY), {
    ...before,
    ...expected,
    restartDueUntilUs: NOW_US + MINUTE_US + POLICY.startDeadlineUs,
  })
  const unstarted = follow([healthy(B)], follow([healthy(B)], undefined, keyOf(B)))
  t.match(expectStart(unstarted, NOW_US + MINUTE_US, POLICY), { started: true, startedSinceUs: NOW_US + MINUTE_US })
  t.equal(expectStart(undefined, NOW_US, POLICY), undefined)
  t.end()
})

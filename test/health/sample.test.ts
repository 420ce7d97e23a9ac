// SPDX-License-Identifier: Apache-2.0
/** The meaning of one look, and its words. */
import t from 'tap'
import {
  classifySample,
  describeSample,
  type HealthSample,
  hasEnded,
  isDown,
  isFailing,
  isStrangers,
  needsStart,
  PORT_NOT_KNOWN,
  type SampleHealth,
} from '../../src/health/sample.ts'
import type { UnitActivity } from '../../src/subject/unit-state.ts'
import { A, B, contentOf } from '../decision/snapshots.ts'
import { down, healthy, ill, type Look, look } from './samples.ts'

const UNREAD: Look = { ...healthy(), running: { kind: 'unknown', detail: 'permission denied' } }

/**
 * Each state of the unit without a process: what that means, and whether kubelet is down, has
 * ended, and needs a start.
 */
const STATES: readonly (readonly [UnitActivity, SampleHealth, ...(readonly boolean[])])[] = [
  ['running', 'ill', false, false, false],
  ['starting', 'ill', true, false, false],
  ['auto-restart', 'ill', true, true, false],
  ['failed', 'ill', true, true, true],
  ['exited', 'unclear', true, true, true],
  ['left-down', 'unclear', true, false, true],
  ['queued', 'unclear', true, false, false],
  ['stopped', 'excused', false, false, false],
  ['stopping', 'excused', false, false, false],
  ['not-found', 'excused', false, false, false],
]

t.test('what each state of the unit means', (t) => {
  const classify = (activity: UnitActivity, context = {}) =>
    classifySample(look(0, down(activity)), { hasBegun: true, runsSubject: false, isExcused: false, ...context })
  for (const [activity, expected, ...flags] of STATES) {
    t.equal(classify(activity), expected, activity)
    t.equal(classify(activity, { isExcused: true }), 'excused', `${activity}, while the runtime is silent`)
    t.equal(classify(activity, { hasBegun: false }), 'excused', `${activity}, before its start`)
    t.same(
      [isDown, hasEnded, needsStart].map((is) => is(activity)),
      flags,
      activity,
    )
  }
  t.end()
})

t.test('what the health of a process that runs means', (t) => {
  const cases: readonly (readonly [string, Look, SampleHealth, whileExcused?: SampleHealth])[] = [
    ['it answers', healthy(), 'healthy'],
    ['it does not', ill(), 'ill', 'excused'],
    ['it has no port', { ...healthy(), healthz: undefined }, 'healthy'],
    ['its port is not known', { ...healthy(), healthz: PORT_NOT_KNOWN }, 'unclear'],
    ['another config runs', healthy(B), 'excused'],
    ['another config is ill', ill(B), 'excused'],
    ['another config has a port that is not known', { ...healthy(B), healthz: PORT_NOT_KNOWN }, 'excused'],
    ['it cannot be told what runs', UNREAD, 'unclear'],
    ['nor does that answer', { ...UNREAD, ...{ healthz: ill().healthz } }, 'unclear'],
    ['systemd does not answer', { unit: { kind: 'unknown', detail: 'no bus' } }, 'excused'],
  ]
  for (const [what, facts, expected, whileExcused = expected] of cases) {
    const runsSubject = facts.running?.kind === 'known' && facts.running.content === contentOf(A)
    const classify = (isExcused: boolean) => classifySample(look(0, facts), { hasBegun: true, runsSubject, isExcused })
    t.same([classify(false), classify(true)], [expected, whileExcused], what)
  }
  t.end()
})

t.test('what a look says', (t) => {
  const describe = (facts: Partial<HealthSample>) => describeSample({ ...look(0, {}), ...facts })
  t.equal(describe({}), 'active (running)')
  t.equal(describe({ unit: { kind: 'unknown', detail: 'no bus' } }), 'no bus')
  t.equal(describe(healthy()), 'active (running), healthz ok')
  t.equal(describe({ healthz: { ok: 'unknown', detail: 'nobody was asked' } }), 'active (running), nobody was asked')
  t.equal(
    describe({ ...ill(), runtimeUp: false, portTaken: 'port 10250 is taken' }),
    'active (running), healthz connection refused, container runtime does not answer, port 10250 is taken',
  )
  t.equal(describe({ runtimeUp: true }), 'active (running)')
  t.end()
})

t.test('what an answer is', (t) => {
  const answers = [undefined, { ok: true }, { ok: false }, { ok: 'unknown' }, { ok: false, isStrangers: true }] as const
  const all = answers.map((answer) => answer && { ...answer, detail: '' })
  t.same(all.map(isFailing), [false, false, true, false, true])
  t.same(all.map(isStrangers), [false, false, false, false, true])
  t.end()
})

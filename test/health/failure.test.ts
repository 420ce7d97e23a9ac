// SPDX-License-Identifier: Apache-2.0
/** What a failure says: its reason, its words, and what is marked for those who judge it. */
import t from 'tap'
import type { KubeletExit } from '../../src/health/exits.ts'
import { findFailure } from '../../src/health/failure.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { HealthSample } from '../../src/health/sample.ts'
import { A, B, BOOT, HOUR_US, health, keyOf, MINUTE_US, NOW_US, POLICY, SECOND_US, unit } from '../decision/snapshots.ts'

const DETAIL = 'active (running), healthz connection refused'
const IN_USE = 'listen tcp 0.0.0.0:10250: bind: address already in use'
const BEFORE = 'systemd does not execute it: what its unit needs or runs before it, such as ExecStartPre=, fails or hangs'
const LOOP = { reason: 'crash-loop', damage: 'transient' } as const
const WAITS = unit({ activity: 'auto-restart' })
const GIVEN_UP = unit({ activity: 'failed', summary: 'failed (Result: exit-code)' })
const REFUSED = { ...GIVEN_UP, startLimitHit: true }
const ILL = { healthySinceUs: undefined, unhealthySinceUs: NOW_US - HOUR_US, lastDetail: DETAIL }

/** Exits that are so many minutes ago, each of its own kubelet where `varying` says so. */
function exitsAgo(minutes: readonly number[], { varying = false, ...fields }: Partial<KubeletExit> & { varying?: boolean } = {}) {
  return minutes.map((ago, index): KubeletExit => {
    const key = varying ? keyOf(A, `kubelet-${index}`) : keyOf(A)
    return { key, invocationId: `i-${index}`, atUs: NOW_US - ago * MINUTE_US, ...fields }
  })
}

/** Ten exits that are too far from each other for a crash loop. */
const TEN = exitsAgo([290, 260, 230, 200, 170, 140, 110, 80, 50, 20], { words: 'panic' })

function failureOf(facts: Partial<HealthRecord>, sample: Partial<HealthSample> = {}) {
  const record = health(A, { wasHealthy: false, healthySinceUs: undefined, ...facts })
  const at = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }
  return findFailure(record, { unit: WAITS, at, runtimeUp: undefined, ...sample }, POLICY)
}

t.test('what each failure says, and how it is marked', (t) => {
  const varying = exitsAgo([3, 2, 1], { varying: true })
  const cases: readonly (readonly [string, ReturnType<typeof failureOf>, ReturnType<typeof failureOf>])[] = [
    ['exits at the limit', failureOf({ exits: 3 }), { ...LOOP, detail: 'kubelet exited 3 times' }],
    [
      'another kubelet at each start',
      failureOf({ exits: 1, recentExits: varying }),
      { ...LOOP, detail: 'kubelet exited 3 times', anyKubelet: true },
    ],
    ['systemd gave it up', failureOf({}, { unit: GIVEN_UP }), { ...LOOP, detail: 'systemd gave kubelet up: failed (Result: exit-code)' }],
    [
      'systemd gave it up, and it said why',
      failureOf({ recentExits: exitsAgo([1], { words: IN_USE }) }, { unit: GIVEN_UP }),
      { ...LOOP, detail: `systemd gave kubelet up: failed (Result: exit-code): ${IN_USE}`, doubtful: true },
    ],
    [
      'a slow crash loop',
      failureOf({ recentExits: TEN }),
      { ...LOOP, detail: 'kubelet exited 10 or more times within 24 hours: panic', recurring: true },
    ],
    [
      'it never was healthy',
      failureOf({ unhealthySinceUs: NOW_US - POLICY.startDeadlineUs - SECOND_US, lastDetail: DETAIL }),
      { reason: 'start-deadline', detail: `kubelet was not healthy 121 s after its start: ${DETAIL}`, damage: 'transient' },
    ],
    [
      'it was healthy before',
      failureOf({ ...ILL, wasHealthy: true }),
      { reason: 'ill-health', detail: `kubelet was not healthy for 3600 s: ${DETAIL}`, damage: 'transient' },
    ],
    [
      'its runtime was silent in that time',
      failureOf({ ...ILL, wasHealthy: true, lackedRuntimeUs: 1 }),
      { reason: 'ill-health', detail: `kubelet was not healthy for 3600 s: ${DETAIL}`, damage: 'transient', doubtful: true },
    ],
    [
      'it was not executed',
      failureOf({ ...ILL, unexecutedSinceUs: 1 }),
      {
        reason: 'start-deadline',
        detail: `kubelet was not healthy for 3600 s, since ${BEFORE}: ${DETAIL}`,
        damage: 'transient',
        doubtful: true,
      },
    ],
    [
      'it was not executed, and systemd gave it up',
      failureOf({ unexecutedSinceUs: 1 }, { unit: GIVEN_UP }),
      { ...LOOP, detail: `systemd gave kubelet up: failed (Result: exit-code), since ${BEFORE}`, doubtful: true },
    ],
    [
      'a stranger had its port',
      failureOf({ ...ILL, wasHealthy: true, strangerHadPort: true }),
      { reason: 'ill-health', detail: `kubelet was not healthy for 3600 s: ${DETAIL}`, damage: 'transient', doubtful: true },
    ],
  ]
  for (const [what, actual, expected] of cases) t.strictSame(actual, expected, what)
  t.end()
})

t.test('exits are a doubt where one that counts came without the runtime', (t) => {
  const without =
    (...indices: readonly number[]) =>
    (exit: KubeletExit, index: number) =>
      indices.includes(index) ? { ...exit, lackedRuntime: true } : exit
  const four = exitsAgo([4, 3, 2, 1])
  const others = four.map((exit) => ({ ...exit, key: keyOf(B), lackedRuntime: true }))
  const cases: readonly (readonly [string, ReturnType<typeof failureOf>, true | undefined])[] = [
    ['none', failureOf({ exits: 3, recentExits: four }), undefined],
    ['the last', failureOf({ exits: 3, recentExits: four.map(without(3)) }), true],
    ['the first', failureOf({ exits: 3, recentExits: four.map(without(1)) }), true],
    ['one that does not count any more', failureOf({ exits: 3, recentExits: four.map(without(0)) }), undefined],
    ['those of another config', failureOf({ exits: 3, recentExits: [...four, ...others] }), undefined],
    ['one of as many kubelets', failureOf({ exits: 1, recentExits: exitsAgo([3, 2, 1], { varying: true }).map(without(0)) }), true],
    ['one of ten', failureOf({ recentExits: TEN.map(without(0)) }), true],
    ['given up, and that one', failureOf({ exits: 1, recentExits: four.map(without(3)) }, { unit: GIVEN_UP }), true],
    ['given up, and one before', failureOf({ exits: 1, recentExits: four.map(without(2)) }, { unit: GIVEN_UP }), undefined],
    ['given up, and none counts', failureOf({ recentExits: four.map(without(3)) }, { unit: GIVEN_UP }), undefined],
    ['given up in a gap after which it answers', failureOf({ lackedRuntimeUs: 1 }, { unit: GIVEN_UP }), true],
  ]
  for (const [what, actual, expected] of cases) t.match(actual, { reason: 'crash-loop', doubtful: expected }, what)
  t.end()
})

t.test('what is no failure', (t) => {
  const cases: readonly (readonly [string, ReturnType<typeof failureOf>])[] = [
    ['systemd does not answer (rule 1)', failureOf(ILL, { unit: { kind: 'unknown', detail: 'no bus' } })],
    ['it was never started (rule 8)', failureOf({ ...ILL, started: false })],
    ['the runtime excuses it (rule 36)', failureOf({ ...ILL, runtimeDownSinceUs: NOW_US }, { runtimeUp: false })],
    ['somebody else has its port', failureOf(ILL, { portTaken: 'port 10250 is taken' })],
    ['its restart is still awaited (rule 10)', failureOf({ exits: 3, restartedFrom: WAITS.invocationId })],
    ['one exit less than the limit', failureOf({ exits: 2 })],
    ['nine exits within 24 hours', failureOf({ recentExits: TEN.slice(1) })],
    [
      'ten exits, and it has been healthy since',
      failureOf({ recentExits: TEN, healthySinceUs: NOW_US - 10 * SECOND_US }, { unit: unit() }),
    ],
    ['systemd refused its start (rule 23)', failureOf({}, { unit: REFUSED })],
    ['it went down without its runtime (rule 39)', failureOf({ excused: true }, { unit: GIVEN_UP })],
    ['exactly the start deadline', failureOf({ unhealthySinceUs: NOW_US - POLICY.startDeadlineUs })],
    ['exactly the tolerance', failureOf({ wasHealthy: true, unhealthySinceUs: NOW_US - POLICY.toleranceUs })],
  ]
  for (const [what, actual] of cases) t.equal(actual, undefined, what)
  t.end()
})

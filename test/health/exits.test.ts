// SPDX-License-Identifier: Apache-2.0
/** The log of exits: ten of each config, however they alternate. */
import t from 'tap'
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import { ageExits, isStartRefused, type KubeletExit, logExits } from '../../src/health/exits.ts'
import { expectStart, forgetExits, type HealthRecord } from '../../src/health/fold.ts'
import {
  countRecurringExits,
  countVaryingExits,
  describeRecurringExits,
  longestLifeOnTrialUs,
  outlivesTrials,
} from '../../src/health/recurring-exits.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import {
  A,
  B,
  contentOf,
  HOUR_US,
  health,
  KUBELET,
  MINUTE_US,
  NOW_US,
  POLICY,
  SECOND_US,
  keyOf as sourceKey,
  unit,
} from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look, pre, SUBJECT, times } from './samples.ts'

const keyOf = (content: string) => trialKey(content, KUBELET)
const PROCESS = { key: keyOf('a'), wasHealthy: false, healthySinceUs: undefined, unhealthySinceUs: undefined, exits: 0 }

/** A process of each content exits after another. */
function exitInTurn(...contents: readonly string[]): readonly KubeletExit[] {
  let log: readonly KubeletExit[] = []
  for (const [index, content] of contents.entries()) {
    const look = { unit: unit({ invocationId: `i-${index}` }), nowUs: NOW_US + index * MINUTE_US }
    log = logExits({ recentExits: log, invocationId: `i-${index}`, process: undefined }, look, keyOf(content), { unseen: 0, seen: true })
  }
  return log
}

function countOf(content: string, log: readonly KubeletExit[], healthySinceUs?: number) {
  const record = { ...health(A), subject: keyOf(content), recentExits: log, healthySinceUs }
  return countRecurringExits(record, NOW_US + 60 * MINUTE_US)
}

t.test('two configs that alternate in a slow crash loop both reach the limit', async (t) => {
  const log = exitInTurn(...Array.from({ length: 10 }, () => ['a', 'b']).flat())
  t.strictSame(countOf('a', log), { exits: 10, failed: true, isOver: false, isVarying: false })
  t.strictSame(countOf('b', log), { exits: 10, failed: true, isOver: false, isVarying: false })
})

t.test('the window is 24 hours in which kubelet starts with that config (rule 24)', async (t) => {
  const log = exitInTurn(...Array.from({ length: 10 }, () => 'a'))
  const countAfter = (exits: readonly KubeletExit[], us: number) =>
    countRecurringExits({ ...health(A), subject: keyOf('a'), recentExits: exits }, NOW_US + us)
  t.equal(countAfter(log, 30 * HOUR_US), undefined)
  t.match(countAfter(ageExits({ recentExits: log, subject: keyOf('b') }, 20 * HOUR_US), 30 * HOUR_US), { exits: 10, failed: true })
  t.equal(countAfter(ageExits({ recentExits: log, subject: keyOf('a') }, 20 * HOUR_US), 30 * HOUR_US), undefined)
})

t.test('exits of one kubelet after the other count by content, where each start makes another', async (t) => {
  const log = (...kubelets: readonly number[]) =>
    kubelets.map((kubelet, minute) => ({ key: trialKey('a', `k-${kubelet}`), invocationId: '', atUs: NOW_US + minute * MINUTE_US }))
  const count = (...kubelets: readonly number[]) => {
    const exits = log(...kubelets)
    return countRecurringExits({ ...health(A), subject: exits.at(-1)?.key ?? '', recentExits: exits }, NOW_US + HOUR_US)
  }
  t.match(count(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), { exits: 10, failed: true, isVarying: true })
  t.match(count(0, 1, 2, 3, 4), { exits: 5, failed: false, isVarying: true })
  t.equal(count(0, 0, 0, 0, 0, 0, 0, 1, 1, 1), undefined, 'an upgrade')
  t.match(count(0, 0, 0, 1, 1, 2, 2, 2, 2, 2), { exits: 5, isVarying: false }, 'two upgrades')
})

t.test('a record without exits has none that could age', async (t) => {
  t.strictSame(ageExits({ subject: keyOf('a') }, HOUR_US), [])
})

t.test('a kubelet that became healthy after the last exit is not condemned for the exits any more', async (t) => {
  const log = exitInTurn(...Array.from({ length: 10 }, () => 'a'))
  const lastUs = NOW_US + 9 * MINUTE_US
  t.match(countOf('a', log, lastUs), { failed: true, isOver: false }, 'one look shows the exit and the process after it')
  t.match(countOf('a', log, lastUs + 1), { failed: true, isOver: true })
})

t.test('the log is bounded: twenty exits of each config, of the latest eight', async (t) => {
  const log = exitInTurn(...Array.from({ length: 20 }, (_, config) => Array.from({ length: 30 }, () => `c-${config}`)).flat())
  t.equal(log.length, 160)
  t.strictSame(new Set(log.map(({ key }) => key)), new Set([12, 13, 14, 15, 16, 17, 18, 19].map((config) => keyOf(`c-${config}`))))
  const atUs = log.map((exit) => exit.atUs)
  t.strictSame(
    atUs,
    atUs.toSorted((a, b) => a - b),
    'the latest comes last',
  )
})

t.test('an exit that is charged although the container runtime may be the reason is marked', (t) => {
  const silent = (facts: Look): Look => ({ ...facts, runtimeUp: false })
  const answering = (facts: Look): Look => ({ ...facts, runtimeUp: true })
  const others = (facts: Look): Look => ({ ...facts, changesRuntime: true })
  const [second, third] = [ill(A, 'i-2', 1), ill(A, 'i-3', 2)] as const
  const waits = down('auto-restart', 'i-2', 1)
  const excused = follow(times(RUNTIME_EXCUSE_US / SECOND_US + 1, silent(ill())))
  const pastExcuse = { ...follow([silent(second)], excused), recentExits: [] }
  const marks = (looks: readonly Look[], from?: HealthRecord) =>
    follow(looks, from).recentExits?.map(({ lackedRuntime }) => lackedRuntime === true)
  const answers = (...looks: readonly Look[]) => marks(looks.map(answering), pastExcuse)
  const cases: readonly (readonly [string, ReturnType<typeof marks>, readonly boolean[]])[] = [
    ['it answers', marks([second, waits].map(answering)), [false]],
    ['nobody knows whether it answers', marks([second, waits]), [false]],
    ['it excuses no more', marks([silent(waits)], pastExcuse), [true]],
    ['it answers again as kubelet exits', answers(waits), [true]],
    ['it answers again before kubelet exits', answers(second, second, waits), [true]],
    ['the same within its excuse', marks([silent(second), ...[second, second, waits].map(answering)]), [true]],
    ['systemd alone tells of the exit', answers(second, third), [true]],
    ['a process that was started since exits', answers(second, third, down('auto-restart', 'i-3', 2)), [true, true]],
    ['kubelet was healthy in between', answers(healthy(A, 'i-2', 1), healthy(A, 'i-2', 1), waits), [false]],
    ['the config names another one', marks([silent(second), silent(waits)].map(others)), [false]],
  ]
  for (const [what, actual, expected] of cases) t.same(actual, expected, what)
  const upgraded = follow([answering(waits)], pastExcuse, trialKey(contentOf(A), 'kubelet-2'))
  t.match(upgraded.recentExits, [{ key: SUBJECT, lackedRuntime: true }], 'kubelet is another one on disk')
  t.end()
})

t.test('a config that is tried again leaves its exits behind, on whatever kubelet they were (rule 49)', async (t) => {
  const exitOf = (key: string): KubeletExit => ({ key, invocationId: 'i-1', atUs: NOW_US })
  const others = exitOf(keyOf('b'))
  const record = { ...health(A), recentExits: [exitOf(keyOf('a')), exitOf(trialKey('a', 'another-kubelet')), others] }
  t.strictSame(forgetExits(record, 'a').recentExits, [others])
})

t.test('the exits that one look adds to the log', (t) => {
  const key = keyOf('a')
  const look = { unit: unit({ invocationId: 'i-3', startedAtUs: 7, killedBy: 'SIGKILL' }), nowUs: 9 }
  const unknown = { key, invocationId: '', atUs: 9 }
  const own = { key, invocationId: 'i-3', startedAtUs: 7, atUs: 9, killedBy: 'SIGKILL' }
  const former = { key, invocationId: 'i-1', startedAtUs: 5, atUs: 9 }
  const earlier: KubeletExit = { key: keyOf('b'), invocationId: 'i-0', atUs: 1 }
  const before = { recentExits: [earlier], invocationId: 'i-1', process: { ...PROCESS, invocationId: 'i-1', startedAtUs: 5 } }
  const cases: readonly (readonly [string, Parameters<typeof logExits>[0], unseen: number, seen: boolean, readonly KubeletExit[]])[] = [
    ['none', before, 0, false, [earlier]],
    ['none, and there is no record', undefined, 0, false, []],
    ['the one that was seen', before, 0, true, [earlier, own]],
    ['the one that ran at the last look', before, 1, false, [earlier, former]],
    ['one more', before, 2, false, [earlier, former, unknown]],
    ['all three', before, 2, true, [earlier, former, unknown, own]],
    ['the one before was judged already', { ...before, exitSeenOf: 'i-1' }, 1, false, [earlier, unknown]],
    ['its start is not known', { ...before, process: undefined }, 1, false, [earlier, { ...former, startedAtUs: undefined }]],
    [
      'another process ran last',
      { ...before, invocationId: 'i-2' },
      1,
      false,
      [earlier, { ...former, invocationId: 'i-2', startedAtUs: undefined }],
    ],
    ['nothing was known before', undefined, 1, true, [unknown, own]],
  ]
  for (const [what, from, unseen, seen, expected] of cases) t.same(logExits(from, look, key, { unseen, seen }), expected, what)
  const marked = logExits(before, look, key, { unseen: 2, seen: true, lackedRuntimeUs: look.nowUs })
  t.same(
    marked.slice(1),
    [former, unknown, own].map((exit) => ({ ...exit, lackedRuntime: true })),
    'without the runtime',
  )
  const lacking = (from: typeof before) =>
    logExits(from, look, key, { unseen: 2, seen: true, lackedRuntimeUs: 6 }).map(({ lackedRuntime }) => lackedRuntime === true)
  t.same(lacking(before).slice(1), [true, false, false], 'which was back before the last of them began')
  t.same(logExits({ ...before, process: undefined }, look, key, { unseen: 1, seen: false, lackedRuntimeUs: 6 })[1]?.lackedRuntime, true)
  const waits = (untilUs?: number) => ({
    ...look,
    unit: { ...look.unit, restartWait: { sinceUs: 9, ...(untilUs !== undefined && { untilUs }) } },
  })
  const noted = (untilUs?: number) => logExits(before, waits(untilUs), key, { unseen: 2, seen: true }).slice(1)
  t.strictSame(noted(20), [former, unknown, { ...own, restartsAtUs: 20 }], 'systemd waits after the last of them')
  t.strictSame(noted(), [former, unknown, own], 'nobody knows for how long')
  t.equal(logExits(before, look, key, { unseen: 1e9, seen: false }).length, 2 + 10, 'however many systemd counts')
  t.end()
})

t.test('how many exits are a warning, and a failure', (t) => {
  const log = (count: number) => exitInTurn(...Array.from({ length: count }, () => 'a'))
  t.same(
    [4, 5, 9, 10].map((count) => countOf('a', log(count))),
    [
      undefined,
      ...[5, 9].map((exits) => ({ exits, failed: false, isOver: false, isVarying: false })),
      { exits: 10, failed: true, isOver: false, isVarying: false },
    ],
  )
  t.equal(countRecurringExits({ ...health(A), recentExits: undefined }, NOW_US), undefined)
  const at = (sinceUs: number) =>
    countRecurringExits(
      { ...health(A), subject: keyOf('a'), recentExits: log(5).map((exit) => ({ ...exit, atUs: NOW_US })) },
      NOW_US + sinceUs,
    )
  t.same([at(24 * HOUR_US - 1)?.exits, at(24 * HOUR_US)], [5, undefined], 'the end of the window')
  t.same(
    [5, 9, 10].map((exits) => describeRecurringExits({ exits })),
    ['kubelet exited 5 times within 24 hours', 'kubelet exited 9 times within 24 hours', 'kubelet exited 10 or more times within 24 hours'],
  )
  t.end()
})

t.test('processes that live for as long as a trial, and exit then', (t) => {
  const lives = (...livedUs: readonly (number | undefined)[]) => {
    const recentExits = livedUs.map(
      (us): KubeletExit => ({ key: keyOf('a'), invocationId: 'i', startedAtUs: us === undefined ? us : NOW_US - us, atUs: NOW_US }),
    )
    return outlivesTrials({ recentExits, subject: keyOf('a') }, NOW_US, POLICY)
  }
  const { trialUs } = POLICY
  t.equal(lives(trialUs, trialUs, trialUs, trialUs, trialUs), true)
  t.equal(lives(trialUs, trialUs, trialUs, trialUs), false)
  t.equal(lives(trialUs, trialUs, trialUs, trialUs, trialUs - 1), false)
  t.equal(lives(trialUs, trialUs, trialUs, trialUs, undefined), false)
  t.equal(outlivesTrials({ subject: keyOf('a') }, NOW_US, POLICY), false)
  t.end()
})

t.test('the longest life of those that exited on trial', (t) => {
  const { trialUs } = POLICY
  const longest = (livedUs: readonly (number | undefined)[], policy = POLICY, key = keyOf('a')) => {
    const recentExits = livedUs.map(
      (us): KubeletExit => ({ key, invocationId: 'i', ...(us !== undefined && { startedAtUs: NOW_US - us }), atUs: NOW_US }),
    )
    return longestLifeOnTrialUs({ recentExits, subject: keyOf('a') }, NOW_US, policy)
  }
  t.equal(longest([1, 3, 2]), 3)
  t.equal(longest([5, trialUs - 1]), trialUs - 1)
  t.equal(longest([5, trialUs]), 5, 'one that lived for a trial was not on trial any more')
  const long = { ...POLICY, trialUs: 9 * HOUR_US }
  t.equal(longest([5, HOUR_US - 1], long), HOUR_US - 1)
  t.equal(longest([5, HOUR_US], long), 5, 'nor one that lived for an hour')
  t.equal(longest([undefined]), 0, 'the start is not known')
  t.equal(longest([5], POLICY, keyOf('b')), 0, 'another config')
  t.equal(longestLifeOnTrialUs({ subject: keyOf('a') }, NOW_US, POLICY), 0)
  t.end()
})

t.test('exits in a row, as one kubelet after another', (t) => {
  const { trialUs } = POLICY
  const count = (...exits: readonly (readonly [agoUs: number, kubelet: string, content?: string])[]) => {
    const recentExits = exits.map(
      ([agoUs, kubelet, content = 'a']): KubeletExit => ({ key: trialKey(content, kubelet), invocationId: 'i', atUs: NOW_US - agoUs }),
    )
    return countVaryingExits({ recentExits, subject: keyOf('a') }, NOW_US, POLICY)
  }
  t.equal(count([3, 'k-1'], [2, 'k-2'], [1, 'k-3']), 3)
  t.equal(count([4, 'k-1'], [3, 'k-2'], [2, 'k-3'], [1, 'k-3']), 4)
  t.equal(count([2, 'k-1'], [1, 'k-2']), 0, 'fewer than the limit')
  t.equal(count([3, 'k-1'], [2, 'k-2'], [1, 'k-2']), 0, 'one upgrade')
  t.equal(count([3, 'k-1'], [2, 'k-2', 'b'], [1, 'k-3']), 0, 'another content')
  t.equal(count([3, 'k-1'], [2, 'k-2', 'b'], [2, 'k-2'], [1, 'k-3']), 3, 'another content between')
  t.equal(count([trialUs + 1, 'k-1'], [2, 'k-2'], [1, 'k-3']), 3, 'the time of a trial between two')
  t.equal(count([trialUs + 2, 'k-1'], [2, 'k-2'], [1, 'k-3']), 0, 'no more')
  t.equal(count([9 * trialUs, 'k-0'], [3, 'k-1'], [2, 'k-2'], [1, 'k-3']), 3, 'those before do not count')
  t.equal(count([trialUs + 2, 'k-1'], [trialUs + 1, 'k-2'], [trialUs, 'k-3']), 0, 'the last was as long ago')
  t.equal(countVaryingExits({ subject: keyOf('a') }, NOW_US, POLICY), 0)
  const three = ['k-1', 'k-2', 'k-3'].map((kubelet): KubeletExit => ({ key: trialKey('a', kubelet), invocationId: 'i', atUs: NOW_US }))
  const patient = { ...POLICY, crashLimit: 4 }
  t.equal(countVaryingExits({ recentExits: three, subject: keyOf('a') }, NOW_US, patient), 0, 'fewer than a higher limit')
  t.end()
})

t.test('whether systemd refused a start of a kubelet that did not exit', (t) => {
  const subject = keyOf('a')
  const exited = (agoUs: number, key = subject) => ({ recentExits: [{ key, invocationId: 'i', atUs: NOW_US - agoUs }] })
  const isRefused = (record: object, facts: object = {}) =>
    isStartRefused({ exits: 0, subject, ...record }, unit({ activity: 'failed', startLimitHit: true, ...facts }), NOW_US, POLICY)
  t.equal(isRefused({}), true)
  t.equal(isRefused({}, { activity: 'auto-restart' }), false)
  t.equal(isRefused({}, { startLimitHit: undefined }), false)
  t.equal(isRefused({ exits: 1 }), false)
  t.equal(isRefused(exited(POLICY.trialUs - 1)), false)
  t.equal(isRefused(exited(POLICY.trialUs)), true, 'the time of a trial ago')
  t.equal(isRefused(exited(1, keyOf('b'))), true, 'another config did')
  t.end()
})

/**
 * The exits of the subject and of the process, what is excused, and what the log has:
 * `exits/process/excused i-1,…`. A star marks those of another subject.
 */
function judge(record: HealthRecord): string {
  const log = record.recentExits?.map(({ key, invocationId }) => `${invocationId || '?'}${key === record.subject ? '' : '*'}`) ?? []
  return `${record.exits}/${record.process?.exits ?? 0}/${record.excusedExits?.count ?? 0} ${log.join(',')}`.trim()
}

t.test('whose the exits of a look are, and each once', (t) => {
  const silent = (facts: Look): Look => ({ ...facts, runtimeUp: false })
  const answering = (facts: Look): Look => ({ ...facts, runtimeUp: true })
  const taken = (facts: Look): Look => ({ ...facts, portTaken: 'port 10250 is taken' })
  const ofB = follow([healthy(B)], undefined, sourceKey(B))
  const asked = expectStart(follow([ill()]), NOW_US, POLICY)
  const seen = follow([ill(), down('auto-restart')])
  const upgraded = sourceKey(A, 'kubelet-2')
  const GAP = POLICY.toleranceUs + 1
  const cases: readonly (readonly [
    string,
    readonly Look[],
    string,
    { from?: HealthRecord | undefined; subject?: string; everyUs?: number }?,
  ])[] = [
    ['it runs on', [ill(), ill()], '0/0/0'],
    ['its end is seen', [ill(), down('auto-restart')], '1/1/0 i-1'],
    ['its end is seen twice', [ill(), down('auto-restart'), down('auto-restart')], '1/1/0 i-1'],
    ['systemd gave it up', [ill(), down('failed')], '1/1/0 i-1'],
    ['it exited, and is left so', [ill(), down('exited')], '1/1/0 i-1'],
    ['it was stopped', [ill(), down('stopped')], '0/0/0'],
    ['it was taken down', [ill(), down('left-down')], '0/0/0'],
    ['systemd counts it', [ill(), ill(A, 'i-2', 1)], '1/1/0 i-1'],
    ['systemd counts it, after its end was seen', [ill(), down('auto-restart'), ill(A, 'i-2', 1)], '1/1/0 i-1'],
    ['systemd counts it a moment before the next start', [ill(), down('auto-restart', 'i-1', 1), ill(A, 'i-2', 1)], '1/1/0 i-1'],
    [
      'systemd counts it, and then two more',
      [ill(A, 'i-1', 5), down('auto-restart', 'i-1', 6), down('auto-restart', 'i-1', 6), ill(A, 'i-4', 8)],
      '3/3/0 i-1,?,?',
    ],
    ['systemd counts two', [ill(), ill(A, 'i-3', 2)], '2/2/0 i-1,?'],
    ['systemd counts one more than was seen', [ill(), down('auto-restart'), ill(A, 'i-3', 2)], '2/2/0 i-1,?'],
    ['one is counted, and the next one seen', [ill(), down('auto-restart', 'i-2', 1)], '2/2/0 i-1,i-2'],
    ['a person restarts it', [ill(), ill(A, 'i-2')], '0/0/0'],
    ['a person restarts it, after its end was seen', [ill(), down('auto-restart'), ill(A, 'i-2')], '1/1/0 i-1'],
    ['the count begins anew (rule 13)', [ill(A, 'i-1', 5), ill(A, 'i-3', 1)], '1/1/0 i-1'],
    ['it was not executed', [pre('starting'), pre('auto-restart')], '0/0/0'],
    [
      'it was not executed, and systemd counts that',
      [pre('auto-restart'), pre('starting', 'i-2', 1), pre('auto-restart', 'i-2', 1)],
      '0/0/0',
    ],
    ['it was not executed, and systemd counts that before the next start', [pre('starting'), pre('auto-restart', 'i-1', 1)], '0/0/0'],
    ['it was not executed, in starts that no look has seen', [pre('auto-restart'), pre('starting', 'i-9', 8)], '0/0/0'],
    ['the same, until it is executed', [pre('auto-restart'), ill(A, 'i-9', 8), down('auto-restart', 'i-9', 8)], '1/1/0 i-9'],
    ['it exits, and is not executed any more', [ill(), pre('auto-restart', 'i-9', 8)], '1/1/0 i-1'],
    ['it exits at once, after what runs before it', [pre('starting'), down('auto-restart')], '1/0/0 i-1'],
    ['the same, and systemd counts it before the next start', [pre('starting'), down('auto-restart', 'i-1', 1)], '1/0/0 i-1'],
    ['it exits again and again, after what runs before it', [ill(), pre('starting', 'i-2', 1), pre('starting', 'i-3', 2)], '2/2/0 i-1,i-2'],
    ['nothing was known before', [down('auto-restart')], '0/0/0'],
    ['what ended before the first look is counted', [down('auto-restart'), ill(A, 'i-2', 1)], '0/0/0'],
    ['in a gap (rule 11)', [ill(), ill(A, 'i-2', 1)], '0/0/0', { everyUs: GAP }],
    ['its end is seen after a gap', [ill(), down('auto-restart')], '0/0/0', { everyUs: GAP }],
    ['looks come late, and it is ill throughout', [ill(), ill(A, 'i-5', 4), ill(A, 'i-9', 8)], '1/1/0 i-5', { everyUs: GAP }],
    ['looks come late, and it is well', [ill(), ill(A, 'i-5', 4), healthy(A, 'i-9', 8)], '0/0/0', { everyUs: GAP }],
    ['looks come late, and its end is seen', [ill(), ill(A, 'i-5', 4), down('auto-restart', 'i-5', 4)], '1/1/0 i-5', { everyUs: GAP }],
    [
      'looks come late, one is counted and one seen',
      [ill(), ill(A, 'i-5', 4), down('auto-restart', 'i-9', 8)],
      '1/1/0 i-5',
      { everyUs: GAP },
    ],
    ['its runtime is silent', [ill(), silent(down('auto-restart'))], '0/0/1'],
    ['its runtime is silent, and systemd counts it', [ill(), silent(ill(A, 'i-2', 1))], '0/0/1'],
    ['its runtime is silent, and both', [ill(), silent(down('auto-restart', 'i-2', 1))], '0/0/2'],
    ['its runtime is back as systemd counts it', [ill(), silent(down('auto-restart')), answering(ill(A, 'i-2', 1))], '0/0/1'],
    ['its runtime is back as it is given up', [silent(ill()), answering(down('failed'))], '0/0/1'],
    ['its runtime is silent in a gap', [silent(ill()), silent(ill(A, 'i-2', 1))], '0/0/0', { everyUs: GAP }],
    ['a port of it is taken', [taken(ill()), taken(ill(A, 'i-2', 1))], '0/0/0'],
    ['a port of it is taken, and its end is seen', [taken(ill()), taken(down('auto-restart'))], '0/0/0'],
    ['it is not started yet, and what runs exits', [down('auto-restart')], '0/1/0', { from: ofB }],
    ['it is not started yet, and its runtime is silent', [silent(down('auto-restart'))], '0/0/0', { from: ofB }],
    ['it has started, after what ran', [ill(A, 'i-2', 1)], '0/0/0', { from: ofB }],
    ['it has started and exits, after what ran', [ill(A, 'i-2', 1), ill(A, 'i-3', 2)], '1/1/0 i-2', { from: ofB }],
    ['what a request replaces exits', [ill(A, 'i-2', 1)], '0/1/0', { from: asked }],
    ['what a request replaces exits, and the next one, too', [ill(A, 'i-3', 2)], '1/2/0 i-1', { from: asked }],
    ['what a request replaces has exited before', [ill(A, 'i-3', 2)], '2/2/0 i-1,?', { from: expectStart(seen, NOW_US, POLICY) }],
    ['it exits as the kubelet that it was started as', [down('auto-restart')], '0/1/0 i-1*', { from: follow([ill()]), subject: upgraded }],
    ['the same is counted', [down('starting', 'i-2', 1)], '0/1/0 i-1*', { from: follow([ill()]), subject: upgraded }],
    ['the same in a gap', [down('auto-restart')], '0/0/0', { from: follow([ill()]), subject: upgraded, everyUs: GAP }],
    ['another config is to start next', [down('auto-restart')], '0/1/0', { from: follow([ill()]), subject: sourceKey(B) }],
    ['one that was seen before is kept for another subject', [down('auto-restart')], '0/1/0 i-1*', { from: seen, subject: sourceKey(B) }],
  ]
  for (const [what, looks, expected, { from, subject = SUBJECT, everyUs } = {}] of cases)
    t.equal(judge(follow(looks, from, subject, everyUs)), expected, what)
  t.end()
})

t.test('a whole trial forgets the exits, those of a pause, too', (t) => {
  const looped = { ...follow([ill(), ill(A, 'i-2', 1)]), pausedExits: 4 }
  const after = (count: number) => {
    const { exits, pausedExits } = follow(times(count, healthy(A, 'i-2', 1)), looped, SUBJECT, POLICY.toleranceUs)
    return { exits, pausedExits }
  }
  const looks = POLICY.trialUs / POLICY.toleranceUs
  t.same(
    [after(looks), after(looks + 1)],
    [
      { exits: 1, pausedExits: 4 },
      { exits: 0, pausedExits: undefined },
    ],
  )
  t.same(after(1).pausedExits, 4)
  t.equal(follow([ill(B, 'i-3', 2)], looped, sourceKey(B)).pausedExits, undefined, 'another config')
  t.end()
})

t.test('the invocation whose exit was judged', (t) => {
  const judged = (...looks: readonly Look[]) => follow(looks).exitSeenOf
  t.equal(judged(ill()), undefined)
  t.equal(judged(ill(), down('auto-restart')), 'i-1')
  t.equal(judged(ill(), down('auto-restart'), ill(A, 'i-2', 1)), 'i-1')
  t.equal(judged(ill(), down('starting', 'i-1', 1)), 'i-1', 'systemd has counted it')
  t.equal(judged(ill(), ill(A, 'i-2', 1)), undefined, 'counted with the next start')
  t.end()
})

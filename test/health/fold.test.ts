// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { isExcused, isExcuseUsedUp, RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import { findFailure } from '../../src/health/failure.ts'
import {
  expectAnotherTry,
  expectStart,
  forgetExits,
  forgetIllness,
  type HealthRecord,
  recordProcess,
  recordSample,
} from '../../src/health/fold.ts'
import { isIllNow, isLongIll } from '../../src/health/process.ts'
import { type HealthSample, PORT_NOT_KNOWN } from '../../src/health/sample.ts'
import type { UnitActivity } from '../../src/subject/unit-state.ts'
import {
  A,
  B,
  BOOT,
  contentOf,
  HOUR_US,
  KUBELET,
  keyOf,
  MINUTE_US,
  NOW_US,
  POLICY,
  runs,
  runsNothing,
  SECOND_US,
  UPGRADED_KUBELET,
  unit,
} from '../decision/snapshots.ts'
import { down, follow, healthy, ill, type Look, look, loop, OK, REFUSED, runsSince, SUBJECT, times, verdictOn } from './samples.ts'

const ENDED_WITH = {
  name: 'kubelet.service',
  activeExitUs: 1,
  inactiveEnterUs: 1,
  mainExitUs: 1,
  endedWith: 'containerd.service',
} as const

t.test('the health of one process says nothing of the next (rule 27)', async (t) => {
  const next = { ...healthy(), unit: { ...(healthy().unit ?? unit()), invocationId: 'i-next' } }
  t.match(follow([healthy(), next]), { healthySinceUs: NOW_US + SECOND_US, everHealthy: true })
})

t.test('a person who restarts kubelet gives it its time again, systemd does not (rule 29)', async (t) => {
  const slow = follow([ill(), ill()])
  t.match(follow([ill(A, 'i-2')], slow), { unhealthySinceUs: slow.lastSampleUs + SECOND_US })
  t.match(follow([ill(A, 'i-2', 1)], slow), { unhealthySinceUs: NOW_US })
  const counted = follow([down('auto-restart', 'i-1', 1)], slow)
  const next = follow([ill(A, 'i-2', 1)], counted)
  t.match(next, { unhealthySinceUs: NOW_US, process: { unhealthySinceUs: NOW_US } }, 'also where it was counted at the look before')
})

t.test('a kubelet that began without its runtime exits, and the next one has its whole time (rule 30)', async (t) => {
  const without = follow([{ ...ill(), runtimeUp: false }])
  const answered = follow(
    [
      { ...ill(), runtimeUp: true },
      { ...down('auto-restart'), runtimeUp: true },
    ],
    without,
  )
  t.match(answered, { unhealthySinceUs: without.lastSampleUs + SECOND_US }, 'it has to start or to exit now')
  const next = follow([{ ...ill(A, 'i-2', 1), runtimeUp: true }], answered)
  t.match(next, { unhealthySinceUs: answered.lastSampleUs + SECOND_US })
  t.match(follow([{ ...ill(A, 'i-3', 2), runtimeUp: true }], next), { unhealthySinceUs: next.unhealthySinceUs }, 'once')
})

t.test(
  'a kubelet that began without its runtime is not condemned where systemd gives it up as the runtime is back (rule 40)',
  async (t) => {
    const without = follow([{ ...ill(), runtimeUp: false }])
    const givenUp = { ...down('failed'), runtimeUp: true }
    t.equal(verdictOn(follow([givenUp], without), givenUp), undefined, 'at that exit')
    const unseen = follow([{ ...down('auto-restart', 'i-2'), runtimeUp: true }], without)
    t.match(unseen, { beganExcused: true }, 'it began and ended between two looks')
    const unseenGivenUp = { ...down('failed', 'i-2'), runtimeUp: true }
    t.equal(verdictOn(follow([unseenGivenUp], without), unseenGivenUp), undefined, 'nor where systemd gave up such a one')
    t.match(follow([{ ...healthy(), runtimeUp: true }], without), { beganExcused: false }, 'it did not exit')
    t.match(follow([{ ...runsSince(NOW_US), ...OK, runtimeUp: true }], without), { beganExcused: false }, 'nor where it has just started')
    const runsFor = (halfMinutes: number) =>
      follow(times(halfMinutes, { ...runsSince(NOW_US), runtimeUp: true }), without, SUBJECT, MINUTE_US / 2)
    t.match(
      runsFor(POLICY.toleranceUs / (MINUTE_US / 2)),
      { beganExcused: true },
      'without a health port it may still wait for its runtime',
    )
    t.match(runsFor(POLICY.toleranceUs / (MINUTE_US / 2) + 1), { beganExcused: false }, 'but not for longer than is tolerated')
    const portless = follow([{ ...runsSince(NOW_US), runtimeUp: true }], without)
    t.equal(verdictOn(follow([givenUp], portless), givenUp), undefined, 'a kubelet without a health port that only ran is not up yet')
  },
)

t.test('after a gap, a runtime that was silent before it excuses what began just after that look (rule 41)', async (t) => {
  const without = follow([{ ...ill(), runtimeUp: false }])
  const startedAt = (startedAtUs: number): Look => runs(A, { invocationId: 'i-2', unit: { startedAtUs, activity: 'starting' } }) as Look
  const afterGap = (startedUs: number) =>
    follow([{ ...startedAt(without.lastSampleUs + startedUs), runtimeUp: true }], without, SUBJECT, 200 * SECOND_US)
  const gaveUp = { ...down('failed', 'i-2'), runtimeUp: true }
  for (const startedUs of [0, SECOND_US, POLICY.toleranceUs])
    t.equal(verdictOn(follow([gaveUp], afterGap(startedUs)), gaveUp), undefined, 'it began just before nobody looked for long')
  for (const startedUs of [100 * SECOND_US, -SECOND_US, -without.lastSampleUs])
    t.match(afterGap(startedUs), { beganExcused: false }, 'what the runtime did while nobody looked is not known')
})

t.test('a config that names another runtime is not excused by that of the fallback (rule 37)', async (t) => {
  const silent = { runtimeUp: false, changesRuntime: true }
  const looped = follow(loop(POLICY.crashLimit).map((facts) => ({ ...facts, ...silent })))
  t.match(looped, { exits: POLICY.crashLimit, excused: false })
})

t.test('a unit that a person stops is out of judgement until its next start (rule 9)', async (t) => {
  const stopped = follow([ill(), ill(), down('stopped')])
  t.match(stopped, { started: false, startedSinceUs: undefined, unhealthySinceUs: undefined })
  t.equal(verdictOn(stopped, down('stopped'), HOUR_US), undefined)
  t.match(follow([down('starting', 'i-2')], stopped), { started: true, unhealthySinceUs: stopped.lastSampleUs + SECOND_US })
})

t.test('between two starts kubelet is ill with what ran last (rule 34)', async (t) => {
  const failed = follow([healthy(), down('auto-restart'), down('starting', 'i-2', 1)])
  t.match(failed.process, { key: SUBJECT, healthySinceUs: undefined, unhealthySinceUs: NOW_US + SECOND_US })
  const unread = { ...down('running'), running: { kind: 'unknown', detail: 'permission denied' } } as const
  t.match(follow([healthy(), unread]).process, { unhealthySinceUs: undefined }, 'what cannot be read is no illness')
  t.match(follow([ill(), unread]).process, { unhealthySinceUs: NOW_US }, 'and ends none')
})

t.test('what runs is long ill past the tolerance, or after as many exits as the limit (rule 35)', async (t) => {
  const { toleranceUs } = POLICY
  const slow = follow([ill()])
  t.equal(isLongIll(slow, NOW_US + toleranceUs, POLICY), false)
  t.equal(isLongIll(slow, NOW_US + toleranceUs + 1, POLICY), true)
  const looped = follow([...loop(POLICY.crashLimit), healthy(A, 'i-last', POLICY.crashLimit)])
  t.equal(isLongIll(looped, looped.lastSampleUs, POLICY), true)
  t.equal(isIllNow(looped, looped.lastSampleUs + toleranceUs + 1, POLICY), false, 'it is well by now')
  t.equal(isLongIll(undefined, NOW_US, POLICY), false, 'nothing is known')
})

t.test('a runtime that is silent for longer than it excuses has excused no later start', async (t) => {
  const silentFor = (seconds: number) => follow(times(seconds + 1, { ...ill(), runtimeUp: false }))
  const next = { ...down('auto-restart', 'i-2'), runtimeUp: true }
  t.match(follow([next], silentFor(RUNTIME_EXCUSE_US / SECOND_US - 1)), { beganExcused: true })
  t.match(follow([next], silentFor(RUNTIME_EXCUSE_US / SECOND_US)), { beganExcused: false })
})

t.test('what runs is excused by its runtime as well, whatever kubelet starts with next', async (t) => {
  const silent = { ...ill(), runtimeUp: false }
  t.match(follow([silent, silent]), { process: { unhealthySinceUs: undefined } })
  t.match(follow([silent], follow([silent]), keyOf(B)), { process: { key: SUBJECT, unhealthySinceUs: undefined } })
  const excused = times(62, silent).map((facts, n): Look => ({ ...facts, ...down('auto-restart', `i-${n}`, n) }))
  const often = follow(excused, undefined, SUBJECT, 5 * SECOND_US)
  const usedUp = follow(times(6, { ...ill(A, 'i-last', 61), runtimeUp: true }), often, SUBJECT, MINUTE_US)
  t.match(usedUp, { excusedExits: { count: 61 }, process: { unhealthySinceUs: Number } })
  const later = follow([{ ...ill(A, 'i-last', 61), runtimeUp: false }], usedUp)
  t.match(later, { process: { unhealthySinceUs: usedUp.process?.unhealthySinceUs } }, 'until the excuse is used up')
})

t.test('between two processes of a crash loop, while systemd has queued the start', async (t) => {
  const looks = loop(POLICY.crashLimit - 1)
  const last = POLICY.crashLimit - 1
  const record = follow([
    ...looks,
    down('queued', `i-${last}`, last),
    ill(A, `i-${last + 1}`, last),
    down('auto-restart', `i-${last + 1}`, last),
  ])
  t.equal(verdictOn(record, down('auto-restart', `i-${last + 1}`, last)), 'crash-loop', 'each exit counts, and nobody has stopped kubelet')
})

t.test('a start that waits in systemd’s queue is no illness, however long it waits (rule 28)', async (t) => {
  const record = follow(times(20 * 60, down('queued')))
  t.match(record, { started: true, exits: 0, unhealthySinceUs: undefined })
  t.equal(verdictOn(record, down('queued')), undefined)
})

t.test('a start that waits in systemd’s queue ends no illness, and adds nothing to it', async (t) => {
  const slow = follow([ill(), ill()])
  const queued = follow(times(30, down('queued', 'i-1', 1)), slow)
  const waited = { unhealthySinceUs: NOW_US + 30 * SECOND_US }
  t.match(queued, { ...waited, process: waited })
  t.match(follow([ill(A, 'i-2', 1)], queued), { ...waited, process: waited }, 'its next process is as late as if it had not waited')
  const byPerson = follow([down('queued'), ill(A, 'i-2')], slow)
  const anew = { unhealthySinceUs: byPerson.lastSampleUs }
  t.match(byPerson, { ...anew, process: anew }, 'whoever restarts kubelet gives it its time again')
  const well = follow([healthy(), down('queued', 'i-1', 1)])
  t.match(well, { unhealthySinceUs: undefined, process: { unhealthySinceUs: undefined } })
  const excused = follow([{ ...down('queued', 'i-1', 1), runtimeUp: false }], slow)
  t.match(excused, { unhealthySinceUs: undefined, process: { unhealthySinceUs: undefined } })
})

t.test('what was ill until its process ended was ill, also where the next look finds a start queued', async (t) => {
  // Each time, some other unit takes a moment longer.
  const cycle = (n: number): Look[] => {
    const queued = down('queued', `i-${n}`, n + 1)
    if (queued.unit?.kind !== 'known') throw new Error('its unit is known')
    const endedUs = NOW_US + (20 * n + 9) * SECOND_US
    return [ill(A, `i-${n}`, n), { ...queued, unit: { ...queued.unit, restartWait: { sinceUs: endedUs } } }]
  }
  const record = follow([0, 1, 2].flatMap(cycle), undefined, SUBJECT, 10 * SECOND_US)
  // The second after each end is left out, and the starts are not.
  const illUs = (3 * 9 + 2 * 10) * SECOND_US
  t.match(record, { unhealthySinceUs: record.lastSampleUs - illUs, process: { unhealthySinceUs: record.lastSampleUs - illUs } })
})

t.test('once healthy, until another restart is asked for (rule 46)', async (t) => {
  t.match(follow([ill()]), { everHealthy: false })
  const record = follow([healthy(), ill()])
  t.match(record, { everHealthy: true })
  t.match(expectStart(record, NOW_US, POLICY), { everHealthy: false, started: true })
})

t.test('health is counted from its first look, and ends at once', async (t) => {
  const record = follow(times(3, healthy()))
  t.match(record, { healthySinceUs: NOW_US, unhealthySinceUs: undefined, wasHealthy: true, starts: 1, exits: 0 })
  t.match(follow([ill()], record), { healthySinceUs: undefined, unhealthySinceUs: NOW_US + 3 * SECOND_US, wasHealthy: true })
  t.match(follow([ill(), healthy()], record), { healthySinceUs: NOW_US + 4 * SECOND_US, unhealthySinceUs: undefined })
})

t.test('without a health port systemd’s word counts (rule 26)', async (t) => {
  t.match(follow([{ ...healthy(), healthz: undefined }]), { healthySinceUs: NOW_US })
  const unknown = follow([{ ...healthy(), healthz: PORT_NOT_KNOWN }])
  t.match(unknown, {
    healthySinceUs: undefined,
    unhealthySinceUs: undefined,
    process: { healthySinceUs: undefined, unhealthySinceUs: undefined },
  })
  t.equal(unknown.everHealthy, false, 'a port that is not known is neither health nor illness')
})

t.test('no answer from systemd changes nothing (rule 1)', async (t) => {
  const record = follow(times(3, healthy()))
  const unknown = look(10 * SECOND_US, { unit: { kind: 'unknown', detail: 'bus' }, running: { kind: 'unknown', detail: 'bus' } })
  t.equal(recordSample(record, unknown, SUBJECT, POLICY), record)
  t.equal(recordSample(undefined, unknown, SUBJECT, POLICY), undefined)
})

t.test('another subject, or another boot, starts another record (rule 2)', async (t) => {
  const record = follow([...times(3, healthy()), down('auto-restart')])
  t.match(follow([down('auto-restart', 'i-1', 1)], record, keyOf(B)), {
    subject: keyOf(B),
    subjectSinceUs: NOW_US + 4 * SECOND_US,
    contentSinceUs: NOW_US + 4 * SECOND_US,
    exits: 0,
  })
  const onAnother = follow([down('auto-restart', 'i-1', 1)], record, keyOf(A, 'another kubelet'))
  t.match(onAnother, { subjectSinceUs: NOW_US + 4 * SECOND_US, contentSinceUs: NOW_US }, 'of the same content')
  const rebooted = recordSample(
    record,
    { ...look(5 * SECOND_US, healthy()), at: { bootId: 'boot-2', monotonicUs: 7, wallMs: 0 } },
    SUBJECT,
    POLICY,
  )
  t.match(rebooted, { bootId: 'boot-2', subjectSinceUs: 7, healthySinceUs: 7, exits: 0 })
})

t.test('what a process runs is fixed when it is first seen (rule 6)', async (t) => {
  const record = follow([healthy('local')])
  t.same(record.lastProcess, { invocationId: 'i-1', content: 'local', kubeletIdentity: KUBELET })
  const upgraded = { ...healthy('local'), unit: unit({ invocationId: 'i-1', kubeletIdentity: UPGRADED_KUBELET }) }
  t.equal(follow([upgraded], record).lastProcess?.kubeletIdentity, KUBELET)
})

t.test('a runtime that answers now and then excuses for 10 minutes and 60 exits, whichever ends later (rule 38)', async (t) => {
  const exitsIn = (seconds: number, everySeconds: number, from?: HealthRecord) => {
    const count = seconds / everySeconds
    const looks = Array.from({ length: count }, (_, index) => {
      const n = (from?.lastNRestarts ?? 0) + index
      const waits = down('auto-restart', `i-${n}`, n)
      return [
        { ...ill(A, `i-${n}`, n), runtimeUp: false },
        { ...waits, runtimeUp: false },
        { ...waits, runtimeUp: true },
      ]
    })
    return follow(looks.flat(), from, SUBJECT, (everySeconds / 3) * SECOND_US)
  }
  const last = down('auto-restart')
  const isLeft = (record: HealthRecord) => verdictOn(record, { ...last, runtimeUp: true }) !== undefined
  t.notOk(isLeft(exitsIn(400, 4)), '100 exits in less than 7 minutes')
  t.notOk(isLeft(exitsIn(900, 20)), '45 exits in a quarter of an hour')
  t.ok(isLeft(exitsIn(1300, 20)), '65 exits in 22 minutes')
  t.notOk(isLeft(exitsIn(400, 20, forgetIllness(exitsIn(1100, 20)))), 'what happened in a pause counts no more')
  const away = exitsIn(1100, 20)
  const later = follow([{ ...ill(A, 'i-x', away.lastNRestarts), runtimeUp: false }], away, SUBJECT, 2 * MINUTE_US)
  t.ok(isLeft(exitsIn(300, 20, later)), 'a gap forgets nothing')
})

t.test('what systemd gave up before the first look ran what is in place (rule 7)', async (t) => {
  t.same(follow([down('failed')]).lastProcess, { invocationId: 'i-1', content: contentOf(A), kubeletIdentity: KUBELET })
  t.match(
    follow([down('failed')], follow([down('failed')]), keyOf(B)).lastProcess,
    { content: contentOf(A) },
    'also once that is another config',
  )
  t.equal(follow([down('failed')], undefined, keyOf('local')).lastProcess, undefined, 'unless that is local')
  for (const activity of ['stopped', 'auto-restart', 'starting'] as const)
    t.equal(follow([down(activity)]).lastProcess, undefined, activity)
  t.equal(follow([down('failed')], follow([down('stopped', 'i-0')])).lastProcess, undefined, 'what came later is not known')
})

t.test('what systemd gave up before the first look is charged from its next start on (rule 8)', async (t) => {
  const first = follow([down('failed')])
  t.equal(verdictOn(first, down('failed')), undefined, 'it may have run something else')
  const asked = expectStart(first, first.lastSampleUs, POLICY)
  const again = down('failed', 'i-2')
  t.equal(verdictOn(follow([again], asked), again), 'crash-loop')
  t.equal(verdictOn(follow(loop(POLICY.crashLimit)), down('auto-restart')), 'crash-loop', 'what still loops is charged at once')
})

t.test('what runs another config when the record begins is charged to none but that', async (t) => {
  const first = follow([healthy(B)])
  t.match(first, { started: false, everHealthy: false }, 'as after the loss of /run, before the agent restarts kubelet')
  const exited = follow([down('auto-restart')], first)
  t.match(exited, { started: false, exits: 0 })
  const own = follow([down('auto-restart', 'i-2', 1)], exited)
  t.match(own, { started: true, exits: 1 }, 'systemd has started the next one with the subject')
})

t.test('crash loop', async (t) => {
  t.test('at the limit, and not before (rule 20)', async (t) => {
    const looks = loop(POLICY.crashLimit)
    for (const [index, last] of looks.entries()) {
      const expected = index === looks.length - 1 ? 'crash-loop' : undefined
      t.equal(verdictOn(follow(looks.slice(0, index + 1)), last), expected, `after look ${index}`)
    }
  })

  t.test('exits that came and went between two looks count, too (rule 15)', async (t) => {
    const last = ill(A, 'i-4', 3)
    t.equal(verdictOn(follow([ill(), last]), last), 'crash-loop')
  })

  t.test('however rarely it is seen running, and whatever the process is then called', async (t) => {
    const unclear = (nRestarts: number): Look => ({
      ...ill(A, `i-${nRestarts}`, nRestarts),
      healthz: undefined,
      running: { kind: 'unknown', detail: 'not yet kubelet' },
    })
    t.equal(verdictOn(follow([0, 1, 2, 3].map(unclear)), unclear(3)), 'crash-loop')
  })

  t.test('a whole trial without a break clears the slate (rule 19)', async (t) => {
    const twice = follow(loop(2))
    t.equal(twice.exits, 2, 'also the one that still waits for its restart')
    const calm = POLICY.trialUs / (30 * SECOND_US)
    t.equal(follow(times(calm, healthy(A, 'i-3', 2)), twice, SUBJECT, 30 * SECOND_US).exits, 2)
    t.equal(follow(times(calm + 1, healthy(A, 'i-3', 2)), twice, SUBJECT, 30 * SECOND_US).exits, 0)
  })

  t.test('a restart by hand is no exit (rule 13)', async (t) => {
    const record = follow([healthy(A, 'i-3', 2), healthy(A, 'i-4', 0)])
    t.match(record, { exits: 0, starts: 2 })
    t.equal(follow([healthy(A, 'i-5', 1)], record).exits, 1, 'what crashes after it is')
  })

  t.test('a process that outlived a gap is out of its crash loop, whatever was charged before (rule 12)', async (t) => {
    const looped = follow([...loop(POLICY.crashLimit), healthy(A, 'i-last', POLICY.crashLimit)])
    t.match([looped.exits, looped.process?.exits], [POLICY.crashLimit, POLICY.crashLimit])
    const lookAfterGap = look(looped.lastSampleUs - NOW_US + 2 * POLICY.toleranceUs, healthy(A, 'i-last', POLICY.crashLimit))
    const after = recordSample(looped, lookAfterGap, SUBJECT, POLICY)
    t.match([after?.exits, after?.process?.exits], [POLICY.crashLimit, 0], 'it is left for no other config, and its next exit counts')
    const another = { ...lookAfterGap, ...healthy(A, 'i-other', POLICY.crashLimit + 1) }
    t.equal(recordSample(looped, another, SUBJECT, POLICY)?.process?.exits, POLICY.crashLimit, 'another one may be in it')
  })

  t.test('exits in a gap are not charged (rule 11)', async (t) => {
    const record = follow([healthy()])
    const afterGap = recordSample(record, look(POLICY.toleranceUs + 1, healthy(A, 'i-9', 8)), SUBJECT, POLICY)
    t.equal(afterGap?.exits, 0)
  })

  t.test('but one of each, while looks come late again and again and kubelet is ill at each', async (t) => {
    const looks = [1, 2, 3, 4].map((count) => ill(A, `i-${6 * count}`, 6 * count))
    const slow = (count: number) => follow(looks.slice(0, count), follow([ill()]), SUBJECT, POLICY.toleranceUs + 1)
    t.same(
      [1, 2, 3, 4].map((count) => slow(count).exits),
      [0, 1, 2, 3],
    )
    t.match(slow(4), { process: { exits: 3 } })
    t.equal(verdictOn(slow(4), ill()), 'crash-loop')
    t.equal(follow([healthy(A, 'i-99', 99)], slow(3), SUBJECT, POLICY.toleranceUs + 1).exits, 2, 'and not where it is well')
    const silent = looks.slice(0, 2).map((facts): Look => ({ ...facts, runtimeUp: false, changesRuntime: true }))
    const withoutRuntime = follow(silent, follow([ill()]), SUBJECT, POLICY.toleranceUs + 1)
    t.match(withoutRuntime, { exits: 0, lateLooks: 2 }, 'nor where its runtime did not answer')
    const waiting = [1, 2, 3, 4].map((count) => down('auto-restart', `i-${6 * count}`, 6 * count))
    t.equal(follow(waiting, follow([ill()]), SUBJECT, POLICY.toleranceUs + 1).exits, 3)
  })

  t.test('nor while the container runtime refuses (rule 16)', async (t) => {
    const looks = loop(5).map((facts) => ({ ...facts, runtimeUp: false }))
    t.equal(follow(looks).exits, 0)
    t.equal(verdictOn(follow(looks), { ...down('auto-restart', 'i-5', 4), runtimeUp: false }), undefined)
  })

  t.test('nor does the runtime excuse what it cannot be asked about: exits in a gap, and those of what ran before', async (t) => {
    const silent = (facts: Look): Look => ({ ...facts, runtimeUp: false })
    const exited = silent(ill(A, 'i-5', 5))
    t.match(follow([exited], follow([silent(ill())])), { excusedExits: { count: 5 } })
    t.match(follow([exited], follow([silent(ill())]), SUBJECT, POLICY.toleranceUs + 1), { excusedExits: undefined })
    const before = follow([healthy('local')], undefined, keyOf('local'))
    t.match(follow([silent(healthy('local')), exited], before), { excusedExits: undefined })
  })

  t.test('nor where the start after it is seen before its process can be told', async (t) => {
    const forked = (invocationId: string, nRestarts: number): Look => ({
      unit: unit({ invocationId, nRestarts, process: { kind: 'unknown', detail: 'no command line yet' } }),
      running: { kind: 'unknown', detail: 'no command line yet' },
    })
    const outage = [
      down('auto-restart', 'i-1', 0),
      forked('i-2', 1),
      ill(A, 'i-2', 1),
      down('auto-restart', 'i-2', 1),
      forked('i-3', 2),
      ill(A, 'i-3', 2),
    ].map((facts) => ({ ...facts, runtimeUp: false }))
    t.match(follow([healthy(), ...outage]), { exits: 0, recentExits: { length: 0 } })
  })

  t.test('nor where kubelet has no health port, so that it counts as healthy while it runs', async (t) => {
    const running = (invocationId: string, nRestarts: number): Look => runs(A, { invocationId, unit: { nRestarts } }) as Look
    const outage = [running('i-2', 1), running('i-3', 2), running('i-4', 3)].map((facts) => ({ ...facts, runtimeUp: false }))
    t.match(follow([running('i-1', 0), ...outage]), { exits: 0, recentExits: { length: 0 } })
  })

  t.test('nor where it waited for the runtime before it was started (rule 36)', async (t) => {
    const silent = { runtimeUp: false }
    const running = { ...healthy('local'), ...silent }
    const waited = follow(times(2 * (RUNTIME_EXCUSE_US / SECOND_US), running), follow([running], undefined, keyOf('local')))
    const asked = expectStart(waited, waited.lastSampleUs, POLICY)
    const loops = loop(3).map((facts) => ({ ...facts, ...silent }))
    const looped = follow(loops, asked)
    const last = { ...down('auto-restart', 'i-3', 2), ...silent }
    t.equal(looped.exits, 0)
    t.equal(verdictOn(looped, last), undefined)
    const late = follow(times((RUNTIME_EXCUSE_US + POLICY.startDeadlineUs) / SECOND_US + 1, last), looped)
    t.equal(verdictOn(late, last), 'start-deadline', 'but the excuse ends')
    const gaveUp = follow([{ ...down('failed', 'i-2', 2), ...silent }], waited)
    t.match(gaveUp, { excused: true, recentExits: { length: 0 } }, 'nor where systemd started it, unasked')
  })

  t.test('an excused exit that systemd has counted already excuses no other (rule 17)', async (t) => {
    const silent = { runtimeUp: false }
    const outage = [down('auto-restart', 'i-1', 0), down('queued', 'i-1', 1)].map((facts) => ({ ...facts, ...silent }))
    t.equal(follow([healthy(), ...outage, ill(A, 'i-3', 2)]).exits, 1)
  })

  t.test('nor when the runtime is back by the time systemd counts them', async (t) => {
    const during = { ...down('auto-restart', 'i-1', 0), runtimeUp: false }
    for (const back of [down('starting', 'i-2', 1), ill(A, 'i-2', 1), down('auto-restart', 'i-1', 1)]) {
      const record = follow([healthy(), during, { ...back, runtimeUp: true }])
      t.match(record, { exits: 0, recentExits: { length: 0 }, process: { exits: 0 } })
      const next = follow(
        [
          { ...ill(A, 'i-2', 1), runtimeUp: true },
          { ...ill(A, 'i-3', 2), runtimeUp: true },
        ],
        record,
      )
      t.equal(next.exits, 1, 'the one after that is charged')
    }
  })

  t.test('a kubelet that holds on is no longer judged by what it did before', async (t) => {
    const looped = follow(loop(POLICY.crashLimit + 2))
    const last = healthy(A, 'i-6', 5)
    t.equal(verdictOn(follow([last], looped), last), 'crash-loop', 'at first it is')
    const steady = follow(times(70, last), looped)
    t.equal(verdictOn(steady, { ...last, unit: unit({ startedAtUs: NOW_US }) }), undefined)
  })

  t.test('systemd giving kubelet up is one (rule 22)', async (t) => {
    const last = down('failed', 'i-1')
    t.equal(verdictOn(follow([healthy(), last]), last), 'crash-loop')
  })

  t.test('unless it refused the start of a kubelet that had not exited: somebody started it again and again (rule 23)', async (t) => {
    const refused = (invocationId: string, nRestarts = 0): Look =>
      runsNothing('failed', { invocationId, nRestarts, startLimitHit: true }) as Look
    t.match(follow([refused('i-1')]), { exits: 0 }, 'seen at the first look')
    const record = follow([healthy(), refused('i-1')])
    t.match(record, { exits: 0, recentExits: { length: 0 }, exitSeenOf: undefined })
    t.equal(verdictOn(record, refused('i-1')), undefined)
    t.match(follow([ill(), refused('i-1', 1)]), { exits: 1, exitSeenOf: 'i-1' }, 'systemd has counted an exit by then')
    t.match(follow([ill(), ill(A, 'i-2', 1), refused('i-2', 1)]), { exits: 2 }, 'or before')
    const longAgo = follow(times(POLICY.trialUs / MINUTE_US + 1, ill(A, 'i-2', 1)), follow([ill(), ill(A, 'i-2', 1)]), SUBJECT, MINUTE_US)
    t.match(follow([refused('i-2', 1)], longAgo), { exits: 2 }, 'or long before, and it has not been well since')
  })

  t.test('unless it gave up while the container runtime refused (rule 39)', async (t) => {
    const during = { ...down('failed', 'i-1'), runtimeUp: false }
    const after = { ...down('failed', 'i-1'), runtimeUp: true }
    t.equal(verdictOn(follow([healthy(), during, after]), after), undefined)
  })
})

t.test('each exit is judged once, when it is noticed (rule 14)', async (t) => {
  const seen = follow([ill(), down('auto-restart')])
  t.match(seen, { exits: 1, process: { exits: 1 }, recentExits: [{ invocationId: 'i-1' }] })
  const next = ill(A, 'i-2', 1)
  t.match(follow([next], seen), { exits: 1, process: { exits: 1 }, recentExits: [{ invocationId: 'i-1' }] }, 'systemd counts it later')
  t.equal(follow([next], seen).recentExits?.length, 1)

  t.test('one that was forgiven while kubelet waits for its restart is not counted after that (rule 48)', async (t) => {
    const again = expectAnotherTry(seen, seen.lastSampleUs, POLICY, false)
    t.match(follow([next], again), { exits: 0, process: { exits: 0 } }, 'where the config is tried again')
    t.match(follow([next], forgetExits(seen)), { exits: 0, recentExits: { length: 0 } }, 'where its charges are dropped')
    t.match(
      follow([next], forgetIllness(seen)),
      { exits: 0, process: { exits: 0 }, recentExits: { length: 0 } },
      'where the agent is paused',
    )
  })

  t.test('what was seen before a gap counts, and what happened in the gap does not', async (t) => {
    const long = POLICY.toleranceUs + SECOND_US
    t.equal(follow([next], follow([down('auto-restart')], seen, SUBJECT, long)).exits, 1)
    const inGap = follow([down('auto-restart')], follow([ill()]), SUBJECT, long)
    t.match(follow([next], inGap), { exits: 0, process: { exits: 0 } })
  })

  t.test('nor does what ended before the first look', async (t) => {
    t.match(follow([down('auto-restart'), next]), { exits: 0, recentExits: { length: 0 } })
    t.equal(follow([down('auto-restart'), next, down('auto-restart', 'i-2', 1)]).exits, 1)
  })

  t.test('one that was seen while the runtime answered is charged, also if the runtime is silent by the time it is counted', async (t) => {
    const without = follow([{ ...ill(), runtimeUp: false }])
    const exited = follow([{ ...down('auto-restart'), runtimeUp: true }], without)
    t.equal(exited.exits, 1)
    t.match(follow([{ ...next, runtimeUp: false }], exited), { exits: 1, excusedExits: undefined })
  })

  t.test('it counts also where somebody restarts kubelet before systemd does', async (t) => {
    const byHand = follow([ill(A, 'i-2', 0)], seen)
    t.match(byHand, { exits: 1, process: { exits: 1 } })
    const looks = [1, 2, 3].flatMap((start) => [ill(A, `i-${start}`), down('auto-restart', `i-${start}`)])
    t.equal(verdictOn(follow(looks), down('auto-restart', 'i-3')), 'crash-loop')
  })

  t.test('the record of the process has those, too, that are counted while none runs', async (t) => {
    const starting = down('starting', 'i-2', 1)
    t.match(follow([ill(), starting, next]), { exits: 1, process: { exits: 1 } })
    t.match(follow([ill(), down('auto-restart', 'i-1', 1), next]), { exits: 1, process: { exits: 1 } }, 'a moment before the next start')
    const replaced = follow(
      [down('auto-restart', 'i-2', 0)],
      expectStart(follow([ill()], follow([ill()]), keyOf(B)), NOW_US, POLICY),
      keyOf(B),
    )
    t.match(replaced, { exits: 1, process: { key: SUBJECT, exits: 0 } }, 'but not those of another config')
  })
})

t.test('a kubelet that has another identity at each start exits as often as any other', async (t) => {
  const keys = [1, 2, 3, 4].map((start) => keyOf(A, `kubelet-${start}`))
  const startedAs = (looks: (index: number) => Look[]) =>
    keys.reduce<HealthRecord | undefined>((record, key, index) => (index < 3 ? follow(looks(index), record, key) : record), undefined)
  const last = down('auto-restart', 'i-2', 2)
  const fails = (record: HealthRecord | undefined, nowUs = 0) => record && verdictOn(record, last, nowUs)
  const dies = (index: number) => [down('starting', `i-${index}`, index), down('auto-restart', `i-${index}`, index)]
  t.equal(fails(startedAs(dies)), 'crash-loop')
  t.equal(fails(startedAs(dies), POLICY.trialUs), 'start-deadline', 'but not for long')
  const once = follow(dies(1), follow(dies(0), undefined, keys[0]), keys[1])
  t.equal(verdictOn(once, down('auto-restart', 'i-1', 1)), undefined, 'an upgrade is none of its exits')
  const runs = (index: number): Look => ({ ...ill(A, `i-${index}`, index), unit: unit({ invocationId: `i-${index}`, nRestarts: index }) })
  const seenBefore = keys.reduce<HealthRecord | undefined>((record, key, index) => {
    const seen = {
      ...runs(index),
      running: { kind: 'known', content: contentOf(A), key, startedAtUs: NOW_US, invocationId: `i-${index}` },
    } as const
    const next = keys[index + 1]
    return next === undefined ? record : follow([seen, down('auto-restart', `i-${index}`, index)], follow([seen], record, key), next)
  }, undefined)
  t.equal(seenBefore && fails(follow([ill(A, 'i-3', 3)], seenBefore, keys[3])), 'crash-loop', 'also where it changes after the start')
})

t.test('each exit around an upgrade is logged once, as the kubelet that it was', async (t) => {
  const [former, upgraded] = [keyOf(A, 'kubelet-1'), keyOf(A, 'kubelet-2')]
  const startedAsFormer: Look = {
    ...ill(),
    running: { kind: 'known', content: contentOf(A), key: former, startedAtUs: NOW_US, invocationId: 'i-1' },
  }
  const before = follow([startedAsFormer], undefined, former)
  const log = (looks: readonly Look[]) =>
    follow(looks, before, upgraded).recentExits?.map(({ key, invocationId }) => `${invocationId} ${key === former ? 'former' : 'upgraded'}`)
  t.same(log([startedAsFormer, startedAsFormer]), [], 'it runs on')
  t.same(log([down('starting', 'i-2', 1)]), ['i-1 former'])
  t.same(log([down('auto-restart', 'i-1', 0)]), ['i-1 former'])
  t.same(log([down('auto-restart', 'i-2', 1)]), ['i-1 former', 'i-2 upgraded'], 'the next one came and went')
  t.match(follow([down('auto-restart', 'i-2', 1)], before, upgraded), { exits: 1, starts: 1 })
  t.same(log([down('starting', 'i-2', 1), down('starting', 'i-4', 3)]), ['i-1 former', 'i-2 upgraded', ' upgraded'])
  const inGap = follow([down('auto-restart', 'i-1', 0)], before, upgraded, POLICY.toleranceUs + 1)
  const silent = follow([{ ...startedAsFormer, runtimeUp: false }], undefined, former)
  const excused = follow([{ ...down('starting', 'i-2', 1), runtimeUp: false }], silent, upgraded)
  const givenUp = follow([{ ...down('failed', 'i-1', 0), runtimeUp: true }], silent, upgraded)
  for (const record of [inGap, excused, givenUp]) t.same(record.recentExits, [], 'but not in a gap, nor where the runtime is the reason')
})

t.test('an exit ages while kubelet starts with another config', async (t) => {
  const exited = follow([ill(), down('auto-restart')])
  const away = follow(times(3, healthy(B, 'i-2')), exited, keyOf(B))
  t.match(away.recentExits, [{ invocationId: 'i-1', awayUs: 2 * SECOND_US }])
})

t.test('a unit that systemd stopped with another one is known as that until the next start', async (t) => {
  const takenDown = { ...down('left-down'), unit: unit({ activity: 'left-down', invocationId: 'i-1', down: ENDED_WITH }) }
  t.equal(follow([healthy()]).takenDownOf, undefined)
  t.equal(follow([healthy(), takenDown]).takenDownOf, 'i-1')
  t.equal(follow([healthy(), takenDown, down('stopped')]).takenDownOf, 'i-1', 'the other one has ended once more, or was started')
})

t.test('start deadline and tolerance', async (t) => {
  t.test('a kubelet that never was healthy has until the start deadline (rule 31)', async (t) => {
    const record = follow([ill()])
    t.equal(verdictOn(record, ill(), POLICY.startDeadlineUs), undefined)
    t.equal(verdictOn(record, ill(), POLICY.startDeadlineUs + 1), 'start-deadline')
  })

  t.test('a stranger that had its health port makes the failure doubtful, as long as it is ill without a break', async (t) => {
    const taken = { ...ill(), healthz: { ...REFUSED.healthz, isStrangers: true } } as const
    const doubt = (...looks: readonly Look[]) => {
      const record = follow([...looks, ill()])
      const failure = findFailure(record, look(record.lastSampleUs - NOW_US + 2 * POLICY.startDeadlineUs, ill()), POLICY)
      return failure && failure.doubtful === true
    }
    t.equal(doubt(taken), true)
    t.equal(doubt(ill(), taken, down('auto-restart', 'i-1')), true)
    t.equal(doubt(ill()), false)
    t.equal(doubt(taken, healthy()), false)
  })

  t.test('one that was has the tolerance', async (t) => {
    const record = follow([healthy(), ill()])
    t.equal(verdictOn(record, ill(), POLICY.toleranceUs), undefined)
    t.equal(verdictOn(record, ill(), POLICY.toleranceUs + 1), 'ill-health')
  })

  t.test('one that was before another config took its place for a while has, too', async (t) => {
    const displaced = follow([healthy()], follow([healthy()]), keyOf(B))
    const record = follow([ill()], displaced)
    t.match(record, { wasHealthy: true, healthySinceUs: undefined })
    t.equal(verdictOn(record, ill(), POLICY.toleranceUs + 1), 'ill-health')
    t.match(follow([ill(A, 'i-2', 1)], record), { wasHealthy: false }, 'the next process has the start deadline')
  })

  t.test('the deadline runs on from one start to the next', async (t) => {
    const record = follow([ill(A, 'i-1'), down('auto-restart', 'i-1'), down('starting', 'i-2', 1), ill(A, 'i-2', 1)])
    t.match(record, { unhealthySinceUs: NOW_US, wasHealthy: false })
  })

  t.test('but not through a gap: it stays as it was before', async (t) => {
    const record = follow(times(31, ill()))
    const late = follow([ill()], record, SUBJECT, 60 * MINUTE_US)
    for (const { unhealthySinceUs = 0 } of [late, late.process ?? {}]) t.equal(late.lastSampleUs - unhealthySinceUs, 30 * SECOND_US)
    t.match(late, { lateLooks: 1, unseenUs: 60 * MINUTE_US })
    t.equal(follow([ill()], late, SUBJECT, 90 * SECOND_US).unseenUs, (60 * 60 + 60) * SECOND_US, 'but for what counts of the next gap')
    t.match(follow([ill()], late), { lateLooks: 1, lastLateUs: late.lastSampleUs }, 'one look in time does not end that')
    const inTime = follow([ill()], late, SUBJECT, POLICY.toleranceUs)
    t.match(inTime, { lateLooks: undefined, lastLateUs: undefined }, 'looks in time for a whole tolerance do')
    const another = follow([ill(A, 'i-2', 1)], record, SUBJECT, 60 * MINUTE_US)
    t.match(another, { unhealthySinceUs: another.lastSampleUs, exits: 0 }, 'unless it is another process by then')
  })

  t.test('while looks come late again and again, half the tolerance counts of each', async (t) => {
    const illUs = ({ lastSampleUs, unhealthySinceUs = lastSampleUs }: HealthRecord) => lastSampleUs - unhealthySinceUs
    const slow = (count: number, from: HealthRecord, facts = ill()) => follow(times(count, facts), from, SUBJECT, POLICY.toleranceUs + 1)
    t.same(
      [1, 2, 3].map((count) => illUs(slow(count, follow([ill()])))),
      [0, POLICY.toleranceUs / 2, POLICY.toleranceUs],
    )
    t.equal(verdictOn(slow(6, follow([ill()])), ill()), 'start-deadline')
    t.equal(verdictOn(slow(5, follow([ill()])), ill()), undefined)
    t.equal(verdictOn(slow(4, follow([healthy(), ill()])), ill()), 'ill-health')
    t.equal(illUs(slow(1, follow([healthy()], slow(1, follow([ill()]), healthy())))), 0, 'it was healthy in between')
    const gone = slow(2, follow([ill()]), ill(A, 'i-2', 1))
    t.equal(illUs(gone), POLICY.toleranceUs / 2, 'from the first look at the process on')
  })

  t.test('while systemd waits to restart it (RestartSec=), that is no illness', async (t) => {
    const sinceUs = NOW_US + SECOND_US
    const waits = (seconds: number): Look => {
      const look = down('auto-restart')
      return look.unit?.kind === 'known'
        ? { ...look, unit: { ...look.unit, restartWait: { sinceUs, untilUs: sinceUs + seconds * SECOND_US } } }
        : look
    }
    const killed = follow([healthy(), ...times(91, waits(90))])
    t.match(killed, { unhealthySinceUs: killed.lastSampleUs, process: { unhealthySinceUs: killed.lastSampleUs } })
    t.equal(verdictOn(killed, waits(90)), undefined)
    const late = follow(times(62, waits(90)), killed)
    t.equal(verdictOn(late, waits(90)), 'ill-health', 'it is, from there')
    const next = follow(times(3, ill(A, 'i-2', 1)), follow([...times(1, ill()), ...times(90, waits(90))]))
    t.equal(next.lastSampleUs - (next.unhealthySinceUs ?? 0), 3 * SECOND_US, 'and it ran for a second before, and for two after')
  })

  t.test('nor while the unit is on its way down, stopped, or gone', async (t) => {
    for (const activity of ['stopping', 'stopped', 'not-found'] as const) {
      t.equal(follow([ill(), down(activity)]).unhealthySinceUs, undefined, activity)
    }
  })

  t.test('a process that cannot be told apart is no illness: what cannot be read is unknown', async (t) => {
    const last = { ...healthy(), healthz: undefined, running: { kind: 'unknown', detail: 'permission denied' } } as const
    const record = follow(times(200, last))
    t.equal(verdictOn(record, last), undefined)
    t.equal(record.healthySinceUs, undefined, 'and no health')
  })
})

t.test('whose exits they are', async (t) => {
  const before = follow(times(3, healthy('local')), undefined, keyOf('local'))

  t.test('what the process before it does is not the new subject’s (rule 33)', async (t) => {
    const record = follow([healthy('local'), ill('local'), down('auto-restart', 'i-1', 0)], before)
    t.match(record, { started: false, exits: 0, unhealthySinceUs: undefined, process: { exits: 1 } })
    t.match(follow([healthy('local'), ill(A, 'i-2', 1)], before), { exits: 0 }, 'also where systemd counts it with the next start')
    t.match(
      follow([down('auto-restart', 'i-1', 0)], before),
      { exits: 0, recentExits: { length: 0 }, process: { exits: 1 } },
      'it stays its own',
    )
  })

  t.test('what a restart is to replace may exit before, and that is not charged (rule 18)', async (t) => {
    const asked = expectStart(follow([healthy('local')], before), NOW_US, POLICY)
    t.match(follow([ill(A, 'i-2', 1)], asked), { exits: 0, starts: 1 })
    t.match(follow([ill(A, 'i-3', 2)], asked), { exits: 1 }, 'but the one after it')
  })

  t.test('the first start under the record is', async (t) => {
    const record = follow([down('auto-restart', 'i-1', 0), ...loop(POLICY.crashLimit, 2)], before)
    t.equal(verdictOn(record, down('auto-restart')), 'crash-loop')
  })

  t.test('so it is when it died before it was seen', async (t) => {
    const looks = [healthy('local'), ...[1, 2, 3].map((count) => down('auto-restart', `i-${count + 1}`, count))]
    t.match(follow(looks, before), { started: true })
  })

  t.test('from the start that was asked for, silence is its own', async (t) => {
    const asked = expectStart(follow([healthy('local')], before), NOW_US, POLICY)
    const silent = follow(times(10, down('starting', 'i-2')), asked)
    t.equal(verdictOn(silent, down('starting', 'i-2'), POLICY.startDeadlineUs), 'start-deadline')
    t.equal(follow([healthy('local')], asked).unhealthySinceUs, undefined, 'but not the health of what still runs')
    t.equal(expectStart(undefined, NOW_US, POLICY), undefined)
  })

  t.test('while systemd refuses the restart, the state that was the reason for it is not its own (rule 10)', async (t) => {
    for (const state of ['failed', 'auto-restart', 'starting', 'queued'] as const) {
      const looping = follow([...loop(2), down(state, 'i-2', 1)], undefined, keyOf(A))
      const asked = expectStart(follow([down(state, 'i-2', 1)], looping, keyOf('local')), NOW_US, POLICY)
      const refused = follow(times(90, down(state, 'i-2', 1)), asked, keyOf('local'))
      t.equal(verdictOn(refused, down(state, 'i-2', 1), POLICY.startDeadlineUs), undefined, state)
      const begun = follow(times(2, down(state, 'i-3', 0)), refused, keyOf('local'))
      t.equal(typeof begun.unhealthySinceUs, state === 'queued' ? 'undefined' : 'number', 'what has begun is charged')
    }
  })

  t.test('nor is the exit of before, where systemd itself does the start that it refused', async (t) => {
    const looping = follow(loop(2), undefined, keyOf(A))
    const asked = expectStart(follow([down('auto-restart', 'i-2', 1)], looping, keyOf('local')), NOW_US, POLICY)
    const bySystemd = follow([ill('local', 'i-3', 2)], asked, keyOf('local'))
    t.match(bySystemd, { exits: 0, starts: 1 })
    t.match(follow([ill('local', 'i-4', 3)], bySystemd, keyOf('local')), { exits: 1 }, 'the next one is its own')
  })

  t.test('nor is what failed before, where it is to be tried again', async (t) => {
    const failed = follow([ill(A, 'i-1'), down('failed', 'i-1')])
    const retried = expectAnotherTry(failed, failed.lastSampleUs, POLICY, true)
    const refused = follow(times(90, down('failed', 'i-1')), retried)
    t.equal(verdictOn(refused, down('failed', 'i-1'), POLICY.startDeadlineUs), undefined)
  })

  t.test('a fallback is not charged with the exit that it is the answer to', async (t) => {
    const looping = follow(loop(2), undefined, keyOf(A))
    const fallback = follow([down('auto-restart', 'i-2', 1)], looping, keyOf('local'))
    const last = down('auto-restart', 'i-2', 0)
    const asked = follow([last], expectStart(fallback, NOW_US, POLICY), keyOf('local'))
    const strict = { ...POLICY, crashLimit: 1 }
    const sample = { unit: last.unit ?? unit(), at: { bootId: BOOT, monotonicUs: asked.lastSampleUs, wallMs: 0 }, runtimeUp: undefined }
    t.equal(findFailure(asked, sample, strict), undefined)
  })

  t.test('after boot everything was started with what is activated', async (t) => {
    t.match(follow([down('auto-restart', 'i-1', 1)]), { started: true })
    t.match(follow([down('stopped', '')]), { started: false }, 'not before it was started at all')
    t.match(follow([down('stopped', ''), ill(A, 'i-1')]), { started: true })
  })

  t.test('an upgrade on disk is nothing to the process that runs (rule 3)', async (t) => {
    const record = follow(times(3, healthy()))
    const upgraded = { ...healthy(), unit: unit({ invocationId: 'i-1', kubeletIdentity: UPGRADED_KUBELET }) }
    const after = follow([upgraded], record, keyOf(A, UPGRADED_KUBELET))
    t.match(after, { started: false, healthySinceUs: undefined, unhealthySinceUs: undefined })
  })
})

const activities = fc.constantFrom<UnitActivity>(
  'running',
  'starting',
  'auto-restart',
  'stopped',
  'failed',
  'stopping',
  'queued',
  'not-found',
)
const samples = fc.array(
  fc.record({
    afterUs: fc.oneof(fc.integer({ min: 1, max: 20e6 }), fc.integer({ min: 1, max: 300e6 })),
    activity: activities,
    content: fc.constantFrom<'none' | 'unknown' | typeof A | typeof B>('none', 'unknown', A, B),
    ok: fc.boolean(),
    runtimeUp: fc.constantFrom(undefined, true, false),
    restarts: fc.nat(3),
    reset: fc.boolean(),
    subject: fc.constantFrom(keyOf(A), keyOf(A), keyOf(B)),
  }),
  { maxLength: 40 },
)

t.test('whatever is seen, only what was seen counts: no health, illness or exit comes out of a gap or an excuse', async () => {
  fc.assert(
    fc.property(samples, (seen) => {
      let record: HealthRecord | undefined
      let nowUs = NOW_US
      let nRestarts = 0
      let invocation = 1
      for (const { afterUs, activity, content, ok, runtimeUp, restarts, reset, subject } of seen) {
        nowUs += afterUs
        nRestarts = reset ? restarts : nRestarts + restarts
        if (restarts > 0 || reset) invocation += 1
        const invocationId = `i-${invocation}`
        const running: HealthSample['running'] =
          activity !== 'running' || content === 'none'
            ? { kind: 'none' }
            : content === 'unknown'
              ? { kind: 'unknown', detail: '' }
              : { kind: 'known', content: contentOf(content), key: keyOf(content), startedAtUs: nowUs - 1, invocationId }
        const sample: HealthSample = {
          at: { bootId: BOOT, monotonicUs: nowUs, wallMs: 0 },
          unit: unit({ activity, nRestarts, invocationId }),
          running,
          healthz: { ok, detail: '' },
          runtimeUp,
        }
        const before: HealthRecord | undefined = record
        const after = recordSample(before, sample, subject, POLICY)
        if (after === undefined) return false
        record = after
        const isHealthy = running.kind === 'known' && running.key === subject && ok
        // Health is what was seen healthy at each of two looks that are not too far apart, and
        // nothing else.
        if ((after.healthySinceUs !== undefined) !== isHealthy) return false
        const gap = before === undefined || nowUs - before.lastSampleUs > POLICY.toleranceUs
        const carriedOn = after.healthySinceUs !== undefined && after.healthySinceUs < nowUs
        if (carriedOn && (gap || before?.healthySinceUs !== after.healthySinceUs || before.subject !== subject)) return false
        const same = before?.subject === subject ? before : undefined
        const isLate = (before?.lateLooks ?? 0) > 0
        const illUs = nowUs - (after.unhealthySinceUs ?? nowUs)
        const illBeforeUs = same?.unhealthySinceUs === undefined ? 0 : same.lastSampleUs - same.unhealthySinceUs
        if (gap && illUs > illBeforeUs + (isLate ? POLICY.toleranceUs / 2 : 0)) return false
        if (gap && after.exits > (same?.exits ?? 0) + Number(isLate)) return false
        if (after.healthySinceUs !== undefined && after.unhealthySinceUs !== undefined) return false
        if (runtimeUp === false && !isExcuseUsedUp(after.excusedExits, nowUs) && findFailure(after, sample, POLICY) !== undefined)
          return false
        if (isExcused(after, sample) && before?.subject === subject && after.exits > before.exits) return false
        if (!after.started && findFailure(after, sample, POLICY) !== undefined) return false
      }
      return true
    }),
  )
})

t.test('a kubelet that is healthy at every look, with no exit, never fails', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 * MINUTE_US }), { maxLength: 60 }), (pauses) => {
      let record: HealthRecord | undefined
      let nowUs = 0
      return pauses.every((pauseUs) => {
        nowUs += pauseUs
        const sample = look(nowUs, healthy())
        record = recordSample(record, sample, SUBJECT, POLICY)
        return record !== undefined && findFailure(record, sample, POLICY) === undefined
      })
    }),
  )
})

t.test('a record about what the disk did not return has followed nothing (rule 4)', async (t) => {
  const unread = 'missing:uid-a/1/kubelet@kubelet-v1'
  const before = follow([down('auto-restart', 'i-1', 3)], undefined, unread)
  t.match(before, { subject: unread, exits: 0 })
  const [after, first] = [follow([down('auto-restart', 'i-1', 3)], before), follow([down('auto-restart', 'i-1', 3)])]
  t.match(first, { started: true, startedByOthers: true }, 'the first record of a boot')
  t.match(after, { started: true, startedByOthers: true, exits: 0 }, 'the next one is as the first')
  const other = follow([down('auto-restart', 'i-1', 3)], follow([down('auto-restart', 'i-1', 3)], undefined, keyOf(B)))
  t.match(other, { started: false, startedByOthers: false }, 'and not as one that replaces another config')
  const ended = follow([down('auto-restart')], follow([{ ...ill(), running: { kind: 'none' } }], undefined, unread))
  t.match(ended, { exits: 0 }, 'nor is what ended under it charged')
})

t.test('what runs is recorded alone, once a process (rule 5)', async (t) => {
  const before = follow([healthy(A, 'i-1')])
  t.equal(recordProcess(before, look(SECOND_US, healthy(A, 'i-1')), KUBELET), before)
  t.equal(recordProcess(before, look(SECOND_US, down('failed', 'i-1')), KUBELET), before)
  t.same(recordProcess(before, look(SECOND_US, ill(B, 'i-2')), KUBELET), {
    ...before,
    lastProcess: { invocationId: 'i-2', content: contentOf(B), kubeletIdentity: KUBELET },
  })
})

t.test('a start by systemd is not taken for an operator, whatever a look saw of its count before (rule 43)', async (t) => {
  const failed = follow([healthy(A, 'i-1', 1), down('failed', 'i-1', 1)])
  const startsFallback = (nRestarts: number, from: HealthRecord) => follow([healthy(B, 'i-2', nRestarts)], from, keyOf(B)).startedByOthers
  const waits = follow([down('failed', 'i-1', 1)], failed, keyOf(B))
  const counted = follow([down('starting', 'i-1', 2)], waits, keyOf(B))
  t.equal(startsFallback(2, waits), false)
  t.equal(startsFallback(2, counted), false)
  // systemctl restart puts the count back to 0, and a start leaves it.
  t.equal(startsFallback(0, counted), true)
  t.equal(startsFallback(1, waits), true)
})

t.test('who started a process is known for as long as it runs, whatever kubelet starts with next (rule 44)', async (t) => {
  const process = (record: HealthRecord) => record.process?.startedByOthers
  const before = follow([healthy(A, 'i-1')])
  t.equal(process(before), true, 'the first process of a boot')
  const byAgent = follow(
    [healthy(B, 'i-2')],
    expectStart(follow([healthy(A, 'i-1')], before, keyOf(B)), before.lastSampleUs, POLICY),
    keyOf(B),
  )
  t.equal(process(byAgent), undefined)
  const byPerson = follow([healthy(B, 'i-3')], byAgent, keyOf(B))
  t.equal(process(byPerson), true)
  const other = follow([healthy(B, 'i-3')], byPerson, 'local@kubelet-v1')
  t.match(other, { startedByOthers: false, process: { startedByOthers: true } })
  t.equal(process(follow([healthy(B, 'i-3')], other, keyOf(B))), true)
  t.equal(process(follow([ill(B, 'i-4', 1)], byPerson, keyOf(B))), true, 'systemd has restarted it')
  t.equal(process(follow([ill(B, 'i-4', 1)], byAgent, keyOf(B))), undefined, 'also what the agent started')
})

t.test('a restart that was requested is the agent’s, also where systemd restarts kubelet once more before (rule 45)', async (t) => {
  const waits = follow([down('auto-restart', 'i-1', 1)], follow([ill(A, 'i-1', 1)]), keyOf(B))
  const asked = expectStart(waits, waits.lastSampleUs, POLICY)
  const between = follow([ill(B, 'i-2', 2), down('stopping', 'i-2', 2)], asked, keyOf(B))
  t.match(between, { startedByOthers: false })
  const done = follow([healthy(B, 'i-3', 0)], between, keyOf(B))
  t.match(done, { startedByOthers: false, restartDueUntilUs: undefined })
  t.match(follow([healthy(B, 'i-4', 0)], done, keyOf(B)), { startedByOthers: true }, 'the next one is somebody’s')
  t.match(follow(times(2, healthy(B, 'i-4', 0)), done, keyOf(B)), { startedByOthers: true }, 'as long as it runs')
  const reset = follow([down('stopping', 'i-2', 0), healthy(B, 'i-3', 0)], asked, keyOf(B))
  t.match(reset, { startedByOthers: false, restartDueUntilUs: undefined }, 'and reset-failed then takes that restart out of the count')
  const queued = follow([down('queued', 'i-2', 0), healthy(B, 'i-3', 0)], asked, keyOf(B))
  t.match(queued, { startedByOthers: false, restartDueUntilUs: undefined }, 'also where the first look at it is when its stop is done')
  const inVain = follow([down('left-down', 'i-1', 0)], asked, keyOf(B))
  t.match(follow([healthy(B, 'i-2', 0)], inVain, keyOf(B)), { startedByOthers: true }, 'one that came to nothing is over')
  const stopped = follow([down('stopped', 'i-2', 2)], between, keyOf(B))
  t.match(follow([healthy(B, 'i-3', 0)], stopped, keyOf(B)), { startedByOthers: true }, 'somebody stops it and starts it')
  const toStart = follow([down('stopped', 'i-1', 0), healthy(B, 'i-2', 0)], asked, keyOf(B))
  t.match(toStart, { startedByOthers: false }, 'a unit that was given up is inactive between reset-failed and its start')
  const late = follow(times(POLICY.startDeadlineUs / SECOND_US, down('auto-restart', 'i-2', 2)), between, keyOf(B))
  t.match(follow([healthy(B, 'i-3', 0)], late, keyOf(B)), { startedByOthers: true }, 'as is one long after the request')
  const retried = expectAnotherTry(waits, waits.lastSampleUs, POLICY, false)
  t.match(follow([healthy(B, 'i-2', 0)], retried, keyOf(B)), { startedByOthers: true }, 'also before systemd restarts it')
  const bySystemd = follow([ill(B, 'i-2', 2)], retried, keyOf(B))
  t.match(follow([healthy(B, 'i-3', 0)], bySystemd, keyOf(B)), { startedByOthers: true }, 'systemd restarted it, and the agent did not')
})

t.test('a counter that reset-failed has put back to 0 counts on from there', async (t) => {
  const slow = follow([ill(A, 'i-1', 5), down('failed', 'i-1', 5), down('failed', 'i-1', 0)])
  t.match(follow([ill(A, 'i-2', 1)], slow), { unhealthySinceUs: NOW_US, startedByOthers: slow.startedByOthers })
})

t.test('what a pardon or a pause clears, and what it leaves', (t) => {
  const looped = { ...follow(loop(2)), excusedExits: { count: 1, sinceUs: NOW_US } }
  const { process } = looped
  const cleared = {
    ...looped,
    ...{ exits: 0, excusedExits: undefined, unhealthySinceUs: undefined },
    process: process && { ...process, exits: 0, unhealthySinceUs: undefined },
  }
  const again = { ...cleared, started: true, restartedFrom: looped.invocationId, triedAgainUs: 7 }
  const stopped = { ...looped, started: false, process: undefined }
  t.strictSame(expectAnotherTry(looped, 7, POLICY, true), { ...again, restartDueUntilUs: 7 + POLICY.startDeadlineUs })
  t.strictSame(expectAnotherTry(looped, 7, POLICY, false), { ...again, restartDueUntilUs: undefined })
  t.match(expectAnotherTry(stopped, 7, POLICY, false), { started: true, process: undefined })
  t.strictSame(forgetIllness(looped), { ...cleared, pausedExits: 2, recentExits: [] })
  t.equal(forgetIllness({ ...looped, pausedExits: 3 }).pausedExits, 5, 'each look of a pause adds its own')
  t.equal(forgetIllness(follow([healthy()])).pausedExits, undefined, 'none')
  const charges = { ...looped, exits: 0, excusedExits: undefined }
  t.strictSame(forgetExits(looped), { ...charges, recentExits: [] })
  t.strictSame(forgetExits(looped, contentOf(B)), charges)
  t.equal(forgetExits({ ...looped, recentExits: undefined }, contentOf(A)).recentExits, undefined)
  t.end()
})

t.test('a kubelet without a health port is up once it has run for longer than the tolerance', (t) => {
  const without = follow([{ ...ill(), runtimeUp: false }])
  const began = (ranUs: number, facts: Look = {}) =>
    follow([{ ...runsSince(without.lastSampleUs + SECOND_US - ranUs), runtimeUp: true, ...facts }], without).beganExcused
  t.same([began(POLICY.toleranceUs), began(POLICY.toleranceUs + 1)], [true, false])
  t.equal(began(POLICY.toleranceUs, OK), false, 'one that answers is')
  t.equal(began(POLICY.toleranceUs + 1, REFUSED), true, 'one that does not is not')
  t.end()
})

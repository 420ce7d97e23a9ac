// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { findDeadlines, NO_DEADLINES, showTime } from '../../src/report/deadlines.ts'
import { following, held, IDENTITY, runningContent, source } from './build.ts'

const good = source('100')
const WALL_MS = Date.UTC(2026, 0, 2, 3, 4, 5)

/** On trial since 40 s of monotonic time; at 100 s the wall clock shows WALL_MS. */
function onTrial(afterUs: number, skewMs = 0): Snapshot {
  const monotonicUs = 100e6 + afterUs
  const health = {
    bootId: 'b1',
    subject: `content-100@${IDENTITY}`,
    subjectSinceUs: 0,
    starts: 1,
    started: true,
    invocationId: 'i1',
    wasHealthy: true,
    everHealthy: true,
    healthySinceUs: 40e6,
    unhealthySinceUs: undefined,
    lastSampleUs: monotonicUs,
    excused: false,
    exits: 0,
    lastNRestarts: 0,
    lastProcess: undefined,
    lastDetail: '',
  }
  return following(good, { health, now: { bootId: 'b1', monotonicUs, wallMs: WALL_MS + afterUs / 1000 + skewMs } })
}

t.test('a trial has a start and an end in wall clock time', async (t) => {
  const { trial } = findDeadlines(onTrial(0), 'in-trial', NO_DEADLINES)
  t.same(trial, { sinceMs: WALL_MS - 60_000, untilMs: WALL_MS + 540_000 })
  t.equal(showTime(trial?.untilMs ?? 0), '2026-01-02T03:13:05Z')
  t.equal(findDeadlines(onTrial(0), 'settled', NO_DEADLINES).trial, undefined)
})

t.test('drift between the clocks does not change a time', async (t) => {
  let before = findDeadlines(onTrial(0), 'in-trial', NO_DEADLINES)
  const first = before
  for (let second = 1; second < 60; second += 1) {
    before = findDeadlines(onTrial(second * 1e6, Math.sin(second) * 900), 'in-trial', before)
    t.same(before, first)
  }
  t.not(findDeadlines(onTrial(60e6, 5000), 'in-trial', before).trial?.untilMs, first.trial?.untilMs, 'setting the clock does')
})

t.test('the end of the wait in a spread', async (t) => {
  const edited = following(good, {
    lastKnownGood: held(source('90')),
    nextStart: { kind: 'known', held: held(source('90')) },
    running: runningContent('content-90'),
    spread: { bootId: 'b1', source: good, sinceUs: 100e6 },
  })
  const { waitUntilMs = 0 } = findDeadlines(edited, 'spread', NO_DEADLINES)
  t.ok(waitUntilMs >= edited.now.wallMs && waitUntilMs <= edited.now.wallMs + 121_000, showTime(waitUntilMs))
  t.equal(waitUntilMs % 1000, 0)
})

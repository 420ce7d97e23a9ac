// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { type ApplyTimer, NOT_TIMED, type TrialTimer, timeApply, timeTrial } from '../../src/report/timers.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import { following, found, IDENTITY, runningContent, snapshot, source } from './build.ts'

const at = (seconds: number) => ({ now: { bootId: 'b1', monotonicUs: seconds * 1e6, wallMs: 0 } })
const healthy = (of: Snapshot): Snapshot => {
  const subject = of.running.kind === 'known' ? of.running.key : ''
  const health = {
    subject,
    bootId: 'b1',
    invocationId: 'i1',
    healthySinceUs: 1,
    unhealthySinceUs: undefined,
    lastSampleUs: 0,
    exits: 0,
    lastNRestarts: 0,
  }
  const rest = {
    started: true,
    starts: 1,
    subjectSinceUs: 0,
    wasHealthy: true,
    everHealthy: true,
    lastProcess: undefined,
    lastDetail: '',
    excused: false,
  }
  return { ...of, health: { ...health, ...rest } }
}

/** The times measured over a series of snapshots. */
function observe(...snapshots: readonly Snapshot[]): number[] {
  let timer: ApplyTimer = NOT_TIMED
  return snapshots.flatMap((of) => {
    const { timer: next, appliedSeconds } = timeApply(timer, of)
    timer = next
    return appliedSeconds === undefined ? [] : [appliedSeconds]
  })
}
const running = (content: string) => ({ running: runningContent(content) })

t.test('measured from first seen to healthy, once', async (t) => {
  const seen = snapshot({ ...at(10), desired: found(source('1')), desiredContent: 'content-1' })
  const restarted = following(source('1'), at(12))
  const well = healthy(following(source('1'), at(13)))
  t.same(observe(snapshot(at(1)), seen, seen, restarted, well, well), [3])
  t.same(observe(snapshot(at(1)), seen, healthy({ ...restarted, ...running('local') })), [], 'healthy with another config does not count')
  const back = snapshot({ ...at(20), ...running('content-1') })
  t.same(observe(well, back, healthy(snapshot(at(24)))), [4], 'the way back to local counts too')
})

t.test('only changes are timed', async (t) => {
  const well = healthy(following(source('1'), at(5)))
  t.same(observe(following(source('1'), at(1)), well), [], 'not the config found at the start')
  const inProgress = snapshot({ ...at(1), desired: found(source('1')), desiredContent: 'content-1' })
  t.same(observe(inProgress, well), [], 'not a change already in progress at the start')
  const sameBytes = healthy(following(source('2'), { ...at(6), desiredContent: 'content-1', ...running('content-1') }))
  t.same(observe(well, sameBytes, sameBytes), [], 'not a new version of the same content')
  const away = { ...well, desired: { kind: 'unknown', detail: '' }, desiredContent: undefined } as const
  t.same(observe(snapshot(at(1)), well, away, well), [], 'nor an outage')
})

t.test('a change that is superseded is not counted', async (t) => {
  const first = snapshot({ ...at(10), desired: found(source('1')), desiredContent: 'content-1' })
  const second = snapshot({ ...at(30), desired: found(source('2')), desiredContent: 'content-2' })
  t.same(observe(snapshot(at(1)), first, second, healthy(following(source('2'), at(34)))), [4])
})

const proven = (version: string) => ({ proven: trialKey(`content-${version}`, IDENTITY) })
const startedAt = (seconds: number, version: string): Pick<Snapshot, 'running'> => {
  const running = runningContent(`content-${version}`)
  return { running: running.kind === 'known' ? { ...running, startedAtUs: seconds * 1e6 } : running }
}

/** The times of trials that passed over a series of snapshots. */
function observeTrial(...snapshots: readonly Snapshot[]): number[] {
  let timer: TrialTimer
  return snapshots.flatMap((of) => {
    const { timer: next, passedSeconds } = timeTrial(timer, of)
    timer = next
    return passedSeconds === undefined ? [] : [passedSeconds]
  })
}

t.test('from the start of kubelet to the proof, once', async (t) => {
  const onTrial = following(source('1'), { ...at(70), ...startedAt(10, '1') })
  const done = following(source('1'), { ...at(610), ...startedAt(10, '1'), ...proven('1') })
  t.same(observeTrial(snapshot(at(5)), onTrial, onTrial, done, done), [600])
})

t.test('a kubelet that exits in its trial is still in the same trial', async (t) => {
  const first = following(source('1'), { ...at(20), ...startedAt(10, '1') })
  const down = following(source('1'), { ...at(25), running: { kind: 'none' } })
  const again = following(source('1'), { ...at(40), ...startedAt(30, '1') })
  const done = following(source('1'), { ...at(640), ...startedAt(30, '1'), ...proven('1') })
  t.same(observeTrial(first, down, again, done), [630])
})

t.test('a trial that did not pass is not timed, nor what was proven before', async (t) => {
  const first = following(source('1'), { ...at(20), ...startedAt(10, '1') })
  const second = following(source('2'), { ...at(60), ...startedAt(50, '2') })
  const done = following(source('2'), { ...at(660), ...startedAt(50, '2'), ...proven('2') })
  t.same(observeTrial(first, second, done), [610], 'another config took its place')
  const fallback = following(source('1'), { ...at(60), ...startedAt(50, '1'), ...proven('1') })
  t.same(observeTrial(second, fallback, fallback), [], 'it failed, and last-known-good runs')
  t.same(observeTrial(first, snapshot(at(60)), snapshot(at(700))), [], 'the local config is not on trial')
  t.same(observeTrial(done, done), [], 'found at the start of the agent')
})

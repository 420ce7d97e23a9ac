import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { type ApplyTimer, NOT_TIMED, timeApply } from '../../src/report/timers.ts'
import { following, found, runningContent, snapshot, source } from './build.ts'

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

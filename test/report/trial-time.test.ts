import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { trialKey } from '../../src/decision/trial-key.ts'
import { type TrialTimer, timeTrial } from '../../src/report/timers.ts'
import { following, IDENTITY, runningContent, snapshot, source } from './build.ts'

const at = (seconds: number) => ({ now: { bootId: 'b1', monotonicUs: seconds * 1e6, wallMs: 0 } })
const proven = (version: string) => ({ proven: trialKey(`content-${version}`, IDENTITY) })
const startedAt = (seconds: number, version: string): Pick<Snapshot, 'running'> => {
  const running = runningContent(`content-${version}`)
  return { running: running.kind === 'known' ? { ...running, startedAtUs: seconds * 1e6 } : running }
}

/** The times of trials that passed over a series of snapshots. */
function observe(...snapshots: readonly Snapshot[]): number[] {
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
  t.same(observe(snapshot(at(5)), onTrial, onTrial, done, done), [600])
})

t.test('a kubelet that exits in its trial is still in the same trial', async (t) => {
  const first = following(source('1'), { ...at(20), ...startedAt(10, '1') })
  const down = following(source('1'), { ...at(25), running: { kind: 'none' } })
  const again = following(source('1'), { ...at(40), ...startedAt(30, '1') })
  const done = following(source('1'), { ...at(640), ...startedAt(30, '1'), ...proven('1') })
  t.same(observe(first, down, again, done), [630])
})

t.test('a trial that did not pass is not timed, nor what was proven before', async (t) => {
  const first = following(source('1'), { ...at(20), ...startedAt(10, '1') })
  const second = following(source('2'), { ...at(60), ...startedAt(50, '2') })
  const done = following(source('2'), { ...at(660), ...startedAt(50, '2'), ...proven('2') })
  t.same(observe(first, second, done), [610], 'another config took its place')
  const fallback = following(source('1'), { ...at(60), ...startedAt(50, '1'), ...proven('1') })
  t.same(observe(second, fallback, fallback), [], 'it failed, and last-known-good runs')
  t.same(observe(first, snapshot(at(60)), snapshot(at(700))), [], 'the local config is not on trial')
  t.same(observe(done, done), [], 'found at the start of the agent')
})

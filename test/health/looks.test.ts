// SPDX-License-Identifier: Apache-2.0
/** The part of the time between two looks that counts. */
import t from 'tap'
import { areLate, chargeExits } from '../../src/health/looks.ts'
import { A, NOW_US, SECOND_US } from '../decision/snapshots.ts'
import { down, follow, ill, type Look } from './samples.ts'

/** Systemd waits to restart kubelet, from and until so many seconds after the first look. */
function waits(from: number, until: number, facts: Look = down('auto-restart')): Look {
  if (facts.unit?.kind !== 'known') throw new Error('the unit is known')
  return { ...facts, unit: { ...facts.unit, restartWait: { sinceUs: NOW_US + from * SECOND_US, untilUs: NOW_US + until * SECOND_US } } }
}

t.test('the wait for a restart is no illness, wherever looks fall', (t) => {
  const next = ill(A, 'i-2', 1)
  const cases: readonly (readonly [string, readonly Look[], number])[] = [
    ['no wait', [ill(), ill(), ill()], 2],
    ['a wait from one look to the next', [ill(), waits(0.25, 1.25), next], 0.25 + 0.75],
    ['a short one', [ill(), waits(0.25, 1.5), next], 0.25 + 0.5],
    ['one that goes on', [ill(), waits(0.25, 9), waits(0.25, 9)], 0.25],
    ['one that is over while nothing has started', [ill(), waits(0.25, 0.5), down('auto-restart')], 0.75 + 1],
    ['two, with a process between that no look has seen', [ill(), waits(0.5, 1.25), waits(1.75, 9, down('auto-restart', 'i-2', 1))], 0.5],
  ]
  for (const [what, looks, seconds] of cases) {
    const { lastSampleUs, unhealthySinceUs = lastSampleUs } = follow(looks)
    t.equal(lastSampleUs - unhealthySinceUs, seconds * SECOND_US, what)
  }
  t.end()
})

t.test('the exits between two looks that are charged', (t) => {
  const interval = { lastUs: NOW_US, nowUs: NOW_US, lastLateUs: undefined, countedUs: 0 }
  const cases: readonly (readonly [gap: boolean, lateLooks: number, isIll: boolean, charged: number])[] = [
    [false, 0, false, 5],
    [false, 2, false, 5],
    [true, 1, true, 0],
    [true, 2, false, 0],
    [true, 2, true, 1],
  ]
  for (const [gap, lateLooks, isIll, charged] of cases)
    t.equal(chargeExits(5, { ...interval, gap, lateLooks }, isIll), charged, `${gap} ${lateLooks} ${isIll}`)
  t.equal(chargeExits(0, { ...interval, gap: true, lateLooks: 2 }, true), 0)
  t.same([{}, { lateLooks: 1 }, { lateLooks: 2 }].map(areLate), [false, false, true])
  t.end()
})

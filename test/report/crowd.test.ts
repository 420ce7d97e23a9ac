// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { Crowd } from '../../src/report/crowd.ts'
import { refusal } from './fakes.ts'

const AWAY = { kind: 'unreachable', detail: '' } as const
const BUSY = refusal(429, 'TooManyRequests')
const FINE = { kind: 'ok', object: {} } as const

t.test('each sign of a busy server doubles the time, and each answer halves the signs', (t) => {
  const crowd = new Crowd(() => 1)
  t.same(
    [0, 1, 2, 3, 4, 5].map((n) => crowd.see(BUSY, n, 0)),
    [60_000, 120_000, 240_000, 480_000, 600_000, 600_000],
  )
  t.equal(crowd.see(FINE, 6, 0), 0)
  t.equal(crowd.see(FINE, 7, 3000), 240_000, 'a slow one')
  t.end()
})

t.test('a server that does not answer gives one sign, since this node alone may be cut off', (t) => {
  const crowd = new Crowd(() => 1)
  t.same(
    [0, 1, 2, 3, 4].map((n) => crowd.see(AWAY, n * 30_000, 30_000)),
    [60_000, 60_000, 60_000, 60_000, 60_000],
  )
  t.equal(crowd.see(BUSY, 200_000, 0), 120_000)
  t.equal(crowd.see(AWAY, 200_000, 30_000), 120_000, 'nor is it less than before')
  t.end()
})

t.test('signs are forgotten', (t) => {
  const crowd = new Crowd(() => 1)
  for (const atMs of [0, 1, 2]) crowd.see(BUSY, atMs, 0)
  t.equal(crowd.see(BUSY, 600_001, 0), 480_000)
  t.equal(crowd.see(BUSY, 1_200_001, 0), 60_000)
  t.end()
})

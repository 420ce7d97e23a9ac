// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { lateness } from '../../../bench/storm/lateness.ts'

const write = (dueMs: number, doneMs: number, refused = 0, failed = 0) => ({ dueMs, doneMs, refused, failed })

t.test('a write is as late as its success, whatever came before it', async (t) => {
  const written = [write(0, 10), write(100, 120), write(200, 2330, 2), write(300, 330, 0, 1)]
  t.same(lateness(written), { writes: 4, p50Ms: 20, p99Ms: 2130, maxMs: 2130, refused: 2, failed: 1 })
})

t.test('what was due while the server was away counts from its return', async (t) => {
  const written = [write(0, 10), write(100, 5070, 0, 40), write(5100, 5130)]
  t.same(lateness(written, 5000), { writes: 3, p50Ms: 30, p99Ms: 70, maxMs: 70, refused: 0, failed: 40 })
})

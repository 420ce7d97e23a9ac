// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { beatsDue } from '../../../bench/fleet/due.ts'

t.test('each node is due once per interval, evenly spread', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 1000, max: 600_000 }),
      fc.double({ min: 0, max: 1e7, noNaN: true }),
      (nodes, everyMs, atMs) => {
        const inOneInterval = beatsDue(atMs + everyMs, nodes, everyMs) - beatsDue(atMs, nodes, everyMs)
        return Math.abs(inOneInterval - nodes) <= 1
      },
    ),
  )
  t.equal(beatsDue(0, 1000, 10_000), 0)
  t.equal(beatsDue(9, 1000, 10_000), 0)
  t.equal(beatsDue(10, 1000, 10_000), 1)
  t.equal(beatsDue(60_000, 1000, 300_000), 200)
})

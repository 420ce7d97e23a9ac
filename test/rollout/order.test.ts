// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { lookAgainSpanUs, lookUs } from '../../src/rollout/order.ts'

t.test('after a break, who may have to write reads the record before those that only wait, and all within the look', (t) => {
  const verdict = { reason: 'crash-loop', retry: 0 }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 86_400 }), (trialSeconds) => {
      const trialUs = trialSeconds * 1e6
      const waits = lookAgainSpanUs({ verdict: undefined, runs: false, trialUs })
      const writers = [lookAgainSpanUs({ verdict, runs: false, trialUs }), lookAgainSpanUs({ verdict: undefined, runs: true, trialUs })]
      return waits < lookUs(trialUs) && writers.every((us) => us < waits / 2)
    }),
  )
  t.equal(lookAgainSpanUs({ verdict: undefined, runs: false, trialUs: 600e6 }), 30e6)
  t.end()
})

// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { within } from '../../src/helper/time-limit.ts'

t.test('gives what the work gives, and ends work that does not end', async (t) => {
  const value = { a: 1 }
  t.equal(
    within(10_000, () => value),
    value,
  )
  const fault = new Error('of the work')
  t.throws(
    () =>
      within(10_000, () => {
        throw fault
      }),
    fault,
  )
  let turns = 0
  const endless = () => {
    try {
      for (;;) turns += 1
    } catch {
      return 'caught'
    }
  }
  t.throws(() => within(20, endless), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
  t.ok(turns > 0)
})

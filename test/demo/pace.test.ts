// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { stretch } from '../../demo/pace.ts'

t.test('the demo waits longer where more processes want a processor than there are', async (t) => {
  t.equal(stretch(20_000, 0.5, 2), 20_000)
  t.equal(stretch(20_000, 2, 2), 20_000)
  t.equal(stretch(20_000, 9, 2), 90_000)
})

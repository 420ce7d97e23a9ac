// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { numbersAfter, planSetAside } from '../../src/checkpoint/set-aside.ts'

t.test('takes the next number, whatever else exists', (t) => {
  t.same(planSetAside('x.damaged-', []), { name: 'x.damaged-1', surplus: [] })
  t.same(planSetAside('x.damaged-', ['x', 'x.damaged-2', 'x.damaged-', 'x.damaged-0', 'x.damaged-1e3', 'y.damaged-9']), {
    name: 'x.damaged-3',
    surplus: [],
  })
  t.end()
})

t.test('keeps five, in numerical order', (t) => {
  const entries = [8, 9, 10, 11, 12, 13].map((number) => `x-${number}`)
  t.same(numbersAfter('x-', entries), [8, 9, 10, 11, 12, 13])
  t.same(planSetAside('x-', entries), { name: 'x-14', surplus: ['x-8', 'x-9'] })
  t.end()
})

import t from 'tap'
import { Budget } from '../../src/report/budget.ts'

t.test('a burst, then the steady rate, and after a rest another burst', async (t) => {
  const budget = new Budget(3, 1000)
  t.same([budget.spend(0), budget.spend(0), budget.spend(0)], [0, 0, 1000])
  t.equal(budget.spend(1000), 1000)
  t.same([budget.spend(10_000), budget.spend(10_000), budget.spend(10_000)], [0, 0, 1000])
})

import t from 'tap'
import { HintPace } from '../../src/systemd/hint-pace.ts'

t.test('the first hint wakes at once, and the next ones together', async (t) => {
  const pace = new HintPace()
  t.equal(pace.dueUs(1e6), 1e6)
  pace.woken(1e6)
  t.equal(pace.dueUs(1.01e6), 1.05e6)
  pace.woken(1.05e6)
  t.equal(pace.dueUs(3e6), 3e6)
})

t.test('hints that never end wake once a second', async (t) => {
  const pace = new HintPace()
  let woken = 0
  for (let nowUs = 0; nowUs < 100e6; nowUs += 10e3) {
    if (pace.dueUs(nowUs) > nowUs) continue
    pace.woken(nowUs)
    woken += 1
  }
  t.ok(woken > 90 && woken < 130, `${woken}`)
  t.equal(pace.dueUs(130e6), 130e6, 'after a while they wake at once again')
})

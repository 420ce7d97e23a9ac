// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { isOpen, localMs, TIME_ZONES } from './wall-clock.ts'

t.test('the clocks by their laws show what ICU shows, on each hour of three years', async (t) => {
  for (const timeZone of TIME_ZONES) {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2029, 0, 1); ms += 3_600_000) {
      const shown = new Date(localMs(timeZone, ms)).toISOString().slice(0, 16).replace('T', ' ')
      if (shown !== format.format(ms)) t.equal(shown, format.format(ms), `${timeZone} at ${new Date(ms).toISOString()}`)
    }
  }
  t.pass('all are the same')
})

t.test('a window is open while the clock shows a time within it', async (t) => {
  const night = 'windows: [Mon-Fri 22:00-05:00]\ntimeZone: Europe/Berlin'
  const at = (month: number, day: number, hour: number, minute = 0) => isOpen(night, Date.UTC(2026, month, day, hour, minute))
  // 2026-11-30 is a Monday, and Berlin is an hour ahead.
  t.same([at(10, 30, 20, 59), at(10, 30, 21), at(11, 1, 3, 59), at(11, 1, 4)], [false, true, true, false])
  t.same([at(10, 30, 2), at(11, 5, 2)], [false, true], 'the night belongs to the day on which it opens')
  const skipped = 'windows: [Mon-Sun 02:00-03:00]\ntimeZone: Europe/Berlin'
  const count = (day: number) =>
    Array.from({ length: 144 }, (_, index) => Date.UTC(2027, 2, day) + index * 600_000).filter((ms) => isOpen(skipped, ms)).length
  t.same([count(27), count(28), count(29)], [6, 0, 6], 'the hour that is skipped does not open')
  t.equal(isOpen(undefined, 0), true)
})

// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { formatDuration, HOUR_US, MINUTE_US, parseDuration, SECOND_US } from '../../src/values/durations.ts'

t.test('parses durations in Go syntax', async (t) => {
  const cases: [string, number][] = [
    ['10m', 10 * MINUTE_US],
    ['10m0s', 10 * MINUTE_US],
    ['1m30s', 90 * SECOND_US],
    ['1h0m0.5s', HOUR_US + SECOND_US / 2],
    ['250ms', 250_000],
    ['1.5h', 90 * MINUTE_US],
    ['.5s', 500_000],
    ['3us', 3],
    ['3µs', 3],
    ['1500ns', 2],
    ['0', 0],
    ['0s', 0],
  ]
  for (const [text, us] of cases) t.same(parseDuration(text), { ok: true, us }, text)
})

t.test('rejects other texts with a reason', async (t) => {
  for (const [text, why] of [
    ['10', 'has no unit'],
    ['1.5', 'has no unit'],
    ['-10m', 'has a sign'],
    ['+1s', 'has a sign'],
    ['', 'is not a duration'],
    ['m', 'is not a duration'],
    ['10 m', 'is not a duration'],
    ['10m!', 'is not a duration'],
    ['1d', 'is not a duration'],
    ['1m30', 'is not a duration'],
    ['.s', 'is not a duration'],
    ['2562048h', 'is not a duration'],
  ] as const) {
    const parsed = parseDuration(text)
    t.match(parsed.ok ? 'accepted' : parsed.detail, why, `"${text}"`)
  }
})

t.test('a formatted duration parses to the same value', async (t) => {
  t.equal(formatDuration(90 * SECOND_US), '1m30s')
  t.equal(formatDuration(0), '0s')
  t.equal(formatDuration(HOUR_US + 250_000), '1h250ms')
  fc.assert(
    fc.property(fc.maxSafeNat(), (us) => {
      const parsed = parseDuration(formatDuration(us))
      return parsed.ok && parsed.us === us
    }),
  )
})

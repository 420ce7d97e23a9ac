import fc from 'fast-check'
import t from 'tap'
import { formatDuration, HOUR_US, MINUTE_US, parseDuration, SECOND_US } from '../../src/values/durations.ts'

t.test('reads what Go writes', async (t) => {
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

t.test('refuses the rest, and says why', async (t) => {
  for (const [text, why] of [
    ['10', 'has no unit'],
    ['1.5', 'has no unit'],
    ['-10m', 'has a sign'],
    ['+1s', 'has a sign'],
    ['', 'is no duration'],
    ['m', 'is no duration'],
    ['10 m', 'is no duration'],
    ['10m!', 'is no duration'],
    ['1d', 'is no duration'],
    ['1m30', 'is no duration'],
    ['.s', 'is no duration'],
    ['2562048h', 'is no duration'],
  ] as const) {
    const parsed = parseDuration(text)
    t.match(parsed.ok ? 'accepted' : parsed.detail, why, `"${text}"`)
  }
})

t.test('what is written is read back', async (t) => {
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

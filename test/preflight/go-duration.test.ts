import fc from 'fast-check'
import t from 'tap'
import { parseGoDuration } from '../../src/preflight/go-duration.ts'

t.test('as Go reads them', async (t) => {
  const cases: [string, bigint | undefined][] = [
    ['60s', 60_000_000_000n],
    ['1m', 60_000_000_000n],
    ['1m0s', 60_000_000_000n],
    ['1.5h', 5_400_000_000_000n],
    ['.5s', 500_000_000n],
    ['-2m', -120_000_000_000n],
    ['0', 0n],
    ['0s', 0n],
    ['0.3ns', 0n],
    ['1h1h', 7_200_000_000_000n],
    ['', undefined],
    ['60', undefined],
    ['1d', undefined],
    ['.s', undefined],
    ['1m 30s', undefined],
    ['s', undefined],
  ]
  for (const [text, expected] of cases) t.equal(parseGoDuration(text), expected, text)
})

t.test('parts add up', async () => {
  const count = fc.bigInt({ min: 0n, max: 10_000n })
  fc.assert(
    fc.property(count, count, count, (hours, minutes, seconds) => {
      return parseGoDuration(`${hours}h${minutes}m${seconds}s`) === (hours * 3600n + minutes * 60n + seconds) * 1_000_000_000n
    }),
  )
})

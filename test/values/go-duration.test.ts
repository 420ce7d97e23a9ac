import fc from 'fast-check'
import t from 'tap'
import { parseDuration } from '../../src/values/go-duration.ts'

t.test('parses durations to nanoseconds', async (t) => {
  const durations: [text: string, ns: bigint][] = [
    ['0', 0n],
    ['1m30s', 90_000_000_000n],
    ['-1.5h', -5_400_000_000_000n],
    ['.5s', 500_000_000n],
    ['1.s', 1_000_000_000n],
    ['100ms', 100_000_000n],
    ['1µs', 1_000n],
    ['1μs', 1_000n],
    ['60s', 60_000_000_000n],
    ['1m0s', 60_000_000_000n],
    ['1h1h', 7_200_000_000_000n],
    ['0s', 0n],
    ['-2m', -120_000_000_000n],
    ['0.5ns', 0n],
    ['2562047h', 9_223_369_200_000_000_000n],
  ]
  for (const [text, ns] of durations) t.equal(parseDuration(text), ns, text)
  for (const text of ['', '5', '60', 's', '.s', '1d', '1m 30s', '--1s', '2562048h', '1h'.repeat(600)])
    t.equal(parseDuration(text), undefined, text)
})

t.test('a duration of several parts is their sum', async () => {
  const part = fc.nat(10_000)
  fc.assert(
    fc.property(part, part, part, (hours, minutes, ms) => {
      const sum = (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * 1_000_000_000n + BigInt(ms) * 1_000_000n
      return parseDuration(`${hours}h${minutes}m${ms}ms`) === sum && parseDuration(`-${hours}h${minutes}m${ms}ms`) === -sum
    }),
  )
})

// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { formatListenAddress, parseGoDuration, parseListenAddress } from '../../src/values/go-syntax.ts'

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
  for (const [text, ns] of durations) t.equal(parseGoDuration(text), ns, text)
  for (const text of ['', '5', '60', 's', '.s', '1d', '1m 30s', '--1s', '2562048h', '1h'.repeat(600)])
    t.equal(parseGoDuration(text), undefined, text)
})

t.test('a duration of several parts is their sum', async () => {
  const part = fc.nat(10_000)
  fc.assert(
    fc.property(part, part, part, (hours, minutes, ms) => {
      const sum = (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * 1_000_000_000n + BigInt(ms) * 1_000_000n
      return parseGoDuration(`${hours}h${minutes}m${ms}ms`) === sum && parseGoDuration(`-${hours}h${minutes}m${ms}ms`) === -sum
    }),
  )
})

t.test('accepts host:port', async (t) => {
  const cases = {
    '127.0.0.1:10270': { host: '127.0.0.1', port: 10270 },
    '[::1]:10270': { host: '::1', port: 10270 },
    '[::]:0': { host: '::', port: 0 },
    ':10270': { host: '', port: 10270 },
    'localhost:65535': { host: 'localhost', port: 65535 },
  }
  for (const [text, address] of Object.entries(cases)) t.same(parseListenAddress(text), { ok: true, address }, text)
})

t.test('rejects other texts with a reason', async (t) => {
  for (const text of [
    '',
    '10270',
    'localhost',
    'localhost:',
    '::1:10270',
    '127.0.0.1:65536',
    '127.0.0.1:-1',
    'a b:1',
    '[::1',
    '[::1]',
    'http://x:1',
  ]) {
    const result = parseListenAddress(text)
    t.equal(result.ok, false, text)
    if (!result.ok) t.match(result.detail, /^".*" is not host:port: ./)
  }
  t.match(parseListenAddress('::1:10270'), { detail: /brackets/ })
})

t.test('a formatted address parses to the same value', async (t) => {
  const hosts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.constant(''))
  const property = fc.property(hosts, fc.nat(65_535), (host, port) => {
    const parsed = parseListenAddress(formatListenAddress({ host, port }))
    return parsed.ok && parsed.address.host === host && parsed.address.port === port
  })
  t.doesNotThrow(() => fc.assert(property))
})

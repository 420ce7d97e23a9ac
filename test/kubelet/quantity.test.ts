// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { NANOS, parseQuantity } from '../../src/kubelet/quantity.ts'

t.test('the same values as upstream', async (t) => {
  const cases: [string, bigint][] = [
    ['1', NANOS],
    ['0', 0n],
    ['-0', 0n],
    ['100Mi', 104_857_600n * NANOS],
    ['+2Gi', 2n * 1024n ** 3n * NANOS],
    ['-1k', -1000n * NANOS],
    ['1Gi', 1024n ** 3n * NANOS],
    ['1024Mi', 1024n ** 3n * NANOS],
    ['1G', 1_000_000_000n * NANOS],
    ['1k', 1000n * NANOS],
    ['500m', NANOS / 2n],
    ['0.5', NANOS / 2n],
    ['.5', NANOS / 2n],
    ['5.', 5n * NANOS],
    ['+1', NANOS],
    ['-1.5Ki', -1536n * NANOS],
    ['1e3', 1000n * NANOS],
    ['1E3', 1000n * NANOS],
    ['1E', 10n ** 18n * NANOS],
    ['1e-3', 1_000_000n],
    ['1n', 1n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1e-30', 1n],
    ['1e99999999', 10n ** 120n],
    ['99E', 99n * 10n ** 18n * NANOS],
    ['-9223372036854775809k', -9223372036854775809000n * NANOS],
    ['1e4294967297', 10n * NANOS],
    ['9223372036854775807Ki', (2n ** 63n - 1n) * NANOS],
    ...['Mi', 'k', '.', '+', '-', '-.Ti', 'e5', '.n', 'e-9'].map((text): [string, bigint] => [text, 0n]),
    ['0e99999999', 0n],
    ['8Ei', (2n ** 63n - 1n) * NANOS],
  ]
  for (const [text, expected] of cases) t.equal(parseQuantity(text), expected, text)
})

t.test('texts that are not quantities', async (t) => {
  for (const text of [
    '',
    'Pi',
    '+Ei',
    'e-10',
    '1e99999999999999999999',
    'banana',
    '1 Gi',
    '1gi',
    '1K',
    '1GB',
    '1mi',
    '1.2.3',
    '50%',
    '1e',
    '--1',
    '1,5',
    '0x10',
    '1e1.5',
    '1GiB',
    '١',
  ])
    t.equal(parseQuantity(text), undefined, text)
})

const digits = fc.bigInt({ min: 0n, max: 10n ** 9n })
const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi')

t.test('a count times a unit is exact', async () => {
  fc.assert(fc.property(digits, suffix, (count, unit) => parseQuantity(`${count}${unit}`) === count * (parseQuantity(`1${unit}`) ?? -1n)))
})

t.test('a fraction is exact', async () => {
  fc.assert(
    fc.property(digits, fc.integer({ min: 0, max: 9 }), (count, places) => {
      const text = count.toString().padStart(places + 1, '0')
      const point = text.length - places
      return parseQuantity(`${text.slice(0, point)}.${text.slice(point)}`) === (count * NANOS) / 10n ** BigInt(places)
    }),
  )
})

t.test('a text of a megabyte takes linear time', async (t) => {
  const before = process.cpuUsage()
  const digits = '9'.repeat(1 << 20)
  for (const text of [`${digits}!`, `.${digits}!`, `${digits}.${digits}!`, `1e${digits}!`, 'e'.repeat(1 << 20)])
    t.equal(parseQuantity(text), undefined)
  t.equal(parseQuantity(digits), 10n ** 120n)
  t.ok(process.cpuUsage(before).user < 5_000_000)
})

t.test('more digits never make a smaller value, and no text throws', async () => {
  fc.assert(fc.property(fc.string(), (text) => ['bigint', 'undefined'].includes(typeof parseQuantity(text))))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), suffix, (length, unit) => {
      const shorter = parseQuantity(`${'9'.repeat(length)}${unit}`)
      const longer = parseQuantity(`${'9'.repeat(length + 1)}${unit}`)
      return typeof shorter === 'bigint' && typeof longer === 'bigint' && longer >= shorter
    }),
  )
})

import fc from 'fast-check'
import t from 'tap'
import { NANOS, parseQuantity } from '../../src/preflight/quantity.ts'

function nanos(text: string): bigint | string {
  const parsed = parseQuantity(text)
  return parsed.ok ? parsed.nanos : parsed.detail
}

t.test('as upstream reads them', async (t) => {
  const cases: [string, bigint][] = [
    ['1', NANOS],
    ['0', 0n],
    ['-0', 0n],
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
    ['1e99999999', (2n ** 63n - 1n) * NANOS],
    ['0e99999999', 0n],
    ['8Ei', (2n ** 63n - 1n) * NANOS],
  ]
  for (const [text, expected] of cases) t.equal(nanos(text), expected, text)
})

t.test('what is none', async (t) => {
  for (const text of ['', '.', 'banana', '1 Gi', '1gi', '1K', '1e', '--1', '1,5', '0x10', '1e1.5', '1GiB', '١'])
    t.type(nanos(text), 'string', text)
})

const digits = fc.bigInt({ min: 0n, max: 10n ** 9n })
const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi')

t.test('a sum of equal parts is the whole, exactly', async () => {
  fc.assert(fc.property(digits, suffix, (count, unit) => nanos(`${count}${unit}`) === count * BigInt(nanos(`1${unit}`))))
})

t.test('a fraction is what its digits say', async () => {
  fc.assert(
    fc.property(digits, fc.integer({ min: 0, max: 9 }), (count, places) => {
      const text = count.toString().padStart(places + 1, '0')
      const point = text.length - places
      return nanos(`${text.slice(0, point)}.${text.slice(point)}`) === (count * NANOS) / 10n ** BigInt(places)
    }),
  )
})

t.test('larger digits never make it smaller, and nothing throws or hangs', async () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseQuantity(text).ok === 'boolean'))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), suffix, (length, unit) => {
      const shorter = nanos(`${'9'.repeat(length)}${unit}`)
      const longer = nanos(`${'9'.repeat(length + 1)}${unit}`)
      return typeof shorter === 'bigint' && typeof longer === 'bigint' && longer >= shorter && longer <= (2n ** 63n - 1n) * NANOS
    }),
  )
})

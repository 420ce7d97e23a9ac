// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { matchesLabels, parseLabelSelector } from '../../../src/source/channels/label-selector.ts'

/** A LabelSelectorRequirement, with the two comparisons that only the text form has. */
interface Expression {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  readonly values: readonly string[]
}

const key = fc.constantFrom('a', 'zone', 'in', 'notin', 'kubernetes.io/os', 'x-y.example.com/A_b.c', '0')
const value = fc.constantFrom('', 'a', 'linux', 'in', 'A_b-c.d', '7', '10')
const number = fc.constantFrom('0', '7', '8', '10', '9223372036854775807')

const expression: fc.Arbitrary<Expression> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In' as const, 'NotIn' as const), values: fc.array(value, { minLength: 1, maxLength: 4 }) }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom('Gt' as const, 'Lt' as const), values: fc.tuple(number) }),
)
const labels = fc.dictionary(key, value, { maxKeys: 5 })

/** As the documentation of Kubernetes defines it. */
function reference({ key, operator, values }: Expression, labels: ReadonlyMap<string, string>): boolean {
  const own = labels.get(key)
  switch (operator) {
    case 'Exists':
      return labels.has(key)
    case 'DoesNotExist':
      return !labels.has(key)
    case 'In':
      return labels.has(key) && new Set(values).has(own ?? '')
    case 'NotIn':
      return !(labels.has(key) && new Set(values).has(own ?? ''))
    default: {
      if (own === undefined || !/^[0-9]+$/.test(own)) return false
      const [a, b] = [BigInt(own), BigInt(values[0] ?? '0')]
      return operator === 'Gt' ? a > b : a < b
    }
  }
}

/** One of several ways to write it, chosen by `style`. */
function write({ key, operator, values }: Expression, style: number, space: string): string {
  const [only = ''] = values
  // Both `()` and `(,)` contain only the empty value.
  const members = values.length === 1 && only === '' && style % 2 === 1 ? ['', ''] : values
  const set = `(${space}${members.join(`${space},${space}`)}${space})`
  const single = values.length === 1 && style % 3 !== 0
  switch (operator) {
    case 'In':
      return single ? `${key}${space}${style % 2 === 0 ? '=' : '=='}${space}${only}` : `${key} in${space}${set}`
    case 'NotIn':
      return single ? `${key}${space}!=${space}${only}` : `${key} notin${space}${set}`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${space}${key}`
    default:
      return `${key}${space}${operator === 'Gt' ? '>' : '<'}${space}${only}`
  }
}

t.test('a selector matches what its requirements match, however it is written', async () => {
  const written = fc.record({ expression, style: fc.nat(5), space: fc.constantFrom('', ' ', '\t ', '\n') })
  fc.assert(
    fc.property(fc.array(written, { maxLength: 4 }), labels, fc.constantFrom(',', ' , '), (parts, labels, comma) => {
      const text = parts.map(({ expression, style, space }) => write(expression, style, space)).join(comma)
      const reading = parseLabelSelector(text)
      const of = new Map(Object.entries(labels))
      return reading.ok && matchesLabels(reading.selector, labels) === parts.every(({ expression }) => reference(expression, of))
    }),
    { numRuns: 2000 },
  )
})

t.test('any text is parsed or refused, and a refusal has a reason', async () => {
  const pieces = fc.constantFrom(
    'a',
    'in',
    'notin',
    '(',
    ')',
    ',',
    '=',
    '==',
    '!=',
    '!',
    '<',
    '>',
    ' ',
    '7',
    'x/y',
    '/',
    '_',
    '\u0000',
    'ä',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (text) => {
      const reading = parseLabelSelector(text)
      return reading.ok || (reading.detail.length > 10 && reading.detail.length < 300)
    }),
    { numRuns: 2000 },
  )
})

// TestSelectorParse and TestSetSelectorParser, TestRequirementConstructor of apimachinery's
// pkg/labels/selector_test.go.
const GOOD = [
  '',
  '  ',
  'x=a,y=b,z=c',
  'x!=a,y=b',
  'x=',
  'x= ',
  'x=,z= ',
  'x= ,z= ',
  '!x',
  'x>1',
  'x>1,z<5',
  'x in (a)',
  'x in(a)',
  'x in ()',
  'x in (,)',
  'x in (a,)',
  'x in (,a)',
  'x in (a,,b)',
  'x notin (a,b,c),y in (a,b)',
  'x,z in (a)',
  'in in (in)',
  'notin notin (notin)',
  'x=in',
  '\nx in (a)\r\n',
]
const BAD = [
  'x=a||y=b',
  'x==a==b',
  '!x=a',
  'x<a',
  'x>',
  'x> ,y',
  ',x',
  'x,',
  'x,,y',
  'x y',
  'x=a b',
  '(x)',
  'x in',
  'x in a',
  'x in (a',
  'x in (a b)',
  'x in (a(b)',
  'x in (a),',
  '=a',
  '!',
  '!!x',
  '!in (a)',
  'x===a',
  'x=!a',
  'x in (a)b',
  'a/b/c',
  '/a',
  'A.example.com/x',
  'example.com/',
  '-a',
  'a_',
  'x=-a',
  'x=a_',
  'x=a/b',
  `x=${'a'.repeat(64)}`,
  `${'a'.repeat(64)}`,
  `${'a'.repeat(254)}/x`,
  'x>-1',
  'x>9223372036854775808',
  'x=ä',
]

t.test("what apimachinery's parser accepts and refuses", async (t) => {
  for (const text of GOOD) t.match(parseLabelSelector(text), { ok: true }, JSON.stringify(text))
  for (const text of BAD) t.match(parseLabelSelector(text), { ok: false }, JSON.stringify(text))
})

t.test('text with a NUL, after which upstream would not read on, is refused', async (t) => {
  for (const text of ['\u0000', '\u0000,x=a', 'x\u0000', 'x\u0000,y', 'x=\u0000a', 'x \u0000 y'])
    t.match(parseLabelSelector(text), { ok: false }, JSON.stringify(text))
})

t.test('an empty selector matches everything; labels named like built-in properties match nothing', async (t) => {
  const matches = (text: string, labels: Readonly<Record<string, string>>) => {
    const reading = parseLabelSelector(text)
    return reading.ok && matchesLabels(reading.selector, labels)
  }
  t.ok(matches('', {}))
  t.notOk(matches('constructor', {}))
  t.ok(matches('!constructor', {}))
  t.ok(matches('x=,!y', { x: '' }))
  t.notOk(matches('x<5', { x: 'a' }))
})

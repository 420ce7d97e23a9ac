// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { Quantity, readExpression } from '../../src/cel/engine.ts'
import { errorMessage } from '../../src/values/errors.ts'

const NODE = new Map([
  ['size', 'large'],
  ['zone', 'a'],
])

/** The result, or what the error says. */
function run(text: string): unknown {
  try {
    const variables = { labels: NODE, cpus: 4n, memory: new Quantity(8n * 1024n ** 3n * 1_000_000_000n), cidrs: ['10.0.0.0/24'] }
    const result = readExpression(text).evaluate(variables)
    return result.ok ? result.value : new Error(result.detail)
  } catch (error) {
    return new Error(errorMessage(error))
  }
}

/** Upstream's table: `TestQuantity`, k8s.io/apiserver/pkg/cel/library/quantity_test.go. */
const QUANTITIES: Readonly<Record<string, unknown>> = {
  'quantity("12Mi")': '12Mi',
  'quantity("10Mo")': /"10Mo" is not a quantity/,
  'quantity("10Mm")': /"10Mm" is not a quantity/,
  'isQuantity("20")': true,
  'isQuantity("20M")': true,
  'isQuantity("20Mi")': true,
  'isQuantity("20Mo")': false,
  'isQuantity("10Mm")': false,
  'isQuantity([1, 2, 3])': /no matching overload for 'isQuantity'/,
  'quantity("200M") == quantity("200M")': true,
  'quantity("200M") == quantity("0.2G") && quantity("0.2G") == quantity("200M")': true,
  'quantity("2M") == quantity("0.002G") && quantity("2000k") == quantity("2M") && quantity("0.002G") == quantity("2000k")': true,
  'quantity("200M") == quantity("0.3G")': false,
  'quantity("50M").isLessThan(quantity("50Mi"))': true,
  'quantity("50M").isLessThan(quantity("100M"))': true,
  'quantity("100M").isLessThan(quantity("50M"))': false,
  'quantity("50Mi").isGreaterThan(quantity("50M"))': true,
  'quantity("150Mi").isGreaterThan(quantity("100Mi"))': true,
  'quantity("50M").isGreaterThan(quantity("100M"))': false,
  'quantity("200M").compareTo(quantity("0.2G"))': 0,
  'quantity("50M").compareTo(quantity("50Mi"))': -1,
  'quantity("50Mi").compareTo(quantity("50M"))': 1,
  'quantity("50k").add(quantity("20")) == quantity("50.02k")': true,
  'quantity("50k").add(20).isLessThan(quantity("50020"))': false,
  'quantity("50k").sub(quantity("20")) == quantity("49.98k")': true,
  'quantity("50k").sub(20) == quantity("49980")': true,
  'quantity("50k").add(20).sub(quantity("100k")).asInteger()': -49980,
  'quantity("50k").add(20).sub(quantity("100k")).sub(-50000).asInteger()': 20,
  'quantity("50k").asInteger()': 50000,
  'quantity("9999999999999999999999999999999999999G").asInteger()': /cannot convert value to integer/,
  'quantity("9999999999999999999999999999999999999G").isInteger()': false,
  'quantity("50").isInteger()': true,
  'quantity("50.703k").asApproximateFloat()': 50703,
}

/** The examples of upstream's lists.go and quantity.go, and what those functions refuse. */
const LISTS: Readonly<Record<string, unknown>> = {
  '[1, 2, 3].isSorted()': true,
  "['a', 'b', 'b', 'c'].isSorted()": true,
  '[2.0, 1.0].isSorted()': false,
  '[1].isSorted()': true,
  '[].isSorted()': true,
  '[1, 3].sum()': 4,
  '[1.0, 3.0].sum()': 4,
  '[1u, 3u].sum()': 4,
  "[duration('1m'), duration('1s')].sum()": '61s',
  '[].sum()': 0,
  "['a', 'b'].sum()": /no matching overload for 'sum'/,
  '[9223372036854775807, 1].sum()': /overflow/,
  '[1, 3].min()': 1,
  '[1, 3].max()': 3,
  "['b', 'a'].min()": 'a',
  '[true, false].max()': true,
  "[timestamp('2020-01-01T00:00:00Z'), timestamp('2021-01-01T00:00:00Z')].max() == timestamp('2021-01-01T00:00:00Z')": true,
  '[].min()': /min called on empty list/,
  '[].max()': /max called on empty list/,
  '[1].min()': 1,
  '([0] + []).min()': 0,
  '[{}, {}].min()': /no matching overload/,
  '[1, 2, 2, 3].indexOf(2)': 1,
  "['a', 'b', 'b', 'c'].lastIndexOf('b')": 2,
  '[1.0].indexOf(1.1)': -1,
  "[].indexOf('string')": -1,
  '[[1], [2]].indexOf([2])': 1,
  "[quantity('1k'), quantity('2k')].indexOf(quantity('2000'))": 1,
  "'abc'.indexOf('c')": 2,
  "isQuantity('1.3Gi') && !isQuantity('1,3G') && !isQuantity('200K') && !isQuantity('Three')": true,
  "sign(quantity('-50k'))": -1,
  "quantity('0').sign()": 0,
}

/** What goes in, and what comes out as JSON. */
const VALUES: Readonly<Record<string, unknown>> = {
  '[250, cpus * 20].min()': 80,
  "labels['size']": 'large',
  'labels.zone': 'a',
  "labels['zonal']": /field not found: zonal/,
  "'zonal' in labels ? labels['zonal'] : 'none'": 'none',
  'memory.asInteger() / 1073741824': 8,
  memory: '8Gi',
  "memory.sub(quantity('1Mi'))": '8191Mi',
  'cidrs[0].split("/")[1]': '24',
  nothing: /there is no variable of this name/,
  '1.5': 1.5,
  null: null,
  "quantity('0.5')": '500m',
  "quantity('-1.5Gi')": '-1536Mi',
  "quantity('3000')": '3k',
  "quantity('0.000000001')": '1n',
  "quantity('0')": '0',
  "duration('-1.5s')": '-1.5s',
  "duration('90s')": '90s',
  "{'a': [1, {'b': quantity('1Gi')}]}": { a: [1, { b: '1Gi' }] },
  '{1: 2}': /a map with a key that is no string/,
  '9007199254740993': /beyond 2\^53/,
  "double('1e18')": /beyond 2\^53/,
  '1e15': 1e15,
  '1.0 / 0.0': /of the type double/,
  'type(1)': /of the type type/,
  'missing(1)': /unbound function: missing/,
  '1 +': /:1:3: /,
}

for (const [what, table] of Object.entries({ quantities: QUANTITIES, lists: LISTS, values: VALUES })) {
  t.test(what, async (t) => {
    for (const [text, wanted] of Object.entries(table)) {
      const result = run(text)
      if (wanted instanceof RegExp) t.match(result instanceof Error ? result.message : result, wanted, text)
      else t.same(result, wanted, text)
    }
  })
}

t.test('a text that is nested deeply is refused, and takes nothing down', async (t) => {
  t.match(run(`${'('.repeat(990)}1${')'.repeat(990)}`), /^(1$|.*nested too deeply)/)
  t.match(run(`${'['.repeat(990)}1${']'.repeat(990)}`), Object)
})

t.test('bytes are refused before they are made: they lie outside the heap, whose limit ends all else', async (t) => {
  const doubled = `size([b'0123456789']${'.map(a, a + a)'.repeat(20)}[0])`
  for (const text of [doubled, "b'a'", "bytes('a')", "true ? 1 : size(bytes('a'))", "[1].map(x, {'a': [bytes('a')]})"])
    t.match(run(text), { message: /^an expression makes no bytes/ }, text.slice(0, 40))
  t.equal(run("'bytes' + labels.zone"), 'bytesa')
})

t.test('a name of the language beneath is no variable', (t) => {
  for (const text of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'labels.__proto__', 'labels.constructor'])
    t.match(run(text), { message: /there is no variable of this name|field not found/ }, text)
  t.end()
})

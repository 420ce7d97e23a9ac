// SPDX-License-Identifier: Apache-2.0
/**
 * A ConfigMap may be 1 MiB. No rule takes time that grows much faster than the size: a good config
 * that comes after it would wait. With one rule that is quadratic, a config takes many times as
 * long as most others of the same size, on any machine.
 */
import t from 'tap'
import type { KubeletConfig } from '../../src/kubelet/decode.ts'
import type { Field, FieldTable } from '../../src/kubelet/field.ts'
import { FIELDS, NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { checkFields } from '../../src/preflight/check-fields.ts'

const LENGTH = 100_000
const ITEMS = 24_000

/**
 * Texts that a pattern backtracks over, before an end that does not fit. `.` does not match U+2028.
 */
const TEXTS = [...'a0.-_/:@,[%#?=& *', 'a.', 'a-', 'a/', '0,', '0-', '::', '@:', '1m', '%4'].flatMap((unit) => {
  const long = unit.repeat(LENGTH / unit.length)
  return [`${long}\u2028`, `dns://${long}#\u2028`, `[${long}!`]
})
const NUMBERS = Array.from({ length: ITEMS }, (_, index) => index)

/** Every field of such a type has the same value at once. */
interface Values {
  readonly text: string
  readonly texts: readonly string[]
}

function sampleOf({ type, fields }: Field, values: Values): unknown {
  const map = (value: unknown) => Object.fromEntries(values.texts.map((text) => [text, value]))
  switch (type) {
    case 'string':
    case 'duration':
    case 'nullable-duration':
    case 'nanoseconds':
    case 'quantity':
    case 'time':
      return values.text
    case 'boolean':
      return true
    case 'number':
    case 'int32':
    case 'int64':
    case 'uint32':
      return 7
    case 'object':
      return fields === undefined ? map('1') : objectOf(fields, values)
    case 'objects':
      return values.texts.map((text) => objectOf(fields ?? {}, { text, texts: [text] }))
    case 'strings':
      return values.texts
    case 'int32s':
      return values.texts.map((_, index) => index)
    case 'string-map':
    case 'quantity-map':
      return map(values.text)
    case 'boolean-map':
      return map(true)
    case 'strings-map':
      return map([values.text])
  }
}

function objectOf(fields: FieldTable, values: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, sampleOf(field, values)]))
}

function check(config: KubeletConfig): void {
  const document = { text: '', config, locate: () => undefined, repeated: [] }
  for (const minor of [20, NEWEST_MINOR]) checkFields(document, { version: { major: 1, minor, patch: 0 }, unknownKeys: 'warn' })
}

/** The configs that take much longer than most. What counts is CPU. */
function findSlow(configs: Iterable<readonly [name: string, config: KubeletConfig]>): string[] {
  const took = [...configs].map(([name, config]) => {
    const before = process.cpuUsage()
    check(config)
    const { user, system } = process.cpuUsage(before)
    return { name, ms: (user + system) / 1000 }
  })
  const middle = took.map(({ ms }) => ms).sort((a, b) => a - b)[took.length >> 1] ?? 0
  return took
    .filter(({ ms }) => ms > MOST_TIMES * middle)
    .map(({ name, ms }) => `${name}: ${ms.toFixed(0)} ms, most ${middle.toFixed(0)} ms`)
}
const MOST_TIMES = 25

t.setTimeout(1_800_000)

t.test('long texts', async (t) => {
  t.same(findSlow(TEXTS.map((text) => [`${text.slice(0, 20)}...${text.slice(-1)}`, objectOf(FIELDS, { text, texts: [text] })])), [])
})

t.test('many items', async (t) => {
  const kinds = {
    words: NUMBERS.map((index) => `a${index}`),
    numbers: NUMBERS.map(String),
    signals: NUMBERS.map((index) => `memory.available${index}`),
    'one word': NUMBERS.map(() => 'pods'),
  }
  const large = Object.entries(kinds).flatMap(([kind, texts]) =>
    Object.entries(FIELDS).flatMap(([name, field]) => {
      const sample = sampleOf(field, { text: '1', texts })
      return typeof sample === 'object' ? [[`${name} with ${kind}`, { [name]: sample }] as const] : []
    }),
  )
  t.same(findSlow(large), [])
})

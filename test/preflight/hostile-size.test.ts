/**
 * A ConfigMap may be 1 MiB. No rule takes time that grows much faster than the size: the rules run
 * in the agent's own thread, and one that hangs would keep the agent from falling back. All of this
 * takes some 60 s of CPU; with one rule that is quadratic it takes minutes, and fails at the limit.
 */
import t from 'tap'
import type { KubeletConfig } from '../../src/kubelet/decode.ts'
import type { Field, Fields } from '../../src/kubelet/field.ts'
import { FIELDS } from '../../src/kubelet/fields.ts'
import { checkFields } from '../../src/preflight/check-fields.ts'

const LENGTH = 100_000
const ITEMS = 50_000

/** What a pattern backtracks over, before an end that does not fit. `.` does not match U+2028. */
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
      return NUMBERS
    case 'string-map':
    case 'quantity-map':
      return map(values.text)
    case 'boolean-map':
      return map(true)
    case 'strings-map':
      return map([values.text])
  }
}

function objectOf(fields: Fields, values: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, sampleOf(field, values)]))
}

function check(values: Values): void {
  const config = objectOf(FIELDS, values) as KubeletConfig
  const document = { text: '', config, locate: () => undefined, repeated: [] }
  for (const minor of [20, 30, 36]) checkFields(document, { version: { major: 1, minor, patch: 0 }, unknownKeys: 'warn' })
}

/** What counts is CPU: on a busy machine all of it takes many times longer. */
const LIMIT_CPU_S = 240
t.setTimeout(1_800_000)

t.test('long texts', async () => {
  for (const text of TEXTS) check({ text, texts: [text] })
})

t.test('many items', async () => {
  const plain = NUMBERS.map((index) => `a${index}`)
  for (const texts of [plain, NUMBERS.map(String), NUMBERS.map((index) => `memory.available${index}`), NUMBERS.map(() => 'pods')])
    check({ text: '1', texts })
})

t.test('all of it within its limit', async (t) => {
  const { user, system } = process.cpuUsage()
  const tookS = (user + system) / 1e6
  t.ok(tookS < LIMIT_CPU_S, `${tookS.toFixed(0)} s of CPU`)
})

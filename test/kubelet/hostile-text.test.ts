// SPDX-License-Identifier: Apache-2.0
/**
 * Two texts of a ConfigMap are compared in the agent's own thread, and may be 1 MiB. All of this
 * takes seconds; a pattern that is quadratic takes minutes, and ends at the time limit.
 */
import t from 'tap'
import { findOtherKind } from '../../src/kubelet/decode.ts'
import { SameConfigs } from '../../src/kubelet/same-config.ts'
import type { YamlReader } from '../../src/kubelet/yaml-document.ts'
import { IN_PLACE } from './in-place-yaml.ts'

const LENGTH = 300_000
const UNITS = [
  'a',
  ' ',
  '\n',
  '-',
  '--- ',
  'a\n',
  '1',
  '1:',
  '1_',
  '1.',
  '1e',
  ':1',
  '_',
  '0',
  '0_',
  '0x',
  '%',
  '#',
  '\t#',
  ' #',
  '"',
  "'",
  '\\"',
  '&',
  '*a ',
  '<<',
  '~',
  '[',
  '{',
  'a: ',
  '!a ',
]

t.setTimeout(120_000)

t.test('long texts are compared in linear time', async (t) => {
  for (const unit of UNITS) {
    const text = `kind: "${unit.repeat(LENGTH / unit.length)}`
    for (const other of [`${text}-"`, `${text}\u2028"`]) t.notOk(await new SameConfigs(IN_PLACE).isSame(`${text}"`, other), unit)
  }
})

/** Texts that begin a scalar only outside of quotes. */
const BEGINNINGS = ['', 'a: ', 'a: 1', 'a: 0', 'a: 0x', 'a: -', 'a: 1:', 'kind: a', 'kind: !']
const ENDS = ['z', ':z', '_\u2028', ' z']
/** The patterns alone: a parser of YAML has limits of its own. */
const UNPARSED: YamlReader = {
  first: async () => ({ ok: false, detail: 'not parsed', position: undefined }),
  firstOfAny: async () => ({ ok: false, detail: 'not parsed', position: undefined }),
  all: async () => ({ ok: false, detail: 'not parsed', position: undefined }),
}
/**
 * A linear pattern takes some milliseconds; at this length, a quadratic one takes several seconds.
 */
const [PLAIN_LENGTH, MOST_CPU_US] = [40_000, 5e5]

t.test('no pattern is quadratic in a plain scalar', async (t) => {
  for (const unit of UNITS)
    for (const beginning of BEGINNINGS)
      for (const end of ENDS) {
        const text = beginning + unit.repeat(PLAIN_LENGTH / unit.length) + end
        const before = process.cpuUsage()
        await new SameConfigs(UNPARSED).isSame(text, `${text} `)
        findOtherKind(text)
        const { user } = process.cpuUsage(before)
        const what = `${JSON.stringify(beginning)}, ${JSON.stringify(unit)} many times and ${JSON.stringify(end)}`
        // The others would take as long.
        if (user > MOST_CPU_US) return t.fail(`${what} take ${user / 1e6} s`)
      }
})

t.test('a text of the largest size exhausts no stack', async () => {
  for (const unit of UNITS) {
    const long = unit.repeat((1 << 20) / unit.length)
    for (const beginning of ['a: 1', '']) await new SameConfigs(UNPARSED).isSame(`${beginning}${long}z`, ` ${beginning}${long}z`)
    findOtherKind(`kind: ${long}`)
  }
})

t.test('deep JSON with many values in the depth takes little memory', async (t) => {
  const deep = (levels: number, inner: string) => `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`
  for (const text of [
    deep(9_900, `{${'"b":1,'.repeat(2_000)}"b":1}`),
    deep(99, `{${'"b":1,'.repeat(150_000)}"b":1}`),
    deep(98, `{"b":[${'1.0,'.repeat(200_000)}1]}`),
  ]) {
    const before = process.memoryUsage().rss
    t.notOk(await new SameConfigs(UNPARSED).isSame(text, `${text} `))
    t.ok(process.memoryUsage().rss - before < 130 << 20, 'with a path for each value it takes from 160 MiB to gigabytes')
  }
})

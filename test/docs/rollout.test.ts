// SPDX-License-Identifier: Apache-2.0
/** The table of the plan's settings says what the parser takes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DEFAULT_PLAN, parsePlan } from '../../src/rollout/plan.ts'
import { ROOT } from './pages.ts'
import { listRows } from './tables.ts'

const page = readFileSync(join(ROOT, 'docs/rollout.md'), 'utf8')
const rows = listRows(page, 'The plan').filter(([name = '']) => name.startsWith('`'))
const code = (cell = '') => cell.replaceAll('`', '')
const isTaken = (text: string) => parsePlan(text).ok

t.test('every setting of the plan, with its default', async (t) => {
  const defaults = rows.flatMap(([name, value]) => (value === 'none' ? [] : [`${code(name)}: ${code(value)}`]))
  t.same(parsePlan(defaults.join('\n')), { ok: true, plan: DEFAULT_PLAN })
  // An annotation of its own names the excluded nodes.
  const settings = Object.keys(DEFAULT_PLAN).flatMap((name) => (name === 'excluded' ? [] : [name.replace(/Us$/, '')]))
  t.same(rows.map(([name]) => code(name)).sort(), settings.sort())
})

t.test('limits of numbers', async (t) => {
  for (const [name, , limits = ''] of rows) {
    const [, least, most] = /^(\d+) to (\d+)$/.exec(limits) ?? []
    if (least === undefined || most === undefined) continue
    // Few waves, so that many witnesses have room in the record.
    const taken = [least, most].map((value) => isTaken(`waves: [100%], ${code(name)}: ${value}`))
    const refused = [Number(least) - 1, Number(most) + 1].map((value) => isTaken(`waves: [100%], ${code(name)}: ${value}`))
    t.same([...taken, ...refused], [true, true, false, false], code(name))
  }
})

t.test('limits in words', async (t) => {
  const limitsOf = new Map(rows.map(([name, , limits]) => [code(name), limits]))
  t.equal(limitsOf.get('waves'), '1 to 10 rising percentages')
  const waves = (count: number) => `[${Array.from({ length: count }, (_, index) => `${index + 1}%`).join(', ')}]`
  const few = 'witnesses: 1, maxSilent: 0'
  t.same(
    [1, 10, 11].map((count) => isTaken(`waves: ${waves(count)}, ${few}`)),
    [true, true, false],
  )
  t.equal(isTaken(`waves: [], ${few}`), false)
  for (const name of ['spread', 'rest']) {
    t.equal(limitsOf.get(name), 'at most 24h')
    t.same(
      ['0s', '24h', '25h'].map((value) => isTaken(`${name}: ${value}`)),
      [true, true, false],
    )
  }
  const lists = (name: string, value: (index: number) => string) =>
    [0, 1, Number(/to (\d+)/.exec(limitsOf.get(name) ?? '')?.[1]), Number(/to (\d+)/.exec(limitsOf.get(name) ?? '')?.[1]) + 1].map(
      (count) => isTaken(`${name}: [${Array.from({ length: count }, (_, index) => value(index)).join(', ')}]`),
    )
  t.same(
    lists('zones', (index) => `z${index}`),
    [false, true, true, false],
  )
  t.same(
    lists('windows', () => 'Mon 01:00-02:00'),
    [false, true, true, false],
  )
  t.same(
    [11, 12, 64, 65].map((length) => isTaken(`now: ${'a'.repeat(length)}`)),
    [false, true, true, false],
  )
  t.match(page, /at most 64: the record has room for so many keys/)
  t.same(
    [isTaken('waves: [50%, 100%], witnesses: 20, maxSilent: 1'), isTaken('waves: [50%, 100%], witnesses: 20, maxSilent: 2')],
    [true, false],
  )
})

// SPDX-License-Identifier: Apache-2.0
/**
 * The simulation holds the agent to the table of times of docs/concepts.md: both have the same rows
 * and the same numbers.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SETTINGS, type Settings, toPolicy } from '../../src/settings/settings.ts'
import { MINUTE_US, SECOND_US } from '../../src/values/durations.ts'
import { FAILING, limitUs } from '../sim/times.ts'
import { ROOT } from './pages.ts'
import { listRows, splitCodes } from './tables.ts'

const rows = listRows(readFileSync(join(ROOT, 'docs/concepts.md'), 'utf8'), 'How soon a failing config is left')
const initial = Object.fromEntries(Object.entries(SETTINGS).map(([name, { initial }]) => [name, initial])) as unknown as Settings
const policy = toPolicy(initial)

function toUs(cell: string): number {
  const [, count, unit] = /^(\d+) (s|minutes?)\b/.exec(cell) ?? []
  return Number(count) * (unit === 's' ? SECOND_US : MINUTE_US)
}

t.test('each row of the table is one of the simulation, with the same time', async (t) => {
  t.same(
    rows.map(([what, after = '']) => [what, toUs(after)]),
    FAILING.map(({ failing, docs }) => [docs, limitUs(failing, policy)]),
  )
})

t.test('a time that is a setting is its default', async (t) => {
  const named = rows.flatMap(([what, after = '', setting = '']) => splitCodes(setting).map((name) => ({ what, after, name })))
  const settings = Object.values(SETTINGS)
  for (const { after, name } of named.filter(({ name }) => name !== 'crash-limit'))
    t.equal(settings.find((setting) => setting.name === name)?.initial, toUs(after), name)
  t.same(
    [policy.crashLimit, named.find(({ name }) => name === 'crash-limit')?.what],
    [3, 'exits for the third time, or the tenth within 24 hours'],
  )
})

import t from 'tap'
import { GATES_GONE } from '../../../src/preflight/fields/gates-gone.ts'
import {
  GATES_LOCKED_OFF,
  GATES_LOCKED_ON,
  GATES_OF_LATER,
  GATES_OF_OLDEST,
  GATES_SINCE,
} from '../../../src/preflight/fields/gates-known.ts'

const names = (list: string) => list.trim().split(/\s+/)
const all = (lists: Readonly<Record<number, string>>) =>
  Object.entries(lists).flatMap(([minor, list]) => names(list).map((name) => [name, Number(minor)] as const))

t.test('the tables of feature gates are consistent', async (t) => {
  const counts = Object.values(GATES_GONE).map((list) => names(list).length)
  t.strictSame(counts, [18, 13, 9, 9, 15, 12, 14, 17, 13, 12, 17, 15, 16, 5, 10, 9], 'as many for each minor as upstream removed')
  const gone = new Map(all(GATES_GONE))
  t.equal(gone.size, all(GATES_GONE).length, 'no gate is removed twice')
  for (const [name, since] of all(GATES_SINCE)) t.ok((gone.get(name) ?? Number.POSITIVE_INFINITY) > since, name)
  const old = new Set(names(GATES_OF_OLDEST))
  for (const name of [...all(GATES_SINCE).map(([name]) => name), ...names(GATES_OF_LATER)]) t.notOk(old.has(name), name)
  for (const [name, minor] of [...all(GATES_LOCKED_ON), ...all(GATES_LOCKED_OFF)])
    t.ok((gone.get(name) ?? Number.POSITIVE_INFINITY) > minor, name)
})

import t from 'tap'
import { parseCpuSet } from '../../../src/preflight/fields/cpu-set.ts'

t.test('how many CPUs', async (t) => {
  const sets: [text: string, count: number][] = [
    ['', 0],
    ['0', 1],
    ['0-3', 4],
    ['0,2-3', 3],
    ['0-3,2-5,4', 6],
    ['+1', 1],
    ['0-999999999', 1_000_000_000],
  ]
  for (const [text, count] of sets) t.strictSame(parseCpuSet(text), { ok: true, count }, text)
  for (const text of ['0-', '-1', '0 ,1', ',', 'a', '1_0']) t.match(parseCpuSet(text), { ok: false, tolerated: false }, text)
  for (const text of ['3-1', '0-1-2']) t.match(parseCpuSet(text), { ok: false, tolerated: true }, text)
})

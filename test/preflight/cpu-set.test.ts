// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { formatCpuSet, isWithin, parseCpuList, parseCpuSet } from '../../src/preflight/cpu-set.ts'

t.test('parses and formats sets as the kernel writes them', async (t) => {
  t.same(parseCpuSet('0-3,8\n'), new Set([0, 1, 2, 3, 8]))
  t.same(parseCpuSet('0-3,2-5,4'), new Set([0, 1, 2, 3, 4, 5]))
  t.same(parseCpuSet('+1'), new Set([1]), 'kubelet accepts a plus sign')
  t.same(parseCpuSet(''), new Set())
  for (const text of ['x', '3-1', '0-', '-1', '0,,1', '0-999999', '1.5']) t.equal(parseCpuSet(text), undefined, text)
  t.equal(formatCpuSet(new Set([8, 0, 1, 2, 5])), '0-2,5,8')
})

t.test('lists that kubelet accepts, and those that it tolerated before 1.27', async (t) => {
  for (const text of ['', '0', '0-3', '0,2-3', '0-3,2-5,4', '+1', '0-999999999']) t.match(parseCpuList(text), { ok: true }, text)
  for (const text of ['0-', '-1', '0 ,1', ',', 'a', '1_0']) t.match(parseCpuList(text), { ok: false, tolerated: false }, text)
  for (const text of ['3-1', '0-1-2']) t.match(parseCpuList(text), { ok: false, tolerated: true }, text)
})

t.test('overlapping ranges cost no extra time', async (t) => {
  const before = process.cpuUsage()
  t.equal(parseCpuSet('0-65535,'.repeat(100_000).slice(0, -1))?.size, 65536)
  t.ok(process.cpuUsage(before).user < 5_000_000)
})

t.test('a formatted set parses to the same set', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 300 })), (cpus) => {
      const set = new Set(cpus)
      const back = parseCpuSet(formatCpuSet(set))
      return back !== undefined && back.size === set.size && isWithin(back, set)
    }),
  )
  t.notOk(isWithin(new Set([1]), new Set([2])))
})

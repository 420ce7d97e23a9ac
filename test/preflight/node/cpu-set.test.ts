import fc from 'fast-check'
import t from 'tap'
import { formatCpuSet, isWithin, parseCpuSet } from '../../../src/preflight/node/cpu-set.ts'

t.test('as the kernel writes them', async (t) => {
  t.same(parseCpuSet('0-3,8\n'), new Set([0, 1, 2, 3, 8]))
  t.same(parseCpuSet(''), new Set())
  for (const none of ['x', '3-1', '0-', '-1', '0,,1', '0-999999', '1.5']) t.equal(parseCpuSet(none), undefined, none)
  t.equal(formatCpuSet(new Set([8, 0, 1, 2, 5])), '0-2,5,8')
})

t.test('what is written is read back', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 300 })), (cpus) => {
      const set = new Set(cpus)
      const back = parseCpuSet(formatCpuSet(set))
      return back !== undefined && back.size === set.size && isWithin(back, set)
    }),
  )
  t.notOk(isWithin(new Set([1]), new Set([2])))
})

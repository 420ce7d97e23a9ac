// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Computation } from '../../src/cel/computation.ts'
import { Computer } from '../../src/cel/compute.ts'
import { computeIn } from '../../src/helper/compute-in.ts'
import type { Helper } from '../../src/helper/helper-process.ts'
import { LimitError } from '../../src/values/errors.ts'

const NODE = { name: 'n1', labels: {}, capacity: { cpu: '4' }, podCIDRs: [] }

/** @param fail the error of the helper for an expression */
function helperWith(fail: (expression: string) => Error | undefined) {
  const asked: string[] = []
  const helper: Helper = {
    ask: async (method, args, { check }) => {
      const [computation] = args as [Computation]
      const [expression = ''] = computation.expressions
      asked.push(`${method} ${computation.expressions.join()}`)
      const error = fail(expression)
      if (error !== undefined) throw error
      const result = new Computer().compute(computation)
      if (!check(result)) throw new Error('no answer')
      return result
    },
  }
  return { asked, compute: computeIn(helper, NODE) }
}

t.test('asks for each expression by itself, and says which one fails', async (t) => {
  const { asked, compute } = helperWith(() => undefined)
  t.same(await compute(['1', 'node.cpus', 'null']), { ok: true, values: [1, 4, null] })
  t.same(asked, ['compute 1', 'compute node.cpus', 'compute null'])
  t.match(await compute(['1', 'node.gpus', '3']), { ok: false, at: 1, detail: 'field not found: gpus' })
  t.same(await compute([]), { ok: true, values: [] })
})

t.test('an expression that takes too much is at fault, and a helper that fails says nothing about it', async (t) => {
  const limited = helperWith((text) => (text === 'b' ? new LimitError('no answer to compute within 10 s') : undefined))
  t.match(await limited.compute(['1', 'b']), { ok: false, at: 1, detail: 'it takes too much: no answer to compute within 10 s' })
  await t.rejects(helperWith(() => new Error('the helper ended')).compute(['1']), /the helper ended/)
})

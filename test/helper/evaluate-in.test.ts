// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Computation } from '../../src/cel/computation.ts'
import { Evaluator } from '../../src/cel/evaluator.ts'
import { evaluateIn } from '../../src/helper/evaluate-in.ts'
import type { Helper } from '../../src/helper/helper-process.ts'
import type { NodeShown } from '../../src/subject/node-shown.ts'
import { LimitError } from '../../src/values/errors.ts'

const NODE = { name: 'n1', labels: {}, capacity: { cpu: '4' }, podCIDRs: [] }

/**
 * @param fail the error of the helper for an expression
 * @param tookMs each expression
 */
function helperWith(fail: (expression: string) => Error | undefined, tookMs = 0, node: NodeShown | null = NODE) {
  const asked: string[] = []
  const limits: number[] = []
  const stopper = new AbortController()
  let nowMs = 5000
  const helper: Helper = {
    ask: async (method, args, { check, limitMs, signal }) => {
      signal?.throwIfAborted()
      limits.push(limitMs)
      nowMs += tookMs
      const [computation] = args as [Computation]
      const [expression = ''] = computation.expressions
      asked.push(`${method} ${computation.expressions.join()}`)
      const error = fail(expression)
      if (error !== undefined) throw error
      const result = new Evaluator().evaluate(computation)
      if (!check(result)) throw new Error('no answer')
      return result
    },
  }
  const evaluate = evaluateIn(helper, node ?? undefined, { nowMs: () => nowMs, signal: stopper.signal })
  return { asked, limits, evaluate, abort: () => stopper.abort(new Error('superseded')) }
}

t.test('asks for each expression by itself, and says which one fails', async (t) => {
  const { asked, evaluate } = helperWith(() => undefined)
  t.same(await evaluate(['1', 'node.cpus', 'null']), { ok: true, values: [1, 4, null] })
  t.same(asked, ['evaluate 1', 'evaluate node.cpus', 'evaluate null'])
  t.match(await evaluate(['1', 'node.gpus', '3']), { ok: false, at: 1, detail: 'field not found: gpus' })
  t.same(await evaluate([]), { ok: true, values: [] })
})

t.test('an expression that takes too much is at fault, and a helper that fails says nothing about it', async (t) => {
  const limited = helperWith((text) => (text === 'b' ? new LimitError('no answer to evaluate within 10 s') : undefined))
  t.match(await limited.evaluate(['1', 'b']), { ok: false, at: 1, detail: 'it takes too much: no answer to evaluate within 10 s' })
  await t.rejects(helperWith(() => new Error('the helper ended')).evaluate(['1']), /the helper ended/)
})

t.test('the expressions of a text have 10 s together', async (t) => {
  const { limits, evaluate } = helperWith(() => undefined, 4000)
  const all = Array.from({ length: 20 }, () => '1')
  t.match(await evaluate(all), { ok: false, at: 3, detail: 'the expressions of the text take more than 10 s' })
  t.same(limits, [10_000, 6000, 2000])
  t.same(await evaluate(['1']), { ok: true, values: [1] }, 'the next text has its own')
  const quick = helperWith(() => undefined, 0.7)
  await quick.evaluate(['1', '1'])
  t.same(quick.limits, [10_000, 10_000], 'in whole seconds: each fault is logged once, by what it says')
})

t.test('what is not wanted any more ends between two expressions', async (t) => {
  const { asked, evaluate, abort } = helperWith((text) => {
    if (text === '2') abort()
    return undefined
  })
  await t.rejects(evaluate(['1', '2', '3']), { message: 'superseded' })
  t.same(asked, ['evaluate 1', 'evaluate 2'])
})

t.test('without a Node, expressions are only read', async (t) => {
  const { evaluate } = helperWith(() => undefined, 0, null)
  t.same(await evaluate(['node.cpus']), { ok: true, values: null })
  t.match(await evaluate(['1', '1 +']), { ok: false, at: 1 })
})

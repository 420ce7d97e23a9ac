// SPDX-License-Identifier: Apache-2.0
/** A helper that evaluates in the process of the test. */
import type { Computation, Computations } from '../../src/cel/computation.ts'
import { Evaluator } from '../../src/cel/evaluator.ts'
import type { Helper } from '../../src/helper/helper-process.ts'

const evaluator = new Evaluator()

/** @param onAsk called before each answer */
export function helperInPlace(onAsk: () => void = () => {}): Helper {
  const answers: Readonly<Record<string, (asked: never) => unknown>> = {
    evaluate: (asked: Computation) => evaluator.evaluate(asked),
    evaluateEach: ({ expressions, nodes }: Computations) => nodes.map((node) => evaluator.evaluate({ expressions, node })),
  }
  return {
    ask: async (method, [asked], { check }) => {
      onAsk()
      const answer = answers[method]?.(asked as never)
      if (!check(answer)) throw new Error(`no answer to ${method}`)
      return answer
    },
  }
}

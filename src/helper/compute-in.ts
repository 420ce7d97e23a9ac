// SPDX-License-Identifier: Apache-2.0
/**
 * Computes values for this node in the helper. Pure but for the helper that is passed in. The
 * helper evaluates each expression by itself: one that takes too much is at fault, and nothing else
 * that the helper was asked.
 */
import { type Computation, isComputed } from '../cel/computation.ts'
import type { Compute } from '../overlay/computed.ts'
import type { NodeShown } from '../subject/node-shown.ts'
import { LimitError } from '../values/errors.ts'
import type { Helper } from './helper-process.ts'

/** Of one expression, which normally takes milliseconds. */
const COMPUTE_MS = 10_000

export function computeIn(helper: Helper, node: NodeShown): Compute {
  return async (expressions) => {
    const values: unknown[] = []
    for (const [at, expression] of expressions.entries()) {
      const computation: Computation = { expressions: [expression], node }
      const computed = await helper.ask('compute', [computation], { check: isComputed, limitMs: COMPUTE_MS }).catch((error: unknown) => {
        if (error instanceof LimitError) return { ok: false as const, at, detail: `it takes too much: ${error.message}` }
        throw error
      })
      if (!computed.ok) return { ...computed, at }
      values.push(...(computed.values ?? []))
    }
    return { ok: true, values }
  }
}

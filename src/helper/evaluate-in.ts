// SPDX-License-Identifier: Apache-2.0
/**
 * Computes values for a node in the helper. Pure but for the helper that is passed in. The
 * helper evaluates each expression by itself: one that takes too much is at fault, and nothing else
 * that the helper was asked.
 */
import { type Computation, type ComputationResult, type Computations, isComputationResult } from '../cel/computation.ts'
import type { Evaluate } from '../overlay/computed.ts'
import type { NodeShown } from '../subject/node-shown.ts'
import { LimitError } from '../values/errors.ts'
import { listOf } from '../values/json-shape.ts'
import type { Helper } from './helper-process.ts'

/** Of the expressions of one text, which normally take milliseconds. */
const COMPUTE_MS = 10_000

interface Bounds {
  /** Monotonic. */
  nowMs(): number
  /** Aborts once nobody wants the values. */
  readonly signal?: AbortSignal
}

/** @param node undefined: expressions are only read */
export function evaluateIn(helper: Helper, node: NodeShown | undefined, { nowMs, signal }: Bounds): Evaluate {
  return async (expressions) => {
    const endMs = nowMs() + COMPUTE_MS
    const values: unknown[] = []
    for (const [at, expression] of expressions.entries()) {
      // Whole seconds, so that the message about one expression is the same each time.
      const limitMs = Math.ceil((endMs - nowMs()) / 1000) * 1000
      if (limitMs <= 0) return { ok: false, at, detail: `the expressions of the text take more than ${COMPUTE_MS / 1000} s` }
      const computation: Computation = { expressions: [expression], node }
      const computed = await helper
        .ask('evaluate', [computation], { check: isComputationResult, limitMs, signal })
        .catch((error: unknown) => {
          if (error instanceof LimitError) return { ok: false as const, at, detail: `it takes too much: ${error.message}` }
          throw error
        })
      if (!computed.ok) return { ...computed, at }
      values.push(...(computed.values ?? []))
    }
    return { ok: true, values: node === undefined ? null : values }
  }
}

/** Of a fleet. */
const ALL_MS = 30_000
/** The number of Nodes in one message, which then has some 500 KB. */
const NODES_AT_ONCE = 200
const isEach = listOf(isComputationResult)

/**
 * The values of one text for each of many nodes, in their order.
 * @throws LimitError where they take too much together
 */
export async function evaluateForEach(
  helper: Helper,
  expressions: readonly string[],
  nodes: readonly (NodeShown | undefined)[],
  { nowMs, signal }: Bounds,
): Promise<readonly ComputationResult[]> {
  const endMs = nowMs() + ALL_MS
  const results: ComputationResult[] = []
  for (let from = 0; from < nodes.length; from += NODES_AT_ONCE) {
    const limitMs = Math.min(COMPUTE_MS, endMs - nowMs())
    if (limitMs <= 0) throw new LimitError(`it takes more than ${ALL_MS / 1000} s for ${nodes.length} nodes`)
    const computations: Computations = { expressions, nodes: nodes.slice(from, from + NODES_AT_ONCE) }
    results.push(...(await helper.ask('evaluateEach', [computations], { check: isEach, limitMs, signal })))
  }
  return results
}

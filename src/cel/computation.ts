// SPDX-License-Identifier: Apache-2.0
/** A question for CEL, and its answer. Pure, and without CEL itself. */
import type { NodeShown } from '../subject/node-shown.ts'
import { anyOf, isAny, isNumber, isText, listOf, oneOf, shape, type TypeOf } from '../values/json-shape.ts'

/** In characters. CEL's library has no bound on what an expression costs. */
export const LONGEST_EXPRESSION = 2000
/** Of one text. */
export const MOST_EXPRESSIONS = 64

export interface Computation {
  readonly expressions: readonly string[]
  /** undefined: no Node is known. The expressions are only read. */
  readonly node: NodeShown | undefined
}

/** The same for many Nodes. */
export interface Computations {
  readonly expressions: readonly string[]
  readonly nodes: readonly (NodeShown | undefined)[]
}

export const isComputationResult = anyOf(
  /** `values`: of each expression. null: no Node is known. */
  shape({ ok: oneOf(true), values: anyOf(listOf(isAny), oneOf(null)) }),
  /** `at`: which of them fails. */
  shape({ ok: oneOf(false), at: isNumber, detail: isText }),
)
export type ComputationResult = TypeOf<typeof isComputationResult>

// SPDX-License-Identifier: Apache-2.0
/**
 * Evaluates the expressions of a text for a node. Pure. An expression sees one variable, `node`,
 * and of that only what the Node shows: what is missing is an error, never a zero.
 */
import { NANOS, parseQuantity } from '../kubelet/quantity.ts'
import type { NodeShown } from '../subject/node-shown.ts'
import { errorMessage } from '../values/errors.ts'
import type { Computation, ComputationResult } from './computation.ts'
import { type Expression, Quantity, readExpression, type Variable } from './engine.ts'

type Read = Expression | { readonly detail: string }

/** Reads each text once, for many nodes. */
export class Evaluator {
  readonly #read = new Map<string, Read>()

  evaluate({ expressions, node }: Computation): ComputationResult {
    const variables = node && { node: toVariable(node) }
    const values: unknown[] = []
    for (const [at, text] of expressions.entries()) {
      const expression = this.#readOnce(text)
      if ('detail' in expression) return { ok: false, at, detail: expression.detail }
      if (variables === undefined) continue
      const result = expression.evaluate(variables)
      if (!result.ok) return { ok: false, at, detail: result.detail }
      values.push(result.value)
    }
    return { ok: true, values: variables === undefined ? null : values }
  }

  #readOnce(text: string): Read {
    const read = this.#read.get(text) ?? readText(text)
    this.#read.set(text, read)
    return read
  }
}

function readText(text: string): Read {
  try {
    return readExpression(text)
  } catch (error) {
    return { detail: errorMessage(error) }
  }
}

function toVariable({ name, labels, capacity, podCIDRs, architecture }: NodeShown): Variable {
  const quantities = Object.entries(capacity).flatMap(([resource, text]) => {
    const nanos = parseQuantity(text)
    // Kubelet publishes 0 of what it cannot read.
    return nanos === undefined || nanos === 0n ? [] : [[resource, nanos] as const]
  })
  const whole = (resource: string) => quantities.filter(([each]) => each === resource).map(([, nanos]) => nanos / NANOS)
  const known: readonly (readonly [name: string, value: Variable | undefined])[] = [
    ['name', name],
    ['labels', new Map(Object.entries(labels))],
    ['capacity', new Map(quantities.map(([resource, nanos]) => [resource, new Quantity(nanos)]))],
    ['cpus', whole('cpu')[0]],
    ['memory', whole('memory')[0]],
    ['podCIDR', podCIDRs[0]],
    ['podCIDRs', podCIDRs],
    ['architecture', architecture],
  ]
  return new Map(known.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])))
}

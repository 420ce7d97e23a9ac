// SPDX-License-Identifier: Apache-2.0
/**
 * A policy without one of its clauses, for each of them: operands of its expressions, and whole
 * rules.
 */
import { clausesOf } from './clauses.ts'

interface Named {
  readonly name: string
  readonly expression: string
}

interface Rule {
  readonly expression: string
  readonly message: string
}

interface Spec {
  readonly matchConditions?: readonly Named[]
  readonly variables?: readonly Named[]
  readonly validations?: readonly Rule[]
  readonly policyName?: string
  readonly paramRef?: object
  readonly matchResources?: { readonly resourceRules: readonly object[] }
}

export interface Policy {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Spec
}

export interface Variant {
  readonly index: number
  /** The part of the policy that is left out. */
  readonly what: string
  readonly spec: Spec
}

export function variantsOf({ spec }: Policy): Variant[] {
  const { matchConditions = [], variables = [], validations = [] } = spec
  const made = [
    ...each(matchConditions, ({ name }) => name).map(([what, list]) => [what, { ...spec, matchConditions: list }] as const),
    ...each(variables, ({ name }) => name).map(([what, list]) => [what, { ...spec, variables: list }] as const),
    ...each(validations, ({ message }) => message).map(([what, list]) => [what, { ...spec, validations: list }] as const),
    ...validations.map((rule) => [rule.message, { ...spec, validations: validations.filter((other) => other !== rule) }] as const),
  ]
  return made.map(([what, changed], index) => ({ index, what, spec: changed }))
}

/** The list with one clause less, for each clause of each of its expressions. */
function each<T extends { readonly expression: string }>(list: readonly T[], name: (item: T) => string): (readonly [string, T[]])[] {
  return list.flatMap((item) =>
    clausesOf(item.expression).map(
      ({ text, rest }) =>
        [`${name(item)}: ${text}`, list.map((other) => (other === item ? { ...item, expression: rest } : other))] as const,
    ),
  )
}

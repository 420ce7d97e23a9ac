/**
 * Numbers that are too large for Go. kubelet 1.20 reads those of fields that it does not know, too
 * (`readNumberAsString`, github.com/json-iterator/go). A known field takes none. Pure.
 */
import type { FieldPath } from '../../kubelet/field-path.ts'
import { isObject } from '../../values/is-object.ts'
import type { FieldProblem, FieldRuleInput } from './complaint.ts'

export function checkNumbers({ config }: FieldRuleInput): FieldProblem[] {
  const path = findInfinite(config, [])
  return path === undefined ? [] : [{ rule: 'value', path, problem: 'the number is larger than kubelet can read', reason: 'load', to: 20 }]
}

/** JSON has no infinity: it is what is made of a number such as 1e999. */
function findInfinite(value: unknown, path: FieldPath): FieldPath | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path
  const inner: [step: string | number, value: unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : isObject(value)
      ? Object.entries(value)
      : []
  for (const [step, item] of inner) {
    const found = findInfinite(item, [...path, step])
    if (found !== undefined) return found
  }
  return undefined
}

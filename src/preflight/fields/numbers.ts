/**
 * Numbers that are too large for Go. kubelet 1.20 reads those of fields that it does not know, too
 * (`readNumberAsString`, github.com/json-iterator/go). A known field takes none. Pure.
 */
import type { FieldPath } from '../../kubelet/field-path.ts'
import { isObject } from '../../values/is-object.ts'
import type { FieldProblem, FieldRuleInput } from './complaint.ts'

export function checkNumbers({ config }: FieldRuleInput): FieldProblem[] {
  const place = findInfinite(config)
  if (place === undefined) return []
  return [{ rule: 'value', path: pathTo(place), problem: 'the number is larger than kubelet can read', reason: 'load', to: 20 }]
}

interface Place {
  readonly value: unknown
  readonly step: string | number
  /** undefined: the whole config. */
  readonly within: Place | undefined
}

/**
 * JSON has no infinity: it is what is made of a number such as 1e999. Level by level, because
 * recursion could exhaust the call stack.
 */
function findInfinite(config: unknown): Place | undefined {
  let level: readonly Place[] = [{ value: config, step: '', within: undefined }]
  while (level.length > 0) {
    const found = level.find(({ value }) => typeof value === 'number' && !Number.isFinite(value))
    if (found !== undefined) return found
    level = level.flatMap(listWithin)
  }
  return undefined
}

function listWithin(within: Place): readonly Place[] {
  const { value } = within
  if (Array.isArray(value)) return value.map((item: unknown, step) => ({ value: item, step, within }))
  return isObject(value) ? Object.entries(value).map(([step, item]) => ({ value: item, step, within })) : []
}

function pathTo({ step, within }: Place): FieldPath {
  const path: (string | number)[] = []
  for (let place: Pick<Place, 'step' | 'within'> | undefined = { step, within }; place?.within !== undefined; place = place.within)
    path.push(place.step)
  return path.reverse()
}

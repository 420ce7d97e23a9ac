/**
 * Whole numbers that cannot be written again as they were: beyond 2^53 several of them are one to JavaScript. Pure. Level by level, since the call stack has an end.
 */
type Path = readonly (string | number)[]

/** undefined: there is none. */
export function findInexact(value: unknown): Path | undefined {
  let level: { readonly path: Path; readonly value: unknown }[] = [{ path: [], value }]
  while (level.length > 0) {
    const found = level.find((one) => Number.isInteger(one.value) && !Number.isSafeInteger(one.value))
    if (found !== undefined) return found.path
    level = level.flatMap(({ path, value: outer }) => stepsInto(outer).map(([step, inner]) => ({ path: [...path, step], value: inner })))
  }
  return undefined
}

function stepsInto(value: unknown): (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()]
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

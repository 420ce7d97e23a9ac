/**
 * Finds integers that JavaScript cannot represent exactly (beyond 2^53), and so cannot write back
 * unchanged. Pure. Searches level by level, without recursion, since the call stack is limited.
 */
type Path = readonly (string | number)[]

/** undefined: there are none. */
export function findUnsafeInteger(value: unknown): Path | undefined {
  let level: { readonly path: Path; readonly value: unknown }[] = [{ path: [], value }]
  while (level.length > 0) {
    const found = level.find((entry) => Number.isInteger(entry.value) && !Number.isSafeInteger(entry.value))
    if (found !== undefined) return found.path
    level = level.flatMap(({ path, value: outer }) => entriesOf(outer).map(([step, inner]) => ({ path: [...path, step], value: inner })))
  }
  return undefined
}

function entriesOf(value: unknown): (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()]
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

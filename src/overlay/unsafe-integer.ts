/**
 * Finds integers that JavaScript cannot represent exactly (beyond 2^53), and so cannot write back
 * unchanged. Pure. Searches level by level, without recursion, since the call stack is limited.
 */
type Path = readonly (string | number)[]

/** A value, and the way to it. Its path is made at the end: all paths would take much memory. */
interface Entry {
  readonly value: unknown
  readonly step: string | number
  readonly outer: Entry | undefined
}

/** undefined: there are none. */
export function findUnsafeInteger(value: unknown): Path | undefined {
  let level: Entry[] = [{ value, step: '', outer: undefined }]
  while (level.length > 0) {
    const found = level.find((entry) => Number.isInteger(entry.value) && !Number.isSafeInteger(entry.value))
    if (found !== undefined) return pathOf(found)
    level = level.flatMap((outer) => entriesOf(outer.value).map(([step, inner]): Entry => ({ value: inner, step, outer })))
  }
  return undefined
}

function pathOf(entry: Entry): Path {
  const path: (string | number)[] = []
  for (let at = entry; at.outer !== undefined; at = at.outer) path.push(at.step)
  return path.reverse()
}

function entriesOf(value: unknown): (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()]
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the known name nearest to a mistyped one, by edit distance with transpositions (optimal
 * string alignment), ignoring case. `nearest` returns a name whenever there is one, however
 * distant. So messages with it say "the nearest known one", not "did you mean": that takes
 * `likely.ts`. Pure.
 */

export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The same, where few letters differ or it begins so: a distant name helps nobody. */
export function nearby(name: string, known: readonly string[]): string | undefined {
  const letters = (text: string) => text.replace(/^-+/, '').toLowerCase()
  const typed = letters(name)
  const begun = typed.length < 3 ? undefined : known.find((candidate) => letters(candidate).startsWith(typed))
  if (begun !== undefined) return begun
  const found = nearest(name, known)
  const most = Math.max(1, Math.floor(typed.length / 4))
  return found !== undefined && typed.length > 1 && editDistance(typed, letters(found)) <= most ? found : undefined
}

export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}

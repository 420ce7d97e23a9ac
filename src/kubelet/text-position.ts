/** A place in a text, as editors show it. Pure. */

/** Both count from 1; columns count UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

export function positionAt(text: string, offset: number): Position {
  return positionsIn(text)(offset)
}

/** For many offsets of one text: its lines are found once, when the first position is asked for. */
export function positionsIn(text: string): (offset: number) => Position {
  let lineStarts: number[] | undefined
  return (offset) => {
    lineStarts ??= [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
    const line = countUpTo(lineStarts, offset)
    return { line, column: offset - (lineStarts[line - 1] ?? 0) + 1 }
  }
}

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((ascending[middle] ?? limit) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

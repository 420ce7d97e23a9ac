// SPDX-License-Identifier: Apache-2.0
/**
 * Since when the facts of a node have made the same of what is assigned. Pure; the time is passed
 * in. A fact that changes nothing does not count: some labels change all the time.
 */
import { isDeepStrictEqual } from 'node:util'
import type { NodeShown } from '../subject/node-shown.ts'

/** The result of some texts with the facts of a node. */
interface Seen {
  readonly node: NodeShown
  readonly texts: unknown
  readonly result: unknown
}

export interface HeldFacts extends Seen {
  readonly sinceMs: number
}

/**
 * Facts hold while they are the same, whatever the texts, or make the same of the same texts.
 * @param sinceMs since when these were seen
 */
export function holdFacts(before: HeldFacts | undefined, seen: Seen, sinceMs: number): HeldFacts {
  if (before === undefined) return { ...seen, sinceMs }
  const isSame = (of: keyof Seen) => isDeepStrictEqual(before[of], seen[of])
  const holds = isSame('node') || (isSame('texts') && isSame('result'))
  return { ...seen, sinceMs: holds ? before.sinceMs : sinceMs }
}

/**
 * Names for setting aside: damaged, foreign or contradictory files are renamed, not deleted, and a
 * limited number of them is kept. Pure.
 */

/** Something was set aside. `to` is undefined if even the rename failed. */
export interface SetAside {
  readonly path: string
  readonly to: string | undefined
  readonly why: string
}
export type OnSetAside = (what: SetAside) => void

export interface SetAsidePlan {
  readonly name: string
  /** Older entries, to be removed first. */
  readonly surplus: readonly string[]
}

const KEPT = 5

/**
 * Numbered after the existing entries, not by a clock: `assigned.damaged-3`.
 * @param entries the names in the same directory
 */
export function planSetAside(prefix: string, entries: readonly string[]): SetAsidePlan {
  const taken = numbersAfter(prefix, entries)
  const surplus = taken.slice(0, Math.max(0, taken.length - KEPT + 1))
  return { name: `${prefix}${(taken.at(-1) ?? 0) + 1}`, surplus: surplus.map((number) => `${prefix}${number}`) }
}

/** The numbers of the entries that were set aside before, ascending. */
export function numbersAfter(prefix: string, entries: readonly string[]): number[] {
  return entries
    .filter((entry) => entry.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(entry.slice(prefix.length)))
    .map((entry) => Number(entry.slice(prefix.length)))
    .sort((a, b) => a - b)
}

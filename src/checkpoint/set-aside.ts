// SPDX-License-Identifier: Apache-2.0
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

interface SetAsidePlan {
  readonly name: string
  /** Older entries, to be removed first. */
  readonly surplus: readonly string[]
}

const KEPT = 5
/**
 * Between the name of a directory that was replaced and a number. `~` cannot be in a uid or
 * resourceVersion: a directory that was set aside never looks like a checkpoint.
 */
export const TREE_SET_ASIDE = '~set-aside-'

/**
 * Numbered after the existing entries, not by a clock: `assigned.damaged-3`.
 * @param entries the names in the same directory
 */
export function planSetAside(prefix: string, entries: readonly string[], kept = KEPT): SetAsidePlan {
  const taken = numbersAfter(prefix, entries)
  const surplus = taken.slice(0, Math.max(0, taken.length - kept + 1))
  return { name: `${prefix}${(taken.at(-1) ?? 0) + 1}`, surplus: surplus.map((number) => `${prefix}${number}`) }
}

/** The numbers of the entries that were set aside before, ascending. */
export function numbersAfter(prefix: string, entries: readonly string[]): number[] {
  return entries
    .filter((entry) => entry.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(entry.slice(prefix.length)))
    .map((entry) => Number(entry.slice(prefix.length)))
    .sort((a, b) => a - b)
}

/**
 * The directories that were set aside and have no successor, each with its own name again. Only the
 * newest of each name.
 * @param entries the names in the same directory
 */
export function findUnreplaced(entries: readonly string[]): readonly { readonly name: string; readonly aside: string }[] {
  const names = new Set(
    entries.flatMap((entry) => (entry.includes(TREE_SET_ASIDE) ? [entry.slice(0, entry.lastIndexOf(TREE_SET_ASIDE))] : [])),
  )
  return [...names].flatMap((name) => {
    const newest = numbersAfter(`${name}${TREE_SET_ASIDE}`, entries).at(-1)
    return newest === undefined || entries.includes(name) ? [] : [{ name, aside: `${name}${TREE_SET_ASIDE}${newest}` }]
  })
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the known name that somebody who wrote an unknown one can only have meant: the same but for
 * case and signs, one that begins so, or one with a slip in its spelling. Pure. No answer is better
 * than a wrong one, so whole words count: `minOpenFiles` is no slip for `maxOpenFiles`, though few
 * letters differ.
 */
import { editDistance } from './nearest.ts'

/** Each name with what it stands for. */
export type Names<T> = ReadonlyMap<string, T>

/** undefined: nothing is likely, or the name is like several that stand for different things. */
export function likely<T>(name: string, names: Names<T>): T | undefined {
  return equal(name, [names]) ?? misspelled(name, [names])
}

/** The first of the groups that has it counts. */
export function equal<T>(name: string, groups: readonly Names<T>[]): T | undefined {
  return first(name, groups, [hasEqual((folded, candidate) => folded === candidate), hasEqual(isLoosely)])
}

export function misspelled<T>(name: string, groups: readonly Names<T>[]): T | undefined {
  return first(name, groups, [findBegun, findNearest])
}

type Alike = (name: string, known: readonly string[]) => readonly string[]

function first<T>(name: string, groups: readonly Names<T>[], ways: readonly Alike[]): T | undefined {
  for (const alike of ways)
    for (const names of groups) {
      const found = new Set(alike(name, [...names.keys()]).map((known) => names.get(known)))
      if (found.size > 0) return found.size === 1 ? [...found][0] : undefined
    }
  return undefined
}

function hasEqual(isSame: (folded: string, candidate: string) => boolean): Alike {
  return (name, known) => (fold(name) === '' ? [] : known.filter((candidate) => isSame(fold(name), fold(candidate))))
}

/** Without case and signs: `maxPods`, `max-pods` and `MAX_PODS` are one name. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** People leave out `tls` in front, `with` between and the `s` behind. */
function isLoosely(name: string, candidate: string): boolean {
  const bare = name.replace('with', '').replace(/s$/, '')
  return bare !== '' && [candidate, candidate.replace(/^tls/, '')].some((each) => each.replace('with', '').replace(/s$/, '') === bare)
}

/**
 * Names that begin with these words, two at least, and have one more, which is not the longer part.
 */
function findBegun(name: string, known: readonly string[]): readonly string[] {
  const begins = (candidate: string) =>
    [...candidate.matchAll(/[A-Z]|[^A-Za-z0-9]/g)].some(
      ({ index }) => fold(candidate.slice(0, index)) === fold(name) && wordsOf(candidate.slice(index)).length === 1,
    )
  return wordsOf(name).length < 2 ? [] : known.filter((candidate) => name.length >= LEAST_PART * candidate.length && begins(candidate))
}
const LEAST_PART = 0.55

function findNearest(name: string, known: readonly string[]): readonly string[] {
  const slips = known.map((candidate) => [candidate, countSlips(name, candidate)] as const)
  const least = Math.min(...slips.map(([, count]) => count))
  return least === Number.POSITIVE_INFINITY ? [] : slips.flatMap(([candidate, count]) => (count === least ? [candidate] : []))
}

/** In letters. Infinity: too many for a slip. */
function countSlips(name: string, candidate: string): number {
  const [written, meant] = [fold(name), fold(candidate)]
  const length = Math.max(written.length, meant.length)
  if (Math.abs(written.length - meant.length) > MOST_SLIPS) return Number.POSITIVE_INFINITY
  const [words, others] = [wordsOf(name), wordsOf(candidate)]
  const isWordByWord = words.length === others.length
  const most = length < 6 ? 0 : length < (isWordByWord ? 10 : 15) ? 1 : length < 15 || !isWordByWord ? 2 : MOST_SLIPS
  const count = editDistance(written, meant)
  const isSlip = count <= most && (!isWordByWord || words.every((word, at) => isSlipOf(word, others[at] ?? '')))
  return isSlip ? count : Number.POSITIVE_INFINITY
}
const MOST_SLIPS = 3

/** Another letter in a short word makes another word: `pods` and `pids`, `min` and `max`. */
function isSlipOf(word: string, other: string): boolean {
  if (word.length <= 4 && word.length === other.length) return sorted(word) === sorted(other)
  return editDistance(word, other) <= (Math.min(word.length, other.length) < 8 ? 1 : 2)
}

function sorted(word: string): string {
  return [...word].sort().join('')
}

/** `imageGCHighThreshold`: image, gc, high, threshold. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) => word.toLowerCase())
}

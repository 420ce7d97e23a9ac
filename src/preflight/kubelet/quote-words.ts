/**
 * Kubelet's words as they may be quoted: in one line, bounded, without paths that exist for one probe only, and without what kubelet prints of the config
 * itself where it could hold a secret (`staticPodURLHeader`). Pure.
 */
import type { ProbePlaces } from './judgement.ts'

const LONGEST = 400

/** What follows is a part of the config's text (github.com/json-iterator/go, `ReportError`), or the whole of it as Go prints a struct. */
const CONFIG_FOLLOWS = /(?<= is missing) in '|, error found in #\d+ byte of \.\.\.|, path: &/

export function quoteWords(words: string, { directory, candidate, scratch }: ProbePlaces): string {
  const [before = ''] = words.split(CONFIG_FOLLOWS, 1)
  const plain = before
    .replaceAll(`${candidate}/`, '')
    .replaceAll(`${scratch}/`, '')
    .replaceAll(`${directory}/`, '')
    // Decoders quote bytes that are no text.
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{FFFD}\s]+/gu, ' ')
    .trim()
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 3)}...`
}

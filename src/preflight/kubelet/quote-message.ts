/**
 * Makes a message of kubelet safe to quote: in one line, bounded, without the paths of the probe,
 * and without the parts of the config that kubelet prints and that could hold a secret
 * (`staticPodURLHeader`). Pure.
 */
import type { ProbePlaces } from './judgement.ts'

const LONGEST = 400

/**
 * After these follows a part of the config's text (github.com/json-iterator/go, `ReportError`), or
 * the whole config as Go prints a struct.
 */
const CONFIG_FOLLOWS = /(?<= is missing) in '|, error found in #\d+ byte of \.\.\.|, path: &/

export function quoteMessage(message: string, { directory, candidate, scratch }: ProbePlaces): string {
  const [before = ''] = message.split(CONFIG_FOLLOWS, 1)
  const plain = before
    .replaceAll(`${candidate}/`, '')
    .replaceAll(`${scratch}/`, '')
    .replaceAll(`${directory}/`, '')
    // Decoders may quote binary data.
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{FFFD}\s]+/gu, ' ')
    .trim()
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 3)}...`
}

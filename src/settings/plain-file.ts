/**
 * Reads a settings file in which YAML has nothing to say: comments, and one `key: value` a line,
 * whose value is a plain word, a small number or a duration. The parser of YAML takes a megabyte or
 * two and some time at the start of the agent; the installed file does without it. Pure.
 */

const LINE = /^([A-Za-z][A-Za-z0-9]*): ([A-Za-z0-9/][A-Za-z0-9./-]*)$/
const WORD = /^[A-Za-z/][A-Za-z0-9./-]*$/
/** A word of YAML 1.1 that is not text. */
const NO_TEXT = /^(?:y|n|yes|no|on|off|true|false|null)$/i
const NUMBER = /^(?:0|[1-9][0-9]{0,8})$/
const DURATION = /^(?:[1-9][0-9]*h)?(?:[1-9][0-9]*m)?(?:[1-9][0-9]*s)?$/

/** undefined: it takes the parser of YAML. */
export function readPlainFile(text: string): Readonly<Record<string, string | number>> | undefined {
  const values = new Map<string, string | number>()
  for (const line of text.split('\n')) {
    if (/^(?:#|$)/.test(line)) continue
    const [, key, word] = LINE.exec(line) ?? []
    const value = word === undefined ? undefined : readValue(word)
    if (key === undefined || NO_TEXT.test(key) || value === undefined || values.has(key)) return undefined
    values.set(key, value)
  }
  return values.size === 0 ? undefined : Object.fromEntries(values)
}

function readValue(word: string): string | number | undefined {
  if (NUMBER.test(word)) return Number(word)
  return (WORD.test(word) && !NO_TEXT.test(word)) || DURATION.test(word) ? word : undefined
}

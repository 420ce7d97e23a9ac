/**
 * How systemd makes a command line: splitting text into words, and putting variables into the words of `ExecStart=`. It never runs
 * anything. Rules: systemd.service(5) "Command lines", `extract_first_word()` with EXTRACT_UNQUOTE | EXTRACT_RELAX and `replace_env_argv()`
 * in systemd's source, checked against systemd 252.
 */

/** A word of a command line, and where it came from. */
export interface Argument {
  readonly text: string
  /** Which word of ExecStart it came from. */
  readonly at: number
  /** The variable it came from. undefined: ExecStart spells it out. */
  readonly variable: string | undefined
}

/** Words of a variable's value: quotes of both kinds group, a backslash takes the next character as it is, even inside quotes. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  let escaped = false
  for (const char of text) {
    if (escaped) {
      word = (word ?? '') + char
      escaped = false
    } else if (char === '\\') escaped = true
    else if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (' \t\n\r'.includes(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  return words
}

/** The inverse of `splitWords`. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:=,+@%-]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`)).join(' ')
}

/** The command line that systemd would run. `$NAME` as a whole word becomes any number of words, `${NAME}` stays within its word. */
export function expandArguments(words: readonly string[], variables: ReadonlyMap<string, string>): Argument[] {
  return words.flatMap((word, at): Argument[] => {
    if (/^\$[^{$]/.test(word)) {
      const variable = word.slice(1)
      return splitWords(variables.get(variable) ?? '').map((text) => ({ text, at, variable }))
    }
    const text = word.replace(/\$\$|\$\{([^}]*)\}/g, (match, name?: string) =>
      name === undefined ? match.slice(1) : (variables.get(name) ?? ''),
    )
    return [{ text, at, variable: /(?<!\$)\$\{([^}]*)\}/.exec(word)?.[1] }]
  })
}

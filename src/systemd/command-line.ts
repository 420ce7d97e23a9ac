/**
 * How systemd builds a command line: it splits text into words and expands variables in the words
 * of `ExecStart=`. Pure. Rules: systemd.service(5) "Command lines", `extract_first_word()` with
 * EXTRACT_UNQUOTE | EXTRACT_RELAX and `replace_env_argv()` in systemd's source, verified with
 * systemd 252.
 */

/** A word of a command line, and its origin. */
export interface Argument {
  readonly text: string
  /** Index of the word of ExecStart that it comes from. */
  readonly at: number
  /** The variable that it comes from. undefined: it is written out in ExecStart. */
  readonly variable: string | undefined
}

/**
 * Splits the value of a variable. Both kinds of quotes group; a backslash makes the next character
 * literal, inside quotes too.
 */
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

/** The variables that the words name. */
export function variablesIn(words: readonly string[]): string[] {
  return words.flatMap((word) => {
    if (/^\$[^{$]/.test(word)) return [word.slice(1)]
    return [...word.matchAll(/\$\$|\$\{([^}]*)\}/g)].flatMap(([, name]) => name ?? [])
  })
}

/**
 * The command line that systemd would run. `$NAME` as a whole word expands to any number of words;
 * `${NAME}` stays within its word.
 */
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

// SPDX-License-Identifier: Apache-2.0
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

/** One use of a flag, with the position of the argument that names it. */
interface FlagUse extends Pick<Argument, 'at' | 'variable'> {
  readonly value: string
  /** The range of arguments that it occupies: `first` is included, `end` is not. */
  readonly first: number
  readonly end: number
}

/**
 * Finds flags in a kubelet command line. The rules are those of github.com/spf13/pflag as kubelet
 * uses it: `--name=value` or `--name value`, `_` counts as `-` (`WordSepNormalizeFunc`), the last
 * one wins. Every use of the flag, in order.
 */
export function findFlag(command: readonly Argument[], name: string): FlagUse[] {
  const uses: FlagUse[] = []
  for (let first = 0; first < command.length; first++) {
    const argument = command[first]
    if (argument === undefined || !argument.text.startsWith('--')) continue
    const [flag = '', ...rest] = argument.text.slice(2).split('=')
    if (flag.replaceAll('_', '-') !== name) continue
    const { at, variable } = argument
    const next = command[first + 1]
    if (rest.length > 0) uses.push({ at, variable, value: rest.join('='), first, end: first + 1 })
    else if (next !== undefined) {
      uses.push({ at, variable, value: next.text, first, end: first + 2 })
      first++
    }
  }
  return uses
}

/** The value that wins. undefined: the flag is absent. */
export function flagValue(command: readonly Argument[], name: string): string | undefined {
  return findFlag(command, name).at(-1)?.value
}

/** For the command line of a process, where everything is expanded already. */
export function asArguments(words: readonly string[]): Argument[] {
  return words.map((text, at) => ({ text, at, variable: undefined }))
}

/**
 * Finds flags in a kubelet command line. Pure. The rules are those of github.com/spf13/pflag as
 * kubelet uses it: `--name=value` or `--name value`, `_` counts as `-` (`WordSepNormalizeFunc`),
 * the last one wins.
 */
import type { Argument } from './command-line.ts'

/** One use of a flag, with the position of the argument that names it. */
export interface FlagUse extends Pick<Argument, 'at' | 'variable'> {
  readonly value: string
  /** The range of arguments that it occupies: `first` is included, `end` is not. */
  readonly first: number
  readonly end: number
}

/** Every use of the flag, in order. */
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

/**
 * Parses kubelet's flags from its command line. Pure. Rules of github.com/spf13/pflag as kubelet
 * uses it: `--name=value` or `--name value`, a boolean only as `--name` or `--name=value`, `_`
 * counts as `-` (`WordSepNormalizeFunc`), `--` ends them.
 */
import { ROWS } from './field-rows.ts'

/** Names without dashes, with all values in order: the last one wins, but maps and lists add up. */
export type KubeletFlags = ReadonlyMap<string, readonly string[]>

export const NO_FLAGS: KubeletFlags = new Map()

type Arity = 'switch' | 'value'

const BY_FLAG: ReadonlyMap<string, Arity> = new Map(
  [...ROWS.values()].flatMap(({ flag, type }) => (flag === undefined ? [] : [[flag, type === 'boolean' ? 'switch' : 'value'] as const])),
)

/** @param args without the program name */
export function collectFlags(args: readonly string[]): KubeletFlags {
  const flags = new Map<string, string[]>()
  const add = (name: string, value: string) => flags.set(name, [...(flags.get(name) ?? []), value])
  for (let at = 0; at < args.length; at++) {
    const [, dashes, spelled = '', equals, value = ''] = /^(--?)([^=-][^=]*)(=?)(.*)$/s.exec(args[at] ?? '') ?? []
    if (args[at] === '--') break
    if (dashes === undefined) continue
    const name = spelled.replaceAll('_', '-')
    const next = args[at + 1]
    // The word after an unknown flag counts as its value unless it looks like a flag.
    const takesNext = BY_FLAG.get(name) === 'value' || (!BY_FLAG.has(name) && next !== undefined && !next.startsWith('-'))
    if (equals === '=') add(name, value)
    else if (takesNext && next !== undefined) {
      add(name, next)
      at++
    } else add(name, 'true')
  }
  return flags
}

/** The arguments without this flag, which takes a value. */
export function withoutFlag(args: readonly string[], name: string): readonly string[] {
  const isFlag = (text: string | undefined) => text?.replaceAll('_', '-') === `--${name}`
  return args.filter((text, at) => !isFlag(text) && !isFlag(args[at - 1]) && !isFlag(text.split('=', 1)[0]))
}

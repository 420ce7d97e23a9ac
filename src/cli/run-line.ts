/**
 * Reads the command line of `run` where it is plain: nothing but known flags with their values. The
 * parser of all command lines, with its help, is large; an agent that is started as usual does
 * without it. Pure.
 */
import { fileKey, flagName, SETTING_NAMES, SETTINGS, type SettingName } from '../settings/settings.ts'
import { runCommand } from './commands/run.ts'
import type { ParsedLine } from './invoke.ts'

/** undefined: not such a line; then the parser says what it is. */
export function readRunLine([command, ...args]: readonly string[]): ParsedLine | undefined {
  if (command !== runCommand.name) return undefined
  const given: Record<string, string | boolean> = {}
  for (let at = 0; at < args.length; at++) {
    const [, name, , value] = /^(--[a-z-]+)(=(.*))?$/s.exec(args[at] ?? '') ?? []
    const property = name === undefined ? undefined : BY_FLAG.get(name)
    if (property === undefined) return undefined
    const isSwitch = SETTINGS[property].kind.placeholder === undefined
    if (isSwitch) {
      if (value !== undefined) return undefined
      given[fileKey(property)] = true
      continue
    }
    const text = value ?? args[++at]
    // A flag without its value, or one that looks like a flag: the parser has words for that.
    if (text === undefined || (value === undefined && text.startsWith('-'))) return undefined
    given[fileKey(property)] = text
  }
  return { given, rest: [] }
}

const BY_FLAG: ReadonlyMap<string, SettingName> = new Map(SETTING_NAMES.map((property) => [flagName(property), property]))

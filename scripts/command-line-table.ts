/**
 * The commands and the settings as tables of text, for man pages, completion, the default
 * configuration and docs/settings.md. The parser is built from the same source, so a new command or
 * setting appears in all of them. Pure.
 */

import { COMMANDS } from '../src/cli/command-list.ts'
import { describeOption, describeSetting } from '../src/cli/help-notes.ts'
import { settingsOf } from '../src/cli/invoke.ts'
import { SETTING_GROUPS, type SettingGroup } from '../src/settings/setting-kinds.ts'
import { fileKey, flagName, SETTING_NAMES, SETTINGS, type SettingName, showInitial, variableName } from '../src/settings/settings.ts'

/** The value that a flag takes. */
export type FlagValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'file' }
  | { readonly kind: 'directory' }
  /** Any other value; completion does not suggest one. */
  | { readonly kind: 'free' }

export interface FlagRow {
  /** As in `--output`. */
  readonly flag: string
  /** As in `-o`. */
  readonly short: string | undefined
  /** As in `<duration>`. */
  readonly placeholder: string | undefined
  readonly value: FlagValue
  readonly help: string
  /** undefined: an option of the command, not a setting. */
  readonly setting: SettingName | undefined
}

export interface ArgumentRow {
  /** As in `FILE|-|configmap/NAME`. */
  readonly placeholder: string
  readonly required: boolean
  readonly help: string
}

export interface CommandRow {
  readonly name: string
  /** In order. Each may be a file. */
  readonly arguments: readonly ArgumentRow[]
  /** The meaning of its exit codes, if they differ from those of other commands. */
  readonly exits: readonly (readonly [string, string])[]
  readonly group: string
  readonly summary: string
  readonly description: string
  readonly flags: readonly FlagRow[]
  readonly examples: readonly (readonly [string, string])[]
}

export interface SettingRow {
  readonly group: SettingGroup
  readonly property: SettingName
  readonly flag: string
  readonly variable: string
  /** undefined: `config`, the path of the config file, is not a key in that file. */
  readonly key: string | undefined
  readonly help: string
  /** As an operator writes it; empty for none. */
  readonly initial: string
  readonly initialNote: string | undefined
  readonly placeholder: string | undefined
  readonly choices: readonly string[] | undefined
  readonly list: boolean
  readonly changes: 'live' | 'restart'
}

export const HELP_FLAG: FlagRow = row({ flag: '--help', short: '-h', help: 'show help for the program or a command' })
export const VERSION_FLAG: FlagRow = row({ flag: '--version', help: 'print the version' })

/** In the order of the help. The parser adds `help` itself. */
export const COMMAND_ROWS: readonly CommandRow[] = COMMANDS.map((command) => ({
  name: command.name,
  group: command.group,
  summary: command.summary,
  description: command.description,
  examples: command.examples,
  arguments: (command.arguments ?? []).map(({ kind, required, help }) => ({ placeholder: kind.placeholder, required, help })),
  exits: Object.entries(command.exits ?? {}),
  flags: [
    ...command.options.map((option) =>
      row({
        flag: `--${option.name}`,
        short: option.short === undefined ? undefined : `-${option.short}`,
        placeholder: option.kind.placeholder,
        value: flagValue(option.name, option.kind),
        help: describeOption(option),
      }),
    ),
    ...inGroups(settingsOf(command)).map((property) =>
      row({
        flag: flagName(property),
        placeholder: SETTINGS[property].kind.placeholder,
        value: flagValue(SETTINGS[property].name, SETTINGS[property].kind),
        help: describeSetting(property),
        setting: property,
      }),
    ),
  ],
}))

export const SETTING_ROWS: readonly SettingRow[] = inGroups(SETTING_NAMES).map((property) => {
  const { group, help, kind, initialNote, changes } = SETTINGS[property]
  return {
    group,
    property,
    flag: flagName(property),
    variable: variableName(property),
    key: property === 'config' ? undefined : fileKey(property),
    help,
    initial: showInitial(property),
    initialNote,
    placeholder: kind.placeholder,
    choices: kind.choices,
    list: kind.list === true,
    changes,
  }
})

function row(given: Partial<FlagRow> & Pick<FlagRow, 'flag' | 'help'>): FlagRow {
  return { short: undefined, placeholder: undefined, value: { kind: 'none' }, setting: undefined, ...given }
}

function inGroups(properties: readonly SettingName[]): SettingName[] {
  return SETTING_GROUPS.flatMap((group) => properties.filter((property) => SETTINGS[property].group === group))
}

function flagValue(name: string, kind: { readonly placeholder: string | undefined; readonly choices?: readonly string[] }): FlagValue {
  if (kind.placeholder === undefined) return { kind: 'none' }
  if (kind.choices !== undefined) return { kind: 'choice', choices: kind.choices }
  if (kind.placeholder === '<path>') return { kind: name.endsWith('-dir') ? 'directory' : 'file' }
  return { kind: 'free' }
}

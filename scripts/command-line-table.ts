// SPDX-License-Identifier: Apache-2.0
/**
 * The commands and the settings as tables of text, for man pages, completion, the default
 * configuration and docs/settings.md. The parser is built from the same source, so a new command or
 * setting appears in all of them. Pure.
 */

import { COMMANDS } from '../src/command/agent/command-list.ts'
import { agentProgram } from '../src/command/agent/program.ts'
import type { Command, CommandOption, Program } from '../src/command/command.ts'
import { describeOption, HELP, usageOf, VERSION } from '../src/command/help.ts'
import { optionsOf } from '../src/command/parse-line.ts'
import { PLUGIN_PROGRAM } from '../src/command/plugin/program.ts'
import { SETTING_GROUPS, type SettingGroup } from '../src/settings/setting-kinds.ts'
import { fileKey, flagName, SETTING_NAMES, SETTINGS, type SettingName, showInitial, variableName } from '../src/settings/settings.ts'

/** The value that a flag takes. */
type FlagValue =
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
  /** The heading of a flag that is not of the command alone. undefined: it is. */
  readonly group: string | undefined
}

interface ArgumentRow {
  /** As in `FILE|-|configmap/NAME`. */
  readonly placeholder: string
  readonly required: boolean
  readonly help: string | undefined
}

export interface CommandRow {
  readonly name: string
  /** With its arguments. */
  readonly usage: string
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

export const HELP_FLAG: FlagRow = flagRow(HELP)
export const VERSION_FLAG: FlagRow = flagRow(VERSION)

/** In the order of the help, which has the command `help` besides. */
export const COMMAND_ROWS: readonly CommandRow[] = listRows(agentProgram(COMMANDS))
export const PLUGIN_ROWS: readonly CommandRow[] = listRows(PLUGIN_PROGRAM)

function listRows<C extends Command<never>>(program: Program<C>): readonly CommandRow[] {
  return program.commands.map((command) => ({
    name: command.name,
    usage: usageOf(command),
    group: command.group ?? program.helpGroup,
    summary: command.summary,
    description: command.description,
    examples: command.examples,
    arguments: (command.arguments ?? []).map(({ placeholder, required, help }) => ({ placeholder, required, help })),
    exits: Object.entries(command.exits ?? {}),
    flags: optionsOf(program, command).map(flagRow),
  }))
}

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

function flagRow(option: CommandOption): FlagRow {
  const { name, short, kind, group } = option
  return {
    flag: `--${name}`,
    short: short === undefined ? undefined : `-${short}`,
    placeholder: kind.placeholder,
    value: flagValue(name, kind),
    help: describeOption(option),
    group,
  }
}

function inGroups(properties: readonly SettingName[]): SettingName[] {
  return SETTING_GROUPS.flatMap((group) => properties.filter((property) => SETTINGS[property].group === group))
}

function flagValue(name: string, kind: CommandOption['kind']): FlagValue {
  if (kind.placeholder === undefined) return { kind: 'none' }
  if (kind.choices !== undefined) return { kind: 'choice', choices: kind.choices }
  if (kind.placeholder === '<path>') return { kind: name.endsWith('-dir') ? 'directory' : 'file' }
  return { kind: 'free' }
}

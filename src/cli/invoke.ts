/**
 * From a parsed command line to an exit code: checks every flag and setting before it complains about any, opens the node, runs the
 * command, and words what went wrong. Knows nothing of the parser.
 */

import {
  type ConfigFile,
  configPath,
  describeUnknownFlag,
  type Environment,
  type Flags,
  resolveSettings,
  type SettingsResolution,
} from '../settings/resolve-settings.ts'
import { camelCase, fileKey, flagName } from '../settings/setting-names.ts'
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from '../settings/settings.ts'
import { nearest } from '../values/nearest.ts'
import {
  type ArgumentValues,
  type BuildInfo,
  type Command,
  type CommandContext,
  EXIT,
  type ExitCode,
  type OptionValues,
  type RunAgent,
} from './command.ts'
import { PROGRAM } from './help-notes.ts'
import { plainText, type Terminal } from './terminal.ts'

/** What the command line needs of the process and of the composition root. */
export interface ProgramWorld {
  readonly build: BuildInfo
  readonly terminal: Terminal
  /** Asked anew for each reread of the settings. */
  env(): Environment
  readConfigFile(path: string): ConfigFile
  openNode(settings: Settings): CommandContext | Promise<CommandContext>
  readonly runAgent: RunAgent
}

/** A command line as the parser left it. */
export interface ParsedLine {
  /** By the flag's name in camel case, as `fileKey` writes it. */
  readonly given: Readonly<Record<string, string | boolean | undefined>>
  /** What is no known flag and no value of one, in order. */
  readonly rest: readonly string[]
}

export async function invoke(command: Command, line: ParsedLine, world: ProgramWorld): Promise<ExitCode> {
  const { options, problems: badOptions } = readOptions(command, line)
  const { operands, strays } = sortRest(command, line.rest)
  const { args, problems: badArguments } = readArguments(command, operands, strays.length > 0)
  const problems = [...strays, ...badArguments, ...badOptions]
  const flags = readFlags(command, line)
  try {
    if (command.takes === 'nothing') {
      return problems.length > 0 ? complain(world.terminal, command, problems) : command.execute(world.terminal, world.build)
    }
    const resolution = resolve(flags, world)
    if (!resolution.ok) return complain(world.terminal, command, [...problems, ...resolution.problems])
    if (problems.length > 0) return complain(world.terminal, command, problems)
    const { settings } = resolution
    if (command.takes === 'all') return await command.execute({ settings, reread: () => resolve(flags, world) }, world.runAgent)
    return await command.execute(await world.openNode(settings), options, args)
  } catch (error) {
    world.terminal.err(`${PROGRAM} ${command.name}: ${describeError(error)}\n`)
    return command.exits === undefined ? EXIT.failed : EXIT.usage
  }
}

/** Which settings a command takes as flags. */
export function settingsOf(command: Command): readonly SettingName[] {
  if (command.takes === 'nothing') return []
  return SETTING_NAMES.filter((property) => command.takes === 'all' || SETTINGS[property].commands === 'all')
}

/** What is wrong with a command line that does not begin with a command. undefined: nothing. */
export function describeWrongStart(first: string | undefined, commands: readonly string[]): string | undefined {
  const known = [...commands, '-h', '--help', '--version']
  if (first === undefined || known.includes(first)) return undefined
  const name = plainText(first.replace(/=.*$/s, ''))
  if (!first.startsWith('-')) return `${name}: unknown command; the nearest known one is ${nearest(name, commands)}`
  const isSetting = SETTING_NAMES.some((property) => flagName(property) === name)
  return isSetting
    ? `${name}: flags stand after the command, as in ${PROGRAM} run ${name}`
    : describeUnknownFlag(name, ['--help', '--version'])
}

function resolve(flags: Flags, world: ProgramWorld): SettingsResolution {
  const env = world.env()
  return resolveSettings({ flags, env, file: world.readConfigFile(configPath(flags, env)) })
}

function readFlags(command: Command, { given }: ParsedLine): Flags {
  const flags: Partial<Record<SettingName, string>> = {}
  for (const property of settingsOf(command)) {
    const value = given[fileKey(property)]
    if (value !== undefined) flags[property] = String(value)
  }
  return flags
}

function readOptions(command: Command, { given }: ParsedLine): { options: OptionValues; problems: string[] } {
  const options: Record<string, string> = {}
  const problems: string[] = []
  for (const { name, kind, initial } of command.options) {
    const text = String(given[camelCase(name)] ?? initial)
    const parsed = kind.parse(text)
    if (!parsed.ok) problems.push(`--${name}: ${parsed.detail}`)
    options[name] = text
  }
  return { options, problems }
}

/** @param unsure an unknown flag may have taken an argument for its value */
function readArguments(command: Command, operands: readonly string[], unsure: boolean): { args: ArgumentValues; problems: string[] } {
  const taken = command.arguments ?? []
  const args: Record<string, string> = {}
  const problems = operands.slice(taken.length).map((argument) => `${argument}: unexpected argument`)
  for (const [index, { name, kind, required }] of taken.entries()) {
    const text = operands[index]
    if (text === undefined) {
      if (required && !unsure) problems.push(`${kind.placeholder}: it is missing`)
      continue
    }
    const parsed = kind.parse(text)
    if (!parsed.ok) problems.push(parsed.detail)
    args[name] = text
  }
  return { args, problems }
}

/** Arguments, and what is wrong with the flags among what the parser left. */
function sortRest(command: Command, rest: readonly string[]): { operands: string[]; strays: string[] } {
  const known = [...command.options.map(({ name }) => `--${name}`), ...settingsOf(command).map(flagName), '--help']
  const operands: string[] = []
  const strays: string[] = []
  let afterUnknownFlag = false
  for (const argument of rest) {
    const flag = argument.replace(/=.*$/s, '')
    const isFlag = argument.startsWith('-') && argument.length > 1
    if (isFlag) strays.push(known.includes(flag) ? `${flag}: it is a switch, and takes no value` : describeUnknownFlag(flag, known))
    // After an unknown flag, this is most likely its value, and no second mistake.
    else if (!afterUnknownFlag) operands.push(argument)
    afterUnknownFlag = isFlag && flag === argument
  }
  return { operands, strays }
}

function complain(terminal: Terminal, command: Command, problems: readonly string[]): ExitCode {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  const taken = command.arguments === undefined ? 'flags and settings' : 'arguments, flags and settings'
  terminal.err(`${PROGRAM} ${command.name}: ${count} with ${taken}:\n`)
  for (const problem of problems) terminal.err(`  ${plainText(problem)}\n`)
  terminal.err(`${PROGRAM} ${command.name} --help lists the flags\n`)
  return EXIT.usage
}

/** I/O that failed has a code and a message for people; anything else is a bug, and its stack is what helps. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const codes = [error, error.cause].flatMap((one) => (one instanceof Error && 'code' in one ? [one.code] : []))
  if (codes.length === 0) return error.stack ?? error.message
  const denied = codes.includes('EACCES') || codes.includes('EPERM')
  return denied ? `${plainText(error.message)}; or run this as root` : plainText(error.message)
}

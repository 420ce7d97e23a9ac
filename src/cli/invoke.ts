/**
 * Runs a parsed command line: checks all flags and settings and reports all problems together,
 * opens the node, runs the command, and reports what failed. Independent of the parser.
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
import { camelCase, fileKey, flagName, SETTING_NAMES, SETTINGS, type SettingName, type Settings } from '../settings/settings.ts'
import { nearest } from '../values/nearest.ts'
import {
  type ArgumentValues,
  type BuildInfo,
  type Command,
  type CommandContext,
  EXIT,
  type ExitCode,
  type OptionValues,
  parseGiven,
  type RunAgent,
} from './command.ts'
import { PROGRAM } from './help-notes.ts'
import { plainText, type Terminal } from './terminal.ts'

/** What the command line needs from the process and from the composition root. */
export interface ProgramWorld {
  readonly build: BuildInfo
  readonly terminal: Terminal
  /** Called again for each reread of the settings. */
  env(): Environment
  readConfigFile(path: string): ConfigFile
  openNode(settings: Settings): CommandContext | Promise<CommandContext>
  readonly runAgent: RunAgent
}

/** A command line after the parser. */
export interface ParsedLine {
  /** By the flag's name in camel case. */
  readonly given: Readonly<Record<string, string | boolean | undefined>>
  /** Everything but known flags and their values, in order. */
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
    const badSettings = resolution.ok ? [] : resolution.problems
    // Flags are of this call, and whoever made it corrects them.
    const canDoWithout = !resolution.ok && resolution.isAgentsAlone && Object.keys(flags).length === 0
    const isLenient = command.takes === 'node' && command.isLenient === true && canDoWithout
    if (problems.length > 0 || (badSettings.length > 0 && !isLenient))
      return complain(world.terminal, command, [...problems, ...badSettings])
    for (const problem of badSettings) world.terminal.err(`${PROGRAM} ${command.name}: ignores an invalid setting: ${plainText(problem)}\n`)
    const { settings } = resolution
    if (command.takes === 'all') return await command.execute({ settings, reread: () => resolve(flags, world) }, world.runAgent)
    return await command.execute(await world.openNode(settings), options, args)
  } catch (error) {
    world.terminal.err(`${PROGRAM} ${command.name}: ${describeError(error)}\n`)
    return command.exits === undefined ? EXIT.failed : EXIT.usage
  }
}

/** The settings that a command takes as flags. */
export function settingsOf(command: Command): readonly SettingName[] {
  if (command.takes === 'nothing') return []
  return SETTING_NAMES.filter((property) => command.takes === 'all' || SETTINGS[property].commands === 'all')
}

/** The problem with a command line that does not begin with a command. undefined: none. */
export function describeWrongStart(first: string | undefined, commands: readonly string[]): string | undefined {
  const known = [...commands, '-h', '--help', '--version']
  if (first === undefined || known.includes(first)) return undefined
  const name = plainText(first.replace(/=.*$/s, ''))
  if (!first.startsWith('-')) return `${name}: unknown command; the nearest known one is ${nearest(name, commands)}`
  const isSetting = SETTING_NAMES.some((property) => flagName(property) === name)
  return isSetting
    ? `${name}: put flags after the command, as in ${PROGRAM} run ${name}`
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
  for (const option of command.options) {
    const { name, initial } = option
    const own = given[camelCase(name)]
    const text = String(own ?? initial)
    const parsed = own === undefined ? undefined : parseGiven(option, text)
    if (parsed?.ok === false) problems.push(`--${name}: ${parsed.detail}`)
    options[name] = text
  }
  return { options, problems }
}

/** @param unsure an argument may have been taken as the value of an unknown flag */
function readArguments(command: Command, operands: readonly string[], unsure: boolean): { args: ArgumentValues; problems: string[] } {
  const taken = command.arguments ?? []
  const args: Record<string, string> = {}
  const problems = operands.slice(taken.length).map((argument) => `${argument}: unexpected argument`)
  for (const [index, { name, kind, required }] of taken.entries()) {
    const text = operands[index]
    if (text === undefined) {
      if (required && !unsure) problems.push(`${kind.placeholder}: is missing`)
      continue
    }
    const parsed = kind.parse(text)
    if (!parsed.ok) problems.push(parsed.detail)
    args[name] = text
  }
  return { args, problems }
}

/** Splits what the parser left into arguments and problems with flags. */
function sortRest(command: Command, rest: readonly string[]): { operands: string[]; strays: string[] } {
  const known = [...command.options.map(({ name }) => `--${name}`), ...settingsOf(command).map(flagName), '--help']
  const operands: string[] = []
  const strays: string[] = []
  let afterUnknownFlag = false
  for (const argument of rest) {
    const flag = argument.replace(/=.*$/s, '')
    const isFlag = argument.startsWith('-') && argument.length > 1
    if (isFlag) strays.push(known.includes(flag) ? `${flag}: is a switch and takes no value` : describeUnknownFlag(flag, known))
    // After an unknown flag, this is most likely its value, not a second problem.
    else if (!afterUnknownFlag) operands.push(argument)
    afterUnknownFlag = isFlag && flag === argument
  }
  return { operands, strays }
}

function complain(terminal: Terminal, command: Command, problems: readonly string[]): ExitCode {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  const taken = command.arguments === undefined ? 'flags and settings' : 'arguments, flags and settings'
  terminal.err(`${PROGRAM} ${command.name}: ${count} with ${taken}:\n`)
  for (const problem of problems) terminal.err(`  ${plainText(problem)}\n`)
  terminal.err(`${PROGRAM} ${command.name} --help lists the flags\n`)
  return EXIT.usage
}

/**
 * Failed I/O has a code and a message for the user. Any other error is a bug, and its stack helps
 * to find it.
 */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const codes = [error, error.cause].flatMap((cause) => (cause instanceof Error && 'code' in cause ? [cause.code] : []))
  if (codes.length === 0) return error.stack ?? error.message
  const denied = codes.includes('EACCES') || codes.includes('EPERM')
  return denied ? `${plainText(error.message)}; run this as root` : plainText(error.message)
}

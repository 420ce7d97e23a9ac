/**
 * The command line: builds a parser and its help from the commands and the table of settings. The
 * only module that imports commander. Commander would stop at the first unknown flag. So it lets
 * them pass, and `invoke.ts` reports all problems together.
 */
import { Argument, CommanderError, Option, Command as Parser } from 'commander'
import { SETTING_GROUPS } from '../settings/setting-kinds.ts'
import { flagName, SETTINGS, type SettingName } from '../settings/settings.ts'
import { type Command, type CommandOption, EXIT, type ExitCode } from './command.ts'
import { COMMANDS } from './command-list.ts'
import { describeOption, describeSetting, notesOn, PROGRAM, PROGRAM_NOTES, usageOf } from './help-notes.ts'
import { describeWrongStart, invoke, type ProgramWorld, settingsOf } from './invoke.ts'
import type { Terminal } from './terminal.ts'

/** @param args without the program's own name */
export async function runProgram(args: readonly string[], world: ProgramWorld): Promise<ExitCode> {
  const wrongStart = describeWrongStart(args[0], ['help', ...COMMANDS.map(({ name }) => name)])
  if (wrongStart !== undefined) {
    world.terminal.err(`${PROGRAM}: ${wrongStart}\n${PROGRAM} --help lists the commands\n`)
    return EXIT.usage
  }
  let exitCode: ExitCode = EXIT.fine
  const parser = buildParser(world.terminal, world.build.version)
  for (const command of COMMANDS) {
    const subparser = addCommand(parser, command)
    subparser.action(async () => {
      exitCode = await invoke(command, { given: subparser.opts(), rest: subparser.args }, world)
    })
  }
  try {
    await parser.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.fine : EXIT.usage
  }
  return exitCode
}

function buildParser(terminal: Terminal, version: string): Parser {
  const width = () => terminal.width ?? 100
  return new Parser(PROGRAM)
    .description('Changes the configuration of this kubelet through the Kubernetes API, and rolls back what fails.')
    .usage('<command> [flags]')
    .version(`${PROGRAM} ${version}`, '--version', 'print the version')
    .helpOption('-h, --help', 'show help for the program or a command')
    .addHelpCommand(new Parser('help').argument('[command]').helpOption(false).description('show help for a command').helpGroup('Inspect:'))
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      outputError: (text, write) => write(`${PROGRAM}: ${text.replace(/^error: /, '')}`),
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
    .exitOverride()
    .addHelpText('after', PROGRAM_NOTES)
}

function addCommand(program: Parser, command: Command): Parser {
  const parser = program
    .command(command.name)
    .summary(command.summary)
    .description(command.description)
    .helpGroup(`${command.group}:`)
    .usage(usageOf(command))
    .showHelpAfterError(`${PROGRAM} ${command.name} --help lists the flags`)
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', notesOn(command))
  // None is required here: `invoke.ts` reports a missing one together with other problems.
  for (const { kind, help } of command.arguments ?? []) parser.addArgument(new Argument(`[${kind.placeholder}]`, help))
  for (const option of command.options) parser.addOption(parserOption(option))
  const properties = settingsOf(command)
  for (const group of SETTING_GROUPS) {
    for (const property of properties) {
      if (SETTINGS[property].group !== group) continue
      // Only the help of `run` lists them; in other commands they would hide the command's own
      // flags.
      parser.addOption(
        parserFlag(property)
          .helpGroup(`${group}:`)
          .hideHelp(command.takes !== 'all'),
      )
    }
  }
  return parser
}

function parserOption(option: CommandOption): Option {
  const short = option.short === undefined ? '' : `-${option.short}, `
  return new Option(`${short}--${option.name} ${option.kind.placeholder ?? ''}`.trimEnd(), describeOption(option))
}

function parserFlag(property: SettingName): Option {
  return new Option(`${flagName(property)} ${SETTINGS[property].kind.placeholder ?? ''}`.trimEnd(), describeSetting(property))
}

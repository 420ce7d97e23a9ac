/**
 * Runs one command line of the plugin. Pure but for what is passed in: the composition opens the
 * cluster only for a command line that is right.
 */
import { EXIT, type ExitCode } from '../command.ts'
import { plainText, type Terminal } from '../terminal.ts'
import { errorMessage } from '../../values/errors.ts'
import { type PluginCommand, type PluginContext, PROGRAM } from './command.ts'
import { Failure, Misuse } from './failure.ts'
import { commandHelp, programHelp } from './help.ts'
import { readLine } from './parse-line.ts'
import { untilStopped } from './until-stopped.ts'

export interface PluginWorld {
  readonly commands: readonly PluginCommand[]
  readonly terminal: Terminal
  readonly version: string
  /** @returns a text: why there is no cluster to talk to */
  open(globals: Readonly<Record<string, string>>): Promise<PluginContext | string>
}

export async function runPlugin(args: readonly string[], world: PluginWorld): Promise<ExitCode> {
  const { commands, terminal, version } = world
  const width = terminal.width ?? 80
  const refuse = (name: string, problems: readonly string[]): ExitCode => {
    terminal.err(`${problems.map((problem) => `${name}: ${plainText(problem)}\n`).join('')}${name} --help says more\n`)
    return EXIT.usage
  }
  const reading = readLine(args, commands)
  switch (reading.kind) {
    case 'version':
      terminal.out(`${PROGRAM} ${version}\n`)
      return EXIT.fine
    case 'help':
      terminal.out(reading.command === undefined ? programHelp(commands, width) : commandHelp(reading.command, width))
      return EXIT.fine
    case 'wrong': {
      const name = reading.command === undefined ? PROGRAM : `${PROGRAM} ${reading.command.name}`
      return refuse(name, reading.problems)
    }
    case 'run': {
      const { command, line, globals } = reading
      const complain = (detail: string): ExitCode => {
        terminal.err(`${PROGRAM} ${command.name}: ${plainText(detail)}\n`)
        return command.exits === undefined ? EXIT.failed : EXIT.usage
      }
      try {
        const context = await world.open(globals)
        if (typeof context === 'string') return complain(context)
        return await command.execute({ ...context, api: untilStopped(context.api, context.signal) }, line)
      } catch (error) {
        if (error instanceof Misuse) return refuse(`${PROGRAM} ${command.name}`, [error.message])
        // Any other error is a bug, and its stack helps to find it.
        return complain(error instanceof Failure || !(error instanceof Error) ? errorMessage(error) : (error.stack ?? error.message))
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Runs one command line of a program: help, all problems together, or the command, and says what
 * failed. Pure but for what is passed in.
 */
import { errorMessage } from '../values/errors.ts'
import { type Command, type CommandLine, EXIT, type ExitCode, Failure, Misuse, type Program } from './command.ts'
import { helpOn } from './help.ts'
import { readLine } from './parse-line.ts'
import { plainText, type Terminal } from './terminal.ts'

/** A command whose flags and arguments were read. */
export interface Prepared {
  /** Further problems of the command line, such as with the settings. */
  readonly problems: readonly string[]
  /** @throws Failure */
  execute(): Promise<ExitCode>
}

interface RunningProgram<C> {
  readonly terminal: Terminal
  readonly version: string
  prepare(command: C, line: CommandLine): Promise<Prepared>
}

/** @param args without the program's own name */
export async function runProgram<C extends Command<never>>(
  args: readonly string[],
  program: Program<C>,
  { terminal, version, prepare }: RunningProgram<C>,
): Promise<ExitCode> {
  const reading = readLine(args, program)
  switch (reading.kind) {
    case 'version':
      terminal.out(`${program.name} ${version}\n`)
      return EXIT.fine
    case 'help': {
      const help = helpOn(program, reading.command, terminal.width ?? 100)
      if (reading.isAsked) terminal.out(help)
      else terminal.err(help)
      return reading.isAsked ? EXIT.fine : EXIT.usage
    }
    case 'wrong':
      return refuse(program.name, reading.problems, terminal)
    case 'run': {
      const { command, line } = reading
      const name = `${program.name} ${command.name}`
      return reportFailure(name, command, terminal, async () => {
        const prepared = await prepare(command, line)
        const problems = [...reading.problems, ...prepared.problems]
        return problems.length > 0 ? refuse(name, problems, terminal) : prepared.execute()
      })
    }
  }
}

/** @param name of the program and the command */
export async function reportFailure(
  name: string,
  { exits }: Command<never>,
  terminal: Terminal,
  execute: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await execute()
  } catch (error) {
    if (error instanceof Misuse) return refuse(name, [error.message], terminal)
    terminal.err(`${name}: ${describeError(error)}\n`)
    return exits === undefined ? EXIT.failed : EXIT.usage
  }
}

function refuse(name: string, problems: readonly string[], terminal: Terminal): ExitCode {
  terminal.err(`${problems.map((problem) => `${name}: ${plainText(problem)}\n`).join('')}${name} --help says more\n`)
  return EXIT.usage
}

/**
 * Failed I/O has a code and a message for the user. Any other error is a bug, and its stack helps
 * to find it.
 */
function describeError(error: unknown): string {
  if (error instanceof Failure || !(error instanceof Error)) return plainText(errorMessage(error))
  const codes = [error, error.cause].flatMap((cause) => (cause instanceof Error && 'code' in cause ? [cause.code] : []))
  if (codes.length === 0) return (error.stack ?? error.message).split('\n').map(plainText).join('\n')
  const denied = codes.includes('EACCES') || codes.includes('EPERM')
  return denied ? `${plainText(error.message)}; run this as root` : plainText(error.message)
}

// SPDX-License-Identifier: Apache-2.0
/**
 * A command, in either program, as data and one function. `parse-line.ts`, `help.ts`, `complete.ts`
 * and `run-program.ts` make of the data everything that the programs share. Commands reach files,
 * systemd and the cluster only through their context, so tests can pass fakes.
 */
import { choiceKind, type Kind, type Parsed, switchKind } from '../settings/setting-kinds.ts'

export const EXIT = { fine: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface Command<Context> {
  /** One word or two: `get`, `rollout status`. */
  readonly name: string
  /** Heading in the list of commands. Absent: that of `help`. */
  readonly group?: string
  /** One line, for the list of commands. */
  readonly summary: string
  readonly description: string
  /** In order, optional ones last. Absent: the command takes none. */
  readonly arguments?: readonly CommandArgument[]
  readonly options: readonly CommandOption[]
  /**
   * The meaning of exit codes, for commands where 1 is a result, not a failure. Such a command
   * exits with 2 on any failure.
   */
  readonly exits?: Readonly<Record<ExitCode, string>>
  /** The command line without the program's name, and what it is for. */
  readonly examples: readonly (readonly [string, string])[]
  /** @throws Failure */
  execute(context: Context, line: CommandLine): Promise<ExitCode>
}

export interface CommandOption {
  /** `output` for `--output`. */
  readonly name: string
  readonly short?: string
  readonly kind: Pick<Kind<unknown>, 'placeholder' | 'choices' | 'optional' | 'parse'>
  readonly initial: string
  readonly help: string
  /** Heading in the help. Absent: `Options`. */
  readonly group?: string
  /** The help does not list it. */
  readonly isHidden?: boolean
}
/** By name; every option has a value that its kind accepted. */
export type OptionValues = Readonly<Record<string, string>>

export interface CommandArgument {
  readonly placeholder: string
  readonly required: boolean
  /** Takes all arguments that are left. */
  readonly many?: true
  readonly help?: string
  /** Absent: any text. */
  readonly kind?: Pick<Kind<unknown>, 'parse'>
  /** The names that completion suggests in the plugin. Absent: none. */
  readonly completes?: 'node' | 'config'
}

/** A command line whose options have values that their kinds accepted. */
export interface CommandLine {
  readonly options: OptionValues
  /** In order. */
  readonly args: readonly string[]
  /** The given flags of the program itself, by name. */
  readonly shared: Readonly<Record<string, string>>
}

/** The command line of a program. */
export interface Program<C extends Command<never> = Command<never>> {
  /** How people call it. */
  readonly name: string
  readonly about: string
  readonly commands: readonly C[]
  /** Heading of the command `help`. */
  readonly helpGroup: string
  /** Flags besides those of the command. undefined: those of every command. */
  flagsOf(command: C | undefined): readonly CommandOption[]
  /** Paragraphs of the help. undefined: of the help of the program. */
  notesOn(command: C | undefined): readonly string[]
  /** Advice in place of a flag that other programs have. */
  readonly hints?: ReadonlyMap<string, string>
  /** The meaning of exit code 2, where a command does not say it. */
  readonly misuse: string
}

/** Thrown by commands: the message is for people, and is all that they see. */
export class Failure extends Error {}

/** The command line is wrong in a way that only the command itself sees. */
export class Misuse extends Failure {}

/** @param instead what to go on with where the work failed in a way that people are told */
export async function orElse<T, U>(work: Promise<T>, instead: (failure: Failure) => U): Promise<T | U> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure) return instead(error)
    throw error
  }
}

/** An empty text on the command line is most likely a variable of a script that is not set. */
export function parseGiven({ kind }: CommandOption, text: string): Parsed<unknown> {
  if (text === '' && kind.optional !== true) return { ok: false, detail: 'is empty: give a value, or leave it out' }
  return kind.parse(text)
}

export function switchOption(name: string, help: string, short?: string): CommandOption {
  return { name, ...(short !== undefined && { short }), kind: switchKind, initial: 'false', help }
}

/** @param formats the first is the default */
export function outputOption(help: string, ...formats: readonly [string, ...string[]]): CommandOption {
  return { name: 'output', short: 'o', kind: choiceKind(...formats), initial: formats[0], help }
}

export const OUTPUT = outputOption('output format: a table for people, or JSON for programs', 'table', 'json')

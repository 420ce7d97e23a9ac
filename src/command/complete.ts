// SPDX-License-Identifier: Apache-2.0
/**
 * Completion as kubectl wants it of a plugin: one suggestion a line, then `:` and a number that
 * says what the shell may add (cobra's `ShellCompDirective`). Pure but for the names that are
 * passed in.
 */
import type { Command, CommandArgument, Program } from './command.ts'
import { findCommand, optionsOf, split } from './parse-line.ts'

/** cobra's numbers: paths of files, or nothing beside the suggestions. */
const FILES = ':0'
const NOTHING_ELSE = ':4'

/** The names of one kind in the cluster; none where it cannot be asked. */
export type ListNames = (
  kind: NonNullable<CommandArgument['completes']>,
  shared: Readonly<Record<string, string>>,
) => Promise<readonly string[]>

/** @param args what stands on the line after the plugin's name; the last is what is being typed */
export async function complete<C extends Command<never>>(
  args: readonly string[],
  program: Program<C>,
  listNames: ListNames,
): Promise<string> {
  const { commands } = program
  const typed = args.at(-1) ?? ''
  const { given, words } = split(args.slice(0, -1), program)
  const command = findCommand(words, commands)
  const options = optionsOf(program, command)
  const last = given.at(-1)
  // The flag whose value is being typed.
  const open = options.find(({ name, kind }) => name === last?.name && last.value === undefined && kind.placeholder !== undefined)
  if (open !== undefined) return suggest(open.kind.choices ?? [], typed, open.kind.placeholder === '<path>' ? FILES : NOTHING_ELSE)
  if (typed.startsWith('-'))
    return suggest(
      options.map(({ name }) => `--${name}`),
      typed,
    )
  if (command === undefined) return suggest(nextWords(words, commands), typed)
  const taken = words.slice(command.name.split(' ').length)
  const argument = command.arguments?.[taken.length] ?? command.arguments?.find(({ many }) => many === true)
  if (argument?.completes === undefined) return suggest([], typed)
  const shared = Object.fromEntries(given.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
  const names = await listNames(argument.completes, shared)
  return suggest(
    names.filter((name) => !taken.includes(name)),
    typed,
  )
}

function suggest(names: readonly string[], typed: string, directive = NOTHING_ELSE): string {
  const fitting = [...new Set(names)].filter((name) => name.startsWith(typed))
  return `${[...fitting, directive].join('\n')}\n`
}

function nextWords(words: readonly string[], commands: readonly Command<never>[]): readonly string[] {
  const names = commands.map(({ name }) => name.split(' '))
  if (words.length === 0) return names.map(([first = '']) => first)
  return words.length > 1 ? [] : names.flatMap(([first, second]) => (first === words[0] && second !== undefined ? [second] : []))
}

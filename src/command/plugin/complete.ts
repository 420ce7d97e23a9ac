/**
 * Completion as kubectl wants it of a plugin: one suggestion a line, then `:` and a number that
 * says what the shell may add (cobra's `ShellCompDirective`). Pure but for the names that are
 * passed in.
 */
import type { CommandOption } from '../command.ts'
import type { PluginArgument, PluginCommand } from './command.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'

/** cobra's numbers: paths of files, or nothing beside the suggestions. */
const FILES = ':0'
const NOTHING_ELSE = ':4'

/** The names of one kind in the cluster; none where it cannot be asked. */
export type ListNames = (
  kind: NonNullable<PluginArgument['completes']>,
  globals: Readonly<Record<string, string>>,
) => Promise<readonly string[]>

/** @param args what stands on the line after the plugin's name; the last is what is being typed */
export async function complete(args: readonly string[], commands: readonly PluginCommand[], listNames: ListNames): Promise<string> {
  const typed = args.at(-1) ?? ''
  const { words, globals, open } = readWords(args.slice(0, -1), commands)
  if (open !== undefined) return suggest(open.kind.choices ?? [], typed, open.kind.placeholder === '<path>' ? FILES : NOTHING_ELSE)
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  if (typed.startsWith('-'))
    return suggest(
      [...(command?.options ?? []), ...GLOBAL_OPTIONS].map(({ name }) => `--${name}`),
      typed,
    )
  if (command === undefined) return suggest(nextWords(words, commands), typed)
  const given = words.length - command.name.split(' ').length
  const argument = command.arguments[given] ?? command.arguments.find(({ many }) => many === true)
  if (argument?.completes === undefined) return suggest([], typed)
  const taken = words.slice(command.name.split(' ').length)
  return suggest(
    (await listNames(argument.completes, globals)).filter((name) => !taken.includes(name)),
    typed,
  )
}

function suggest(names: readonly string[], typed: string, directive = NOTHING_ELSE): string {
  const fitting = [...new Set(names)].filter((name) => name.startsWith(typed))
  return `${[...fitting, directive].join('\n')}\n`
}

function nextWords(words: readonly string[], commands: readonly PluginCommand[]): readonly string[] {
  const names = commands.map(({ name }) => name.split(' '))
  if (words.length === 0) return names.map(([first = '']) => first)
  return words.length > 1 ? [] : names.flatMap(([first, second]) => (first === words[0] && second !== undefined ? [second] : []))
}

/** `open`: the flag whose value is being typed. */
function readWords(args: readonly string[], commands: readonly PluginCommand[]) {
  const known = [...GLOBAL_OPTIONS, ...commands.flatMap(({ options }) => options)]
  const words: string[] = []
  const globals: Record<string, string> = Object.fromEntries(GLOBAL_OPTIONS.map(({ name, initial }) => [name, initial]))
  let open: CommandOption | undefined
  for (const arg of args) {
    if (open !== undefined) {
      if (open.name in globals) globals[open.name] = arg
      open = undefined
    } else if (arg.startsWith('-')) {
      const [flag = '', value] = arg.split(/=(.*)/s)
      const option = known.find(({ name, short }) => flag === `--${name}` || (short !== undefined && flag === `-${short}`))
      if (option !== undefined && value !== undefined && option.name in globals) globals[option.name] = value
      if (value === undefined && option?.kind.placeholder !== undefined) open = option
    } else words.push(arg)
  }
  return { words, globals, open }
}

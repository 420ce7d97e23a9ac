// SPDX-License-Identifier: Apache-2.0
/** The help of a program, from the table of its commands. Pure. */
import { type Command, type CommandOption, EXIT, type ExitCode, type Program, switchOption } from './command.ts'
import { optionsOf } from './parse-line.ts'
import { alignColumns, foldText } from './terminal.ts'

export const HELP: CommandOption = switchOption('help', 'show help for the program or a command', 'h')
export const VERSION: CommandOption = switchOption('version', 'print the version')

/** Under each heading the entries, each with what it means. */
type Lists = Map<string, (readonly [string, string])[]>

/** @param command undefined: the help of the program itself */
export function helpOn<C extends Command<never>>(program: Program<C>, command: C | undefined, width: number): string {
  const lists: Lists = new Map()
  const add = (heading: string, entry: string, help: string) => lists.set(heading, [...(lists.get(heading) ?? []), [entry, help]])
  for (const { placeholder, help } of command?.arguments ?? []) if (help !== undefined) add('Arguments', placeholder, help)
  const own = command === undefined ? [VERSION, HELP, ...program.flagsOf(command)] : [...optionsOf(program, command), HELP]
  for (const option of own) if (option.isHidden !== true) add(option.group ?? 'Options', nameFlag(option), describeOption(option))
  if (command === undefined) {
    for (const { group = program.helpGroup, name, summary } of program.commands) add(group, name, summary)
    add(program.helpGroup, 'help', 'show help for a command')
  }
  const examples = (command?.examples ?? []).map(([example, effect]) => `  ${program.name} ${example}\n      ${effect}\n`)
  const paragraphs = [
    `Usage: ${program.name} ${command === undefined ? '<command>' : usageOf(command)} [flags]\n`,
    fold(command?.description ?? program.about, width),
    ...formatLists(lists, width),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.join('')}`]),
    ...program.notesOn(command),
    fold(`Exit codes: ${describeExits(program, command)}.`, width),
  ]
  return paragraphs.join('\n')
}

/** The command with its arguments. */
export function usageOf({ name, arguments: taken = [] }: Command<never>): string {
  const operands = taken.map(({ placeholder, required, many }) => {
    const text = many === true ? `${placeholder}...` : placeholder
    return required ? text : `[${text}]`
  })
  return [name, ...operands].join(' ')
}

function nameFlag({ name, short, kind }: CommandOption): string {
  return `${short === undefined ? '' : `-${short}, `}--${name} ${kind.placeholder ?? ''}`.trimEnd()
}

export function describeOption({ help, kind: { placeholder, choices }, initial }: CommandOption): string {
  if (placeholder === undefined || initial === '') return help
  return `${help} (${choices === undefined ? '' : `${choices.join(', ')}; `}default: ${initial})`
}

function describeExits(program: Program, command: Command<never> | undefined): string {
  const meanings: Readonly<Record<ExitCode, string>> = command?.exits ?? { 0: 'success', 1: 'failure', 2: program.misuse }
  return [EXIT.fine, EXIT.failed, EXIT.usage].map((code) => `${code} ${meanings[code]}`).join(', ')
}

function formatLists(lists: Lists, width: number): string[] {
  const longest = Math.max(...[...lists.values()].flat().map(([entry]) => entry.length))
  return [...lists].map(([heading, entries]) => {
    const rows = entries.flatMap(([entry, help]) =>
      foldText(help, width - longest - 4).map((text, line) => [`  ${(line === 0 ? entry : '').padEnd(longest)}`, text]),
    )
    return `${heading}:\n${alignColumns(rows, false).join('\n')}\n`
  })
}

function fold(text: string, width: number): string {
  return `${foldText(text, width).join('\n')}\n`
}

/** The help of the plugin, from the table of its commands. Pure. */
import { type CommandOption, EXIT } from '../command.ts'
import { foldText } from '../fold-text.ts'
import { describeOption } from '../help-notes.ts'
import { alignColumns } from '../terminal.ts'
import { type PluginCommand, PROGRAM } from './command.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'

const EXITS: NonNullable<PluginCommand['exits']> = {
  [EXIT.fine]: 'success',
  [EXIT.failed]: 'failure',
  [EXIT.usage]: 'invalid command line',
}

export function programHelp(commands: readonly PluginCommand[], width: number): string {
  const groups = [...new Set(commands.map(({ group }) => group))]
  const lists = groups.map((group) => {
    const rows = commands.filter((command) => command.group === group).map(({ name, summary }) => [`  ${name}`, summary])
    return `${group}:\n${alignColumns(rows, false).join('\n')}\n`
  })
  const text = 'Shows and changes the configuration of the kubelets of a cluster, where kubelet-cfg-agent runs on its nodes.'
  return `${[
    `${foldText(text, width).join('\n')}\n`,
    `Usage: ${PROGRAM} <command> [flags]\n`,
    ...lists,
    `Flags of every command:\n${listFlags(GLOBAL_OPTIONS, width)}`,
    `${PROGRAM} <command> --help describes a command.\n`,
  ].join('\n')}`
}

export function commandHelp(command: PluginCommand, width: number): string {
  const { description, options, examples, exits = EXITS } = command
  const lines = examples.map(([example, effect]) => [`  ${PROGRAM} ${example}`, effect])
  const codes = [EXIT.fine, EXIT.failed, EXIT.usage].map((code) => `${code} ${exits[code]}`)
  return `${[
    `${foldText(description, width).join('\n')}\n`,
    `Usage: ${PROGRAM} ${usageOf(command)} [flags]\n`,
    ...(options.length === 0 ? [] : [`Flags:\n${listFlags(options, width)}`]),
    `Flags of every command:\n${listFlags(GLOBAL_OPTIONS, width)}`,
    `Examples:\n${lines.map(([example, effect]) => `${example}\n      ${effect}\n`).join('')}`,
    `${foldText(`Exit codes: ${codes.join(', ')}.`, width).join('\n')}\n`,
  ].join('\n')}`
}

export function usageOf({ name, arguments: taken }: PluginCommand): string {
  const operands = taken.map(({ placeholder, required, many }) => {
    const text = many === true ? `${placeholder}...` : placeholder
    return required ? text : `[${text}]`
  })
  return [name, ...operands].join(' ')
}

function listFlags(options: readonly CommandOption[], width: number): string {
  const flags = options.map(({ name, short, kind }) =>
    `  ${short === undefined ? '    ' : `-${short}, `}--${name} ${kind.placeholder ?? ''}`.trimEnd(),
  )
  const indent = Math.max(...flags.map((flag) => flag.length)) + 2
  const rows = options.flatMap((option, index) =>
    foldText(describeOption(option), width - indent).map((text, line) => [line === 0 ? (flags[index] ?? '') : '', text]),
  )
  return `${alignColumns(rows, false).join('\n')}\n`
}

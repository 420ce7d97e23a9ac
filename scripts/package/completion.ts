// SPDX-License-Identifier: Apache-2.0
/**
 * Completion for bash, zsh and fish, from the table of the command line. Each is one static file,
 * which does not run the program. Pure.
 */
import { AGENT_NAME } from '../../src/command/agent/program.ts'
import { COMMAND_ROWS, type CommandRow, type FlagRow, HELP_FLAG, VERSION_FLAG } from '../command-line-table.ts'

const FUNCTION = `_${AGENT_NAME.replaceAll('-', '_')}`
const HELP_COMMAND = { name: 'help', summary: 'show help for a command' }
const NAMES = [...COMMAND_ROWS.map(({ name }) => name), HELP_COMMAND.name]

const namesOf = ({ short, flag }: FlagRow) => (short === undefined ? [flag] : [short, flag])
const flagsOf = ({ flags }: CommandRow) => [...flags, HELP_FLAG]

/**
 * For bash: the values of each flag. A flag that takes other values in another command is listed by
 * command.
 */
function listValues(): { readonly pattern: string; readonly row: FlagRow }[] {
  const byFlag = new Map<string, { readonly command: string; readonly row: FlagRow }[]>()
  for (const { name, flags } of COMMAND_ROWS) {
    for (const row of flags) byFlag.set(row.flag, [...(byFlag.get(row.flag) ?? []), { command: name, row }])
  }
  return [...byFlag.values()].flatMap((uses) => {
    const kinds = new Set(uses.map(({ row }) => JSON.stringify(row.value)))
    const [first] = uses
    if (first === undefined) return []
    if (kinds.size === 1)
      return [
        {
          pattern: namesOf(first.row)
            .map((name) => `*:${name}`)
            .join(' | '),
          row: first.row,
        },
      ]
    return uses.map(({ command, row }) => ({
      pattern: namesOf(row)
        .map((name) => `${command}:${name}`)
        .join(' | '),
      row,
    }))
  })
}

export function bashCompletion(): string {
  const values = listValues().flatMap(({ pattern, row }) => {
    const reply = bashReply(row)
    return reply === undefined ? [] : [`    ${pattern}) ${reply} ;;`]
  })
  const withFiles = COMMAND_ROWS.filter((row) => row.arguments.length > 0).map(({ name }) => name)
  const commands = COMMAND_ROWS.map((row) => `    ${row.name}) words='${flagsOf(row).flatMap(namesOf).join(' ')}' ;;`)
  return `# bash completion for ${AGENT_NAME}
${FUNCTION}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} words=
  COMPREPLY=()
  # bash passes --flag=value as three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '${[...NAMES, ...namesOf(HELP_FLAG), ...namesOf(VERSION_FLAG)].join(' ')}' -- "$cur")
    return
  fi
  case \${COMP_WORDS[1]}:$prev in
${values.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
    help) words='${NAMES.join(' ')}' ;;
${commands.join('\n')}
  esac
  if [[ $cur != -* ]]; then
    case \${COMP_WORDS[1]} in
      ${withFiles.join(' | ')}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F ${FUNCTION} ${AGENT_NAME}
`
}

/** The code that fills COMPREPLY after a flag; undefined: the flag takes no value. */
function bashReply({ value }: FlagRow): string | undefined {
  switch (value.kind) {
    case 'none':
      return undefined
    case 'choice':
      return `mapfile -t COMPREPLY < <(compgen -W '${value.choices.join(' ')}' -- "$cur") && return`
    case 'file':
      return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return'
    case 'directory':
      return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") && return'
    case 'free':
      return 'return'
  }
}

export function zshCompletion(): string {
  const name = `_${AGENT_NAME}`
  const described = [...COMMAND_ROWS, HELP_COMMAND].map((row) => `        ${zshQuote(`${row.name}:${row.summary}`)}`)
  const cases = COMMAND_ROWS.map((row) => {
    const operands = row.arguments.map(({ placeholder, required }, index) =>
      zshQuote(`${index + 1}:${required ? '' : ':'}${placeholder}:_files`),
    )
    const specs = [...flagsOf(row).flatMap(zshSpecs), ...operands]
    return `        ${row.name})\n          _arguments \\\n${specs.map((spec) => `            ${spec}`).join(' \\\n')}\n          ;;`
  })
  return `#compdef ${AGENT_NAME}
# zsh completion for ${AGENT_NAME}
${name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \\
${[HELP_FLAG, VERSION_FLAG]
  .flatMap(zshSpecs)
  .map((spec) => `    ${spec} \\\n`)
  .join('')}    '1:command:->command' \\
    '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
${described.join('\n')}
      )
      _describe command commands
      ;;
    argument)
      case $words[1] in
        help)
          _values command ${NAMES.join(' ')}
          ;;
${cases.join('\n')}
      esac
      ;;
  esac
}
${name} "$@"
`
}

function zshSpecs(row: FlagRow): string[] {
  const help = row.help.replace(/[[\]\\]/g, '\\$&')
  return namesOf(row).map((name) => {
    const takes = row.value.kind === 'none' ? '' : name.startsWith('--') ? '=' : '+'
    return zshQuote(`${name}${takes}[${help}]${zshAction(row)}`)
  })
}

function zshAction({ value, placeholder }: FlagRow): string {
  const label = (placeholder ?? '').replace(/[<>]/g, '').replaceAll(':', '\\:')
  switch (value.kind) {
    case 'none':
      return ''
    case 'choice':
      return `:${label}:(${value.choices.join(' ')})`
    case 'file':
      return `:${label}:_files`
    case 'directory':
      return `:${label}:_files -/`
    case 'free':
      return `:${label}: `
  }
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export function fishCompletion(): string {
  const lines = [
    `# fish completion for ${AGENT_NAME}`,
    `complete -c ${AGENT_NAME} -f`,
    ...[HELP_FLAG, VERSION_FLAG].map((row) => fishFlag('__fish_use_subcommand', row)),
    ...[...COMMAND_ROWS, HELP_COMMAND].map(
      ({ name, summary }) => `complete -c ${AGENT_NAME} -n __fish_use_subcommand -a ${name} -d ${fishQuote(summary)}`,
    ),
    `complete -c ${AGENT_NAME} -n '__fish_seen_subcommand_from help' -a '${NAMES.join(' ')}'`,
    ...COMMAND_ROWS.filter((row) => row.arguments.length > 0).map(
      ({ name }) => `complete -c ${AGENT_NAME} -n '__fish_seen_subcommand_from ${name}' -F`,
    ),
    ...COMMAND_ROWS.flatMap((row) => flagsOf(row).map((flag) => fishFlag(`'__fish_seen_subcommand_from ${row.name}'`, flag))),
  ]
  return `${lines.join('\n')}\n`
}

function fishFlag(condition: string, row: FlagRow): string {
  const short = row.short === undefined ? '' : ` -s ${row.short.slice(1)}`
  return `complete -c ${AGENT_NAME} -n ${condition}${short} -l ${row.flag.slice(2)}${fishAction(row)} -d ${fishQuote(row.help)}`
}

function fishAction({ value }: FlagRow): string {
  switch (value.kind) {
    case 'none':
      return ''
    case 'choice':
      return ` -x -a '${value.choices.join(' ')}'`
    case 'file':
      return ' -r -F'
    case 'directory':
      return " -x -a '(__fish_complete_directories)'"
    case 'free':
      return ' -x'
  }
}

/** fish has two escapes in single quotes. */
function fishQuote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

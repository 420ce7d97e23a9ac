/**
 * The parts of the help that the parser does not write: examples, the other places of settings,
 * exit codes. Pure.
 */
import { fileKey, flagName, SETTINGS, type SettingName, showInitial, variableName } from '../settings/settings.ts'
import { type Command, type CommandOption, EXIT } from './command.ts'

export const PROGRAM = 'kubelet-cfg-agent'

const EXITS: NonNullable<Command['exits']> = { [EXIT.fine]: 'success', [EXIT.failed]: 'failure', [EXIT.usage]: 'invalid flags or settings' }
const EXIT_CODES = listExits(EXITS)

export const PROGRAM_NOTES = `
First steps:
  ${PROGRAM} check     check that the agent can work on this node
  ${PROGRAM} status    show what kubelet runs, what is assigned, and the trial

${EXIT_CODES}`

const SETTINGS_NOTE = `Each setting can also be set in the environment (${flagName('kubeletUnit')} as ${variableName('kubeletUnit')})
and in the config file (as ${fileKey('kubeletUnit')}). Flags win over the environment, and the environment wins
over the file.
`

/** For commands that take settings as flags, but do not list them in their help. */
const PLACES_NOTE = `Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see ${PROGRAM} run --help.
`

const NOTES: Readonly<Record<Command['takes'], readonly string[]>> = { nothing: [], node: [PLACES_NOTE], all: [SETTINGS_NOTE] }

function listExits(exits: NonNullable<Command['exits']>): string {
  const codes = [EXIT.fine, EXIT.failed, EXIT.usage].map((code) => `${code} ${exits[code]}`)
  return `Exit codes: ${codes.join(', ')}.\n`
}

/** The usage line without the command's name. */
export function usageOf(command: Command): string {
  const placeholders = (command.arguments ?? []).map(({ kind, required }) => (required ? kind.placeholder : `[${kind.placeholder}]`))
  return [...placeholders, '[flags]'].join(' ')
}

export function notesOn({ examples, takes, exits }: Command): string {
  const width = Math.max(...examples.map(([example]) => example.length))
  const lines = examples.map(([example, effect]) => `  ${PROGRAM} ${example.padEnd(width)}    ${effect}\n`)
  const paragraphs = [
    ...(lines.length === 0 ? [] : [`Examples:\n${lines.join('')}`]),
    ...NOTES[takes],
    exits === undefined ? EXIT_CODES : listExits(exits),
  ]
  return `\n${paragraphs.join('\n')}`
}

export function describeOption({ help, kind, initial }: CommandOption): string {
  return kind.placeholder === undefined || initial === '' ? help : describe(help, kind.choices, initial)
}

export function describeSetting(property: SettingName): string {
  const { help, kind, initialNote } = SETTINGS[property]
  return kind.placeholder === undefined ? help : describe(help, kind.choices, initialNote ?? showInitial(property))
}

function describe(help: string, choices: readonly string[] | undefined, initial: string): string {
  return `${help} (${choices === undefined ? '' : `${choices.join(', ')}; `}default: ${initial})`
}

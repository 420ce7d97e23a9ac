/** The parts of the help that a parser does not know: examples, where else settings come from, exit codes. Pure text. */
import { fileKey, flagName, showInitial, variableName } from '../settings/setting-names.ts'
import { SETTINGS, type SettingName } from '../settings/settings.ts'
import { type Command, type CommandOption, EXIT } from './command.ts'

export const PROGRAM = 'kubelet-cfg-agent'

const EXITS: NonNullable<Command['exits']> = { [EXIT.fine]: 'fine', [EXIT.failed]: 'failed', [EXIT.usage]: 'wrong flags or settings' }
const EXIT_CODES = listExits(EXITS)

export const PROGRAM_NOTES = `
First steps:
  ${PROGRAM} check     can the agent do its work here?
  ${PROGRAM} status    what runs, what should, and how its trial stands

${EXIT_CODES}`

const SETTINGS_NOTE = `Each setting is also read from the environment (${flagName('kubeletUnit')} as ${variableName('kubeletUnit')})
and from the config file (as ${fileKey('kubeletUnit')}); flags win over the environment, and that over the file.
`

/** Where everything is, for a command that does not spell its flags out. */
const PLACES_NOTE = `Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as ${PROGRAM} run --help explains them.
`

const NOTES: Readonly<Record<Command['takes'], readonly string[]>> = { nothing: [], node: [PLACES_NOTE], all: [SETTINGS_NOTE] }

function listExits(exits: NonNullable<Command['exits']>): string {
  const codes = [EXIT.fine, EXIT.failed, EXIT.usage].map((code) => `${code} ${exits[code]}`)
  return `Exit codes: ${codes.join(', ')}.\n`
}

/** How it is called: the placeholders of its arguments, and that it takes flags. */
export function usageOf(command: Command): string {
  const spelled = (command.arguments ?? []).map(({ kind, required }) => (required ? kind.placeholder : `[${kind.placeholder}]`))
  return [...spelled, '[flags]'].join(' ')
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

// SPDX-License-Identifier: Apache-2.0
/**
 * The agent's command line: settings as flags, and the commands that need no node. The list of all
 * commands is `command-list.ts`: an agent that runs does without it. Pure but for what is passed
 * in.
 */
import {
  type ConfigFile,
  configPath,
  type Environment,
  type Flags,
  resolveSettings,
  type SettingsResolution,
} from '../../settings/resolve-settings.ts'
import { accept, SETTING_GROUPS } from '../../settings/setting-kinds.ts'
import {
  fileKey,
  flagName,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Settings,
  showInitial,
  variableName,
} from '../../settings/settings.ts'
import type { CommandLine, CommandOption, ExitCode, Program } from '../command.ts'
import type { BuildInfo } from '../plain-commands.ts'
import type { Prepared } from '../run-program.ts'
import { plainText } from '../terminal.ts'
import type { AgentCommand, CommandContext, NodeCommand, RunAgent, RunCommand } from './command.ts'

export const AGENT_NAME = 'kubelet-cfg-agent'

const FIRST_STEPS = `First steps:
  ${AGENT_NAME} check     check that the agent can work on this node
  ${AGENT_NAME} status    show what kubelet runs, what is assigned, and the trial
`

const NOTES: Readonly<Record<AgentCommand['takes'], readonly string[]>> = {
  nothing: [],
  // Commands that take these settings as flags do not list them in their help.
  node: [
    `Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see ${AGENT_NAME} run --help.
`,
  ],
  all: [
    `Each setting can also be set in the environment (${flagName('kubeletUnit')} as ${variableName('kubeletUnit')})
and in the config file (as ${fileKey('kubeletUnit')}). Flags win over the environment, and the environment wins
over the file.
`,
  ],
}

export function agentProgram(commands: readonly AgentCommand[]): Program<AgentCommand> {
  return {
    name: AGENT_NAME,
    about: 'Changes the configuration of this kubelet through the Kubernetes API, and rolls back what fails.',
    commands,
    helpGroup: 'Inspect',
    flagsOf: (command) => settingsOf(command).map((property) => optionOf(property, command?.takes !== 'all')),
    notesOn: (command) => (command === undefined ? [FIRST_STEPS] : NOTES[command.takes]),
    misuse: 'invalid flags or settings',
  }
}

/** The settings that a command takes as flags, in the order of the help. */
function settingsOf(command: AgentCommand | undefined): readonly SettingName[] {
  if (command === undefined || command.takes === 'nothing') return []
  const taken = SETTING_NAMES.filter((property) => command.takes === 'all' || SETTINGS[property].commands === 'all')
  return SETTING_GROUPS.flatMap((group) => taken.filter((property) => SETTINGS[property].group === group))
}

/**
 * Settings are checked together, wherever they are set. Only the help of `run` lists them: in that
 * of other commands they would hide the command's own flags.
 */
function optionOf(property: SettingName, isHidden: boolean): CommandOption {
  const { name, kind, help, group, initialNote } = SETTINGS[property]
  const { placeholder, choices } = kind
  const given = { placeholder, optional: true, parse: accept<string>, ...(choices && { choices }) } as const
  return { name, kind: given, initial: initialNote ?? showInitial(property), help, group, isHidden }
}

/** The parts of the process and of the composition that the command line needs. */
export interface AgentWorld extends BuildInfo {
  /** Called again for each reread of the settings. */
  env(): Environment
  readConfigFile(path: string): Promise<ConfigFile>
  openNode(settings: Settings): CommandContext | Promise<CommandContext>
  readonly runAgent: RunAgent
}

type Refused = Extract<SettingsResolution, { ok: false }>

export async function prepareAgent(world: AgentWorld, command: AgentCommand, line: CommandLine): Promise<Prepared> {
  if (command.takes === 'nothing') return { problems: [], execute: () => command.execute({ ...world, program: AGENT_NAME }, line) }
  const flags = readFlags(command, line)
  const resolution = await resolve(flags, world)
  const { settings } = resolution
  const problems = resolution.ok ? [] : resolution.problems
  const isLenient = command.takes === 'node' && !resolution.ok && canDoWithout(command, flags, resolution)
  return {
    problems: isLenient ? [] : problems,
    async execute(): Promise<ExitCode> {
      for (const problem of problems)
        world.terminal.err(`${AGENT_NAME} ${command.name}: ignores an invalid setting: ${plainText(problem)}\n`)
      if (command.takes === 'node') return command.execute(await world.openNode(settings), line)
      return command.execute({ start: { settings, reread: () => resolve(flags, world) }, runAgent: world.runAgent }, line)
    },
  }
}

/** Flags are of this call, and whoever made it corrects them. */
function canDoWithout({ isLenient }: NodeCommand, flags: Flags, { isAgentsAlone, isOfFlags }: Refused): boolean {
  if (Object.keys(flags).length > 0) return isLenient === 'with-flags' && !isOfFlags
  return isLenient !== undefined && isAgentsAlone
}

async function resolve(flags: Flags, { env, readConfigFile }: AgentWorld): Promise<SettingsResolution> {
  const variables = env()
  return resolveSettings({ flags, env: variables, file: await readConfigFile(configPath(flags, variables)) })
}

function readFlags(command: AgentCommand, { shared }: CommandLine): Flags {
  const given = settingsOf(command).map((property) => [property, shared[SETTINGS[property].name]] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

export const runAgentCommand: RunCommand = {
  name: 'run',
  takes: 'all',
  group: 'Run',
  summary: 'run the agent in the foreground',
  description:
    'Follows the config that the cluster (or a directory of manifests) assigns to this node: saves it, restarts kubelet ' +
    'with it, promotes it if kubelet stays healthy, and rolls it back if not. SIGTERM and SIGINT end the agent at a safe ' +
    'point and leave kubelet as it is; SIGHUP rereads the settings.',
  options: [],
  examples: [
    ['run', 'use the settings in /etc/kubelet-cfg-agent/config.yaml'],
    ['run --manifest-dir /etc/kubelet-cfg-agent/manifests', 'use manifests instead of an API server'],
    ['run --trial-duration 30m --spread 10m', 'be more careful than the defaults'],
  ],
  execute: ({ start, runAgent }) => runAgent(start),
}

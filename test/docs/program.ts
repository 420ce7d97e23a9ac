// SPDX-License-Identifier: Apache-2.0
/** Checks a command line against the real command table. Nothing of it is run. */
import { COMMANDS } from '../../src/command/agent/command-list.ts'
import { type AgentWorld, agentProgram, prepareAgent } from '../../src/command/agent/program.ts'
import { type LineReading, readLine } from '../../src/command/parse-line.ts'
import { GLOBAL_OPTIONS } from '../../src/command/plugin/options.ts'
import { PLUGIN_PROGRAM } from '../../src/command/plugin/program.ts'
import { flagName, SETTING_NAMES } from '../../src/settings/settings.ts'

export const PROGRAM = 'kubelet-cfg-agent'

const unused = (): never => {
  throw new Error('nothing is run')
}
const WORLD: AgentWorld = {
  terminal: { out: unused, err: unused, color: false, width: 100 },
  version: '0',
  platform: 'none',
  env: () => ({}),
  readConfigFile: async () => ({
    kind: 'document',
    path: 'config.yaml',
    value: { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'AgentConfiguration' },
  }),
  openNode: unused,
  runAgent: unused,
}

/**
 * @param args without the program's own name. @returns the program's complaint; undefined: it
 * accepts the command line
 */
export async function findUsageProblem(args: readonly string[], isInline: boolean): Promise<string | undefined> {
  const reading = readLine(args, agentProgram(COMMANDS))
  const settings = reading.kind === 'run' ? (await prepareAgent(WORLD, reading.command, reading.line)).problems : []
  return describeProblems(reading, settings, isInline)
}

/** A text may mention a command without its arguments. */
function describeProblems(reading: LineReading<unknown>, settings: readonly string[], isInline: boolean): string | undefined {
  const read = reading.kind === 'run' || reading.kind === 'wrong' ? reading.problems : []
  const problems = [...read, ...settings].filter((problem) => !isInline || !problem.endsWith(': is missing'))
  return problems.length === 0 ? undefined : problems.join('; ')
}

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name)

/** Every flag that some command has. */
export const OWN_FLAGS: ReadonlySet<string> = new Set([
  '--help',
  '--version',
  ...SETTING_NAMES.map(flagName),
  ...COMMANDS.flatMap(({ options }) => options.map(({ name }) => `--${name}`)),
  ...[...GLOBAL_OPTIONS, ...PLUGIN_PROGRAM.commands.flatMap(({ options }) => options)].map(({ name }) => `--${name}`),
])

/** The same of the kubectl plugin: what stands after `kubectl kubelet-config`. */
export function findPluginProblem(args: readonly string[], isInline: boolean): string | undefined {
  return describeProblems(readLine(args, PLUGIN_PROGRAM), [], isInline)
}

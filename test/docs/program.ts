/**
 * Checks a command line against the real command table. The program runs with a fake world that
 * ends it as soon as the command line is accepted.
 */
import type { CommandContext } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/command-list.ts'
import { runProgram } from '../../src/cli/program.ts'
import { PLUGIN_COMMANDS } from '../../src/plugin/command-list.ts'
import { GLOBAL_OPTIONS } from '../../src/plugin/global-options.ts'
import { readLine } from '../../src/plugin/parse-line.ts'
import { flagName, SETTING_NAMES } from '../../src/settings/settings.ts'

export const PROGRAM = 'kubelet-cfg-agent'
/** Stands in for the argument of a command that a text mentions without one. */
const SOME_ARGUMENT = 'kubelet.yaml'

/**
 * @param args without the program's own name. @returns the program's complaint; undefined: it
 * accepts the command line
 */
export async function findUsageProblem(args: readonly string[], isInline: boolean): Promise<string | undefined> {
  const problem = await tryParse(args)
  if (problem === undefined || !isInline) return problem
  return (await tryParse([...args, SOME_ARGUMENT])) === undefined ? undefined : problem
}

async function tryParse(args: readonly string[]): Promise<string | undefined> {
  let err = ''
  let isParsed = false
  const accept = (): never => {
    isParsed = true
    throw Object.assign(new Error('parsed'), { code: 'PARSED' })
  }
  const code = await runProgram([...args], {
    build: { version: '0', platform: 'none' },
    terminal: {
      out: () => {},
      err: (text) => {
        err += text
      },
      color: false,
      width: 100,
    },
    env: () => ({}),
    readConfigFile: () => ({
      kind: 'document',
      path: 'config.yaml',
      value: { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'AgentConfiguration' },
    }),
    openNode: (): CommandContext => accept(),
    runAgent: async () => accept(),
  })
  return isParsed || code === 0 ? undefined : err.trim()
}

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name)

/** Every flag that some command has. */
export const OWN_FLAGS: ReadonlySet<string> = new Set([
  '--help',
  '--version',
  ...SETTING_NAMES.map(flagName),
  ...COMMANDS.flatMap(({ options }) => options.map(({ name }) => `--${name}`)),
  ...[...GLOBAL_OPTIONS, ...PLUGIN_COMMANDS.flatMap(({ options }) => options)].map(({ name }) => `--${name}`),
])

/** The same of the kubectl plugin: what stands after `kubectl kubelet-config`. */
export function findPluginProblem(args: readonly string[], isInline: boolean): string | undefined {
  const reading = readLine(args, PLUGIN_COMMANDS)
  if (reading.kind !== 'wrong') return undefined
  // A text may mention a command without its arguments.
  return isInline && reading.problems.every((problem) => problem.endsWith(': is missing')) ? undefined : reading.problems.join('; ')
}

// SPDX-License-Identifier: Apache-2.0
/** The command line of the kubectl plugin: all its commands, in the order of the help. */
import { unlessAborted } from '../../kube/backoff.ts'
import type { KubeAnswer, KubeApi } from '../../ports/kube-api.ts'
import type { CommandLine, Program } from '../command.ts'
import { type BuildInfo, PLAIN_COMMANDS, type PlainCommand } from '../plain-commands.ts'
import type { Prepared } from '../run-program.ts'
import { PLUGIN_NAME, type PluginCommand, type PluginContext } from './command.ts'
import { applyCommand } from './commands/apply.ts'
import { assignCommand, unassignCommand } from './commands/assign.ts'
import { checkAccessCommand } from './commands/check.ts'
import { diffConfigCommand } from './commands/diff.ts'
import { getCommand } from './commands/get.ts'
import {
  rolloutExcludeCommand,
  rolloutIncludeCommand,
  rolloutPauseCommand,
  rolloutResumeCommand,
  rolloutRetryCommand,
} from './commands/rollout-change.ts'
import { rolloutInitCommand } from './commands/rollout-init.ts'
import { rolloutStatusCommand } from './commands/rollout-status.ts'
import { upgradeCheckCommand } from './commands/upgrade-check.ts'
import { undoCommand, versionsCommand } from './commands/versions.ts'
import { whyCommand } from './commands/why.ts'
import { GLOBAL_OPTIONS } from './options.ts'

type AnyCommand = PluginCommand | PlainCommand

const isPlain = (command: AnyCommand | undefined): command is PlainCommand => PLAIN_COMMANDS.some((each) => each === command)

const ALL = 'Nodes have no namespace, and all of them are shown; -n names the namespace of the ConfigMaps'
const ALL_NAMESPACES = new Map(['-A', '--all-namespaces'].map((flag) => [flag, ALL]))

export const PLUGIN_PROGRAM: Program<AnyCommand> = {
  name: PLUGIN_NAME,
  about: 'Shows and changes the configuration of the kubelets of a cluster, where kubelet-cfg-agent runs on its nodes.',
  commands: [
    getCommand,
    whyCommand,
    diffConfigCommand,
    checkAccessCommand,
    upgradeCheckCommand,
    versionsCommand,
    ...PLAIN_COMMANDS,
    applyCommand,
    assignCommand,
    unassignCommand,
    undoCommand,
    rolloutStatusCommand,
    rolloutPauseCommand,
    rolloutResumeCommand,
    rolloutRetryCommand,
    rolloutExcludeCommand,
    rolloutIncludeCommand,
    rolloutInitCommand,
  ],
  helpGroup: 'Look',
  flagsOf: (command) => (isPlain(command) ? [] : GLOBAL_OPTIONS),
  notesOn: (command) => (command === undefined ? [`${PLUGIN_NAME} <command> --help describes a command.\n`] : []),
  hints: ALL_NAMESPACES,
  misuse: 'invalid command line',
}

/** @param open @throws Failure: why there is no cluster to talk to */
export async function preparePlugin(
  open: (shared: CommandLine['shared']) => PluginContext,
  build: BuildInfo,
  command: AnyCommand,
  line: CommandLine,
): Promise<Prepared> {
  return {
    problems: [],
    async execute() {
      if (isPlain(command)) return command.execute({ ...build, program: PLUGIN_NAME }, line)
      const context = open(line.shared)
      return command.execute({ ...context, api: untilStopped(context.api, context.signal) }, line)
    },
  }
}

const STOPPED: KubeAnswer = { kind: 'unreachable', detail: 'stopped by a signal' }

/**
 * An API that asks for nothing more once a signal has come. A command that changes one object after
 * another ends before the next.
 */
function untilStopped(api: KubeApi, signal: AbortSignal): KubeApi {
  return {
    async request(request) {
      if (signal.aborted) return STOPPED
      // The answer to a change is worth waiting for: it tells whether the change was made.
      return request.method === 'GET' ? ((await unlessAborted(api.request(request), signal)) ?? STOPPED) : api.request(request)
    },
    watch: (request) => api.watch(request),
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The composition root. Adapters meet only here and in `compose/`; everything else receives what it
 * needs as arguments and reaches for no environment, clock or disk of its own. Parts that are
 * needed rarely (YAML, metrics, node facts, preflight's rules) are loaded when they are needed.
 */
import { fileURLToPath } from 'node:url'
import type { AgentCommand } from './command/agent/command.ts'
import { readConfigFile } from './command/agent/config-file.ts'
import { type AgentWorld, agentProgram, prepareAgent, runAgentCommand } from './command/agent/program.ts'
import type { CommandLine } from './command/command.ts'
import { isCompletion, isPluginStart } from './command/plugin/plugin-name.ts'
import { runProgram } from './command/run-program.ts'
import { wantsColor } from './command/terminal.ts'
import { runAgent } from './compose/agent.ts'
import { AGENT_VERSION } from './compose/kube-api.ts'
import { BoundedYaml } from './kubelet/bounded-yaml.ts'
import { BootClock } from './systemd/boot-clock.ts'
import { takeSupervision } from './systemd/notify.ts'

declare const KUBELET_CFG_AGENT_YAML_CHILD: string | undefined
declare const KUBELET_CFG_AGENT_STAND_IN: string | undefined
declare const KUBELET_CFG_AGENT_HELPER: string | undefined
/** Child programs, by paths relative to this file. The build defines its own. */
const YAML_CHILD = typeof KUBELET_CFG_AGENT_YAML_CHILD === 'string' ? KUBELET_CFG_AGENT_YAML_CHILD : './kubelet/yaml-child.ts'
const STAND_IN = typeof KUBELET_CFG_AGENT_STAND_IN === 'string' ? KUBELET_CFG_AGENT_STAND_IN : './preflight/kubelet/stand-in.ts'
const HELPER = typeof KUBELET_CFG_AGENT_HELPER === 'string' ? KUBELET_CFG_AGENT_HELPER : './compose/helper.ts'
/** The limit of the helper's heap. The rules and a config of 1 MiB take some 40 MB. */
const HELPER_MB = 160

// First: no process that is started later may inherit these variables.
const supervision = takeSupervision(process.env, process.pid)
// The launcher sets these for this process alone. The helper shares the compile cache.
const compiled = process.env.NODE_COMPILE_CACHE
for (const name of ['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_', 'NODE_COMPILE_CACHE']) delete process.env[name]
// A reader that stops reading (`| head`) is not an error, and ends no command in the middle of its
// work.
const unread = new AbortController()
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') unread.abort()
  else if (!unread.signal.aborted) process.exit(1)
})
process.stderr.on('error', () => {})

const args = process.argv.slice(2)
const clock = new BootClock()
const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const yamlChild = beside(YAML_CHILD)
const yaml = new BoundedYaml({ child: yamlChild })
const standIn = [process.execPath, ...process.execArgv, beside(STAND_IN)]
// Unlike the agent, which waits most of the time, the helper gets a large young generation.
const helperFlags = ['--max-semi-space-size=8', `--max-old-space-size=${HELPER_MB}`]
const helperProgram = {
  command: [process.execPath, ...process.execArgv, ...helperFlags, beside(HELPER)],
  env: { NODE_COMPILE_CACHE: compiled },
}
const programs = { clock, yaml, standIn, helperProgram, yamlChild }
const terminal = {
  out: (text: string) => {
    if (!unread.signal.aborted) process.stdout.write(text)
  },
  err: (text: string) => void process.stderr.write(text),
  color: wantsColor(process.stdout.isTTY, process.env),
  width: process.stdout.columns,
  unread: unread.signal,
}
const platform = `node ${process.versions.node}, ${process.platform}/${process.arch}`

if (isPluginStart(process.argv[1])) {
  const { completePlugin, startPlugin } = await import('./compose/plugin.ts')
  const start = isCompletion(process.argv[1]) ? completePlugin : startPlugin
  await exitAfterOutput(await start(args, { terminal, platform, yaml, env: process.env, helperProgram }))
}
const world: AgentWorld = {
  terminal,
  version: AGENT_VERSION,
  platform,
  env: () => process.env,
  readConfigFile,
  // Loaded only when a command asks for it.
  openNode: async (settings) => (await import('./compose/commands.ts')).openNode(settings, programs, terminal),
  // A journal that takes nothing must not hold up the end of the agent.
  runAgent: async (start) => process.exit(await runAgent(start, { ...programs, supervision })),
}
// An agent that runs has no other commands in its memory.
const commands = args[0] === runAgentCommand.name ? [runAgentCommand] : (await import('./command/agent/command-list.ts')).COMMANDS
const prepare = (command: AgentCommand, line: CommandLine) => prepareAgent(world, command, line)
await exitAfterOutput(await runProgram(args, agentProgram(commands), { terminal, version: AGENT_VERSION, prepare }))

/** A pipe takes some 64 KiB at once, and what is not written yet would end with the process. */
async function exitAfterOutput(status: number): Promise<never> {
  const written = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => void stream.write('', () => resolve()))
  await Promise.all([written(process.stdout), written(process.stderr)])
  process.exit(status)
}

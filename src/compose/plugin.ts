// SPDX-License-Identifier: Apache-2.0
/**
 * The kubectl plugin: the same bundle as the agent, on the machine of an
 * administrator, with the current context of their kubeconfig. Loaded when this program is started
 * under the plugin's name.
 */
import { homedir } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { ask } from '../command/ask.ts'
import { type CommandLine, EXIT, type ExitCode, Failure } from '../command/command.ts'
import { complete, type ListNames } from '../command/complete.ts'
import type { PluginContext } from '../command/plugin/command.ts'
import { listNames } from '../command/plugin/config-maps.ts'
import { USUAL_NAMESPACE } from '../command/plugin/options.ts'
import { PLUGIN } from '../command/plugin/plugin-name.ts'
import { PLUGIN_PROGRAM, preparePlugin } from '../command/plugin/program.ts'
import { readInput } from '../command/read-input.ts'
import { runProgram } from '../command/run-program.ts'
import type { Terminal } from '../command/terminal.ts'
import { type HelperOptions, HelperProcess } from '../helper/helper-process.ts'
import { readUserKubeconfig } from '../kube/credentials.ts'
import { listKubeconfigs } from '../kube/kubeconfig.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { AGENT_VERSION, openKubeApi } from './kube-api.ts'

interface PluginStart {
  readonly terminal: Terminal
  /** As in `node 24.1.0, linux/x64`. */
  readonly platform: string
  readonly yaml: YamlReader
  readonly env: Readonly<Record<string, string | undefined>>
  readonly helperProgram: Pick<HelperOptions, 'command' | 'env'>
}

/** @returns the exit code: of the command, or as a shell has it of what a signal ended */
export async function startPlugin(args: readonly string[], start: PluginStart): Promise<number> {
  const build = { ...start, version: AGENT_VERSION }
  const stopper = new AbortController()
  let ended: number | undefined
  const stop = (_: NodeJS.Signals, number: number) => {
    ended = 128 + number
    stopper.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  const status = await runProgram(args, PLUGIN_PROGRAM, {
    ...build,
    prepare: (command, line) => preparePlugin((shared) => open(shared, start, stopper.signal), build, command, line),
  })
  return ended ?? status
}

/**
 * The completion that kubectl asks for when somebody presses Tab. A cluster that does not answer
 * has no names.
 */
export async function completePlugin(args: readonly string[], start: PluginStart): Promise<ExitCode> {
  const { signal } = new AbortController()
  const list: ListNames = async (kind, shared) => listNames(open(shared, start, signal), kind)
  const text = await complete(args, PLUGIN_PROGRAM, (kind, shared) => list(kind, shared).catch(() => []))
  start.terminal.out(text)
  return EXIT.fine
}

/** @throws Failure: why there is no cluster to talk to */
function open(shared: CommandLine['shared'], { terminal, yaml, env, helperProgram }: PluginStart, signal: AbortSignal): PluginContext {
  const reading = readUserKubeconfig(
    { files: listKubeconfigs(shared.kubeconfig, env.KUBECONFIG, homedir()), context: shared.context || undefined },
    Date.now,
  )
  if (reading.kind !== 'ok') throw new Failure(reading.detail)
  const kubeconfig = { current: () => reading, forget: () => {} }
  return {
    // A list of 5,000 Nodes takes 20 MiB less than over HTTP/2, and there is no fleet of plugins.
    api: openKubeApi(kubeconfig, { userAgent: `${PLUGIN}/${AGENT_VERSION}`, http2: false }),
    terminal,
    isWatched: process.stdout.isTTY === true,
    namespace: shared.namespace ?? USUAL_NAMESPACE,
    yaml,
    version: AGENT_VERSION,
    signal,
    wallMs: Date.now,
    monotonicUs: () => Math.round(performance.now() * 1000),
    sleep: (ms, until) => after(ms, undefined, { signal: until === undefined ? signal : AbortSignal.any([signal, until]) }).catch(() => {}),
    readInput,
    formatYaml: async (value) => (await import('../kubelet/yaml.ts')).formatDocument(value),
    ask,
    helper: new HelperProcess({ ...helperProgram, context: () => ({ version: AGENT_VERSION }) }),
    inspect: async (config, version, from) => (await import('../preflight/parts.ts')).inspectConfig(config, version, yaml, from),
    compare: async (before, after, version) => (await import('../preflight/parts.ts')).listConfigChanges(before, after, version),
  }
}

/**
 * The kubectl plugin: the same bundle as the agent, on the machine of an
 * administrator, with the current context of their kubeconfig. Loaded when this program is started
 * under the plugin's name.
 */
import { homedir } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { EXIT, type ExitCode } from '../cli/command.ts'
import { readInput } from '../cli/read-input.ts'
import type { Terminal } from '../cli/terminal.ts'
import { readUserKubeconfig } from '../kube/credentials.ts'
import { listKubeconfigs } from '../kube/kubeconfig.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { ask } from '../plugin/ask.ts'
import type { PluginContext } from '../plugin/command.ts'
import { PLUGIN_COMMANDS } from '../plugin/command-list.ts'
import { complete } from '../plugin/complete.ts'
import { listNames } from '../plugin/list-names.ts'
import { PLUGIN } from '../plugin/plugin-name.ts'
import { runPlugin } from '../plugin/run-plugin.ts'
import { openKubeApi, VERSION } from './kube-api.ts'

export interface PluginStart {
  readonly terminal: Terminal
  readonly yaml: YamlReader
  readonly env: Readonly<Record<string, string | undefined>>
}

export function startPlugin(args: readonly string[], start: PluginStart): Promise<ExitCode> {
  const { terminal } = start
  return runPlugin(args, { commands: PLUGIN_COMMANDS, terminal, version: VERSION, open: async (globals) => open(globals, start) })
}

/** What kubectl asks when somebody presses Tab. A cluster that does not answer has no names. */
export async function completePlugin(args: readonly string[], start: PluginStart): Promise<ExitCode> {
  const text = await complete(args, PLUGIN_COMMANDS, async (kind, globals) => {
    const context = open(globals, start)
    return typeof context === 'string' ? [] : listNames(context, kind).catch(() => [])
  })
  start.terminal.out(text)
  return EXIT.fine
}

function open(globals: Readonly<Record<string, string>>, { terminal, yaml, env }: PluginStart): PluginContext | string {
  const context = globals.context === '' ? undefined : globals.context
  const reading = readUserKubeconfig({ files: listKubeconfigs(globals.kubeconfig, env.KUBECONFIG, homedir()), context }, Date.now)
  if (reading.kind !== 'ok') return reading.detail
  const kubeconfig = { current: () => reading, forget: () => {} }
  const stopper = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopper.abort())
  return {
    // A list of 5,000 Nodes takes 20 MiB less than over HTTP/2, and there is no fleet of plugins.
    api: openKubeApi(kubeconfig, { userAgent: `${PLUGIN}/${VERSION}`, http2: false }),
    terminal,
    isWatched: process.stdout.isTTY === true,
    namespace: globals.namespace ?? 'kube-system',
    yaml,
    version: VERSION,
    signal: stopper.signal,
    wallMs: Date.now,
    monotonicUs: () => Math.round(performance.now() * 1000),
    sleep: (ms) => after(ms, undefined, { signal: stopper.signal }).catch(() => {}),
    readInput,
    formatYaml: async (value) => (await import('../kubelet/yaml.ts')).formatDocument(value),
    ask,
    inspect: async (config, version, from) => (await import('../preflight/inspect-away.ts')).inspectConfig(config, version, yaml, from),
    compare: async (before, after, version) => (await import('../preflight/inspect-away.ts')).compareConfigs(before, after, version),
  }
}

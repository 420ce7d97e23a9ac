/**
 * The types of a command of the kubectl plugin and of its context. A command is data and one
 * function, as those of the agent. Commands reach the cluster, the clock and the terminal only
 * through their context.
 */
import type { CommandOption, ExitCode, OptionValues } from '../command.ts'
import type { InputReading } from '../read-input.ts'
import type { Terminal } from '../terminal.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Report } from '../../preflight/finding.ts'
import type { ConfigChange, InspectedConfig } from '../../preflight/inspection.ts'
import type { KubeletVersion } from '../../preflight/kubelet-version.ts'

/** How people call it. */
export const PROGRAM = 'kubectl kubelet-config'

export interface PluginCommand {
  /** One word or two: `get`, `rollout status`. */
  readonly name: string
  readonly group: 'Look' | 'Change' | 'Roll out'
  /** One line, for the list of commands. */
  readonly summary: string
  readonly description: string
  readonly arguments: readonly PluginArgument[]
  readonly options: readonly CommandOption[]
  /** The meaning of exit codes, where they are not those of every command. */
  readonly exits?: Readonly<Record<ExitCode, string>>
  /** The command line without the program's name, and what it is for. */
  readonly examples: readonly (readonly [string, string])[]
  execute(context: PluginContext, line: PluginLine): Promise<ExitCode>
}

export interface PluginArgument {
  readonly placeholder: string
  readonly required: boolean
  /** Takes all arguments that are left. */
  readonly many?: true
  /** What completion suggests. Absent: nothing. */
  readonly completes?: 'node' | 'config'
}

/** A command line whose options have values that their kinds accepted. */
export interface PluginLine {
  readonly options: OptionValues
  /** In order. */
  readonly args: readonly string[]
}

export interface PluginContext {
  readonly api: KubeApi
  readonly terminal: Terminal
  /** Somebody watches standard output. */
  readonly isWatched: boolean
  /** Of the ConfigMaps. */
  readonly namespace: string
  readonly yaml: YamlReader
  /** Of this program. */
  readonly version: string
  /** Ends a command that waits. */
  readonly signal: AbortSignal
  wallMs(): number
  monotonicUs(): number
  /** Returns early when the signal aborts. */
  sleep(ms: number): Promise<void>
  /** @param path undefined: standard input */
  readInput(path: string | undefined, limitBytes: number): Promise<InputReading>
  formatYaml(value: unknown): Promise<string>
  ask(question: string): Promise<Consent>
  /**
   * The rules of preflight that need no node, for a kubelet of this version.
   *
   * @param from of the kubelet that has the config now, to compare what it means
   */
  inspect(config: InspectedConfig, version: KubeletVersion | undefined, from?: KubeletVersion): Promise<Report>
  compare(before: KubeletConfig, after: KubeletConfig, version: KubeletVersion | undefined): Promise<readonly ConfigChange[]>
}

/** `nobody`: there is no terminal to ask at. */
export type Consent = 'yes' | 'no' | 'nobody'

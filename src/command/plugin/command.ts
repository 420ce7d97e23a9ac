// SPDX-License-Identifier: Apache-2.0
/** The commands of the kubectl plugin, and how they reach the cluster and the terminal. */
import type { Helper } from '../../helper/helper-process.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Report } from '../../preflight/finding.ts'
import type { ConfigChange, InspectedConfig } from '../../preflight/inspection.ts'
import type { KubeletVersion } from '../../preflight/kubelet-version.ts'
import type { Command } from '../command.ts'
import type { Consent } from '../consent.ts'
import type { InputReading } from '../read-input.ts'
import type { Terminal } from '../terminal.ts'

/** How people call it. */
export const PLUGIN_NAME = 'kubectl kubelet-config'

export type PluginCommand = Command<PluginContext>

export interface PluginContext {
  readonly api: KubeApi
  readonly terminal: Terminal
  /** Somebody watches standard output. */
  readonly isWatched: boolean
  /** The namespace of the ConfigMaps. */
  readonly namespace: string
  readonly yaml: YamlReader
  /** The version of this program. */
  readonly version: string
  /** Ends a command that waits. */
  readonly signal: AbortSignal
  wallMs(): number
  monotonicUs(): number
  /** Returns early when the signal, or this one, aborts. */
  sleep(ms: number, until?: AbortSignal): Promise<void>
  /** @param path undefined: standard input */
  readInput(path: string | undefined, limitBytes: number): Promise<InputReading>
  formatYaml(value: unknown): Promise<string>
  ask(question: string): Promise<Consent>
  /** Evaluates expressions, which may take too much: never in this process. */
  readonly helper: Helper
  /**
   * The rules of preflight that need no node, for a kubelet of this version.
   *
   * @param from of the kubelet that has the config now, to compare what it means
   */
  inspect(config: InspectedConfig, version: KubeletVersion | undefined, from?: KubeletVersion): Promise<Report>
  compare(before: KubeletConfig, after: KubeletConfig, version: KubeletVersion | undefined): Promise<readonly ConfigChange[]>
}

export function untilUnread({ signal, terminal }: Pick<PluginContext, 'signal' | 'terminal'>): AbortSignal {
  return terminal.unread === undefined ? signal : AbortSignal.any([signal, terminal.unread])
}

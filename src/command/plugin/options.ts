// SPDX-License-Identifier: Apache-2.0
/**
 * Parts that commands of the plugin share: arguments, and flags as kubectl names them. Pure.
 */
import { type Kind, namespaceKind } from '../../settings/setting-kinds.ts'
import { type CommandArgument, type CommandLine, type CommandOption, outputOption, switchOption } from '../command.ts'
import { formatJson } from '../terminal.ts'
import type { PluginContext } from './command.ts'

/** Any text. */
export function textKind(placeholder: string): Kind<string> {
  return { placeholder, parse: (text) => ({ ok: true, value: text }), show: (text) => text }
}

/** Empty means that it is not given, as of the same flag of kubectl. */
function kubectlKind(placeholder: string): Kind<string> {
  return { ...textKind(placeholder), optional: true }
}

/** Where agents look for the ConfigMap of a label, unless their settings say otherwise. */
export const USUAL_NAMESPACE = 'kube-system'

const group = 'Flags of every command'
export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  {
    name: 'namespace',
    short: 'n',
    kind: namespaceKind,
    initial: USUAL_NAMESPACE,
    help: 'namespace of the ConfigMaps, whatever the context says',
    group,
  },
  { name: 'context', kind: kubectlKind('<name>'), initial: '', help: 'in place of the current context', group },
  { name: 'kubeconfig', kind: kubectlKind('<path>'), initial: '', help: 'in place of KUBECONFIG and ~/.kube/config', group },
]

/** The config that a command is about. */
export const CONFIG_NAME: CommandArgument = { placeholder: 'NAME', required: true, completes: 'config' }

export const SELECTOR: CommandOption = {
  name: 'selector',
  short: 'l',
  kind: kubectlKind('<selector>'),
  initial: '',
  help: 'label selector of Nodes, as in role=worker,zone in (a,b)',
}

export const OUTPUT_WITH_YAML: CommandOption = outputOption('output format', 'table', 'json', 'yaml')

export const DRY_RUN: CommandOption = switchOption('dry-run', 'show what would change, and change nothing')

/** In the format that `--output` names. */
export async function print(
  { terminal, formatYaml }: PluginContext,
  { output }: CommandLine['options'],
  document: object,
  asTable: () => string,
): Promise<void> {
  terminal.out(output === 'json' ? formatJson(document) : output === 'yaml' ? await formatYaml(document) : asTable())
}

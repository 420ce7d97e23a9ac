/** What commands of the plugin share: arguments, and flags as kubectl names them. Data only. */
import type { CommandOption } from '../cli/command.ts'
import { choiceKind, type Kind, namespaceKind } from '../settings/setting-kinds.ts'
import type { PluginArgument } from './command.ts'

/** Any text. */
export function textKind(placeholder: string): Kind<string> & { readonly placeholder: string } {
  return { placeholder, parse: (text) => ({ ok: true, value: text }), show: (text) => text }
}

/** Empty means that it is not given, as of the same flag of kubectl. */
function kubectlKind(placeholder: string): Kind<string> {
  return { ...textKind(placeholder), optional: true }
}

/** Where agents look for the ConfigMap of a label, unless their settings say otherwise. */
export const USUAL_NAMESPACE = 'kube-system'

export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  {
    name: 'namespace',
    short: 'n',
    kind: namespaceKind,
    initial: USUAL_NAMESPACE,
    help: 'namespace of the ConfigMaps, whatever the context says',
  },
  { name: 'context', kind: kubectlKind('<name>'), initial: '', help: 'in place of the current context' },
  { name: 'kubeconfig', kind: kubectlKind('<path>'), initial: '', help: 'in place of KUBECONFIG and ~/.kube/config' },
]

/** The config that a command is about. */
export const CONFIG_NAME: PluginArgument = { placeholder: 'NAME', required: true, completes: 'config' }

export const SELECTOR: CommandOption = {
  name: 'selector',
  short: 'l',
  kind: kubectlKind('<selector>'),
  initial: '',
  help: 'label selector of Nodes, as in role=worker,zone in (a,b)',
}

export const OUTPUT: CommandOption = {
  name: 'output',
  short: 'o',
  kind: choiceKind('table', 'json', 'yaml'),
  initial: 'table',
  help: 'output format',
}

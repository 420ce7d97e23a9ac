/** `check`: who may edit the ConfigMaps that decide what nodes run. */
import { EXIT, type ExitCode } from '../../command.ts'
import { plainText } from '../../terminal.ts'
import type { PluginCommand, PluginContext, PluginLine } from '../command.ts'
import { checkConfigName } from '../config-maps.ts'
import { type Editors, findEditors } from '../editors.ts'
import { type ConfigInUse, listInUse } from '../users.ts'

const UNKNOWABLE =
  'Not known here: who is in a group, subjects that no binding names, and who may impersonate these or change RBAC. Admission ' +
  'policies may refuse more.'

export const checkCommand: PluginCommand = {
  name: 'check',
  group: 'Look',
  summary: 'say who may edit the configs that nodes run',
  description:
    'Asks the API server, by access reviews, who may edit each ConfigMap that is assigned to a node, is under one as a base or ' +
    'is laid over one as a layer: those that a binding names, and the groups that every cluster has. Where nodes choose by ' +
    'selector, who may create a ConfigMap decides as well. With the default --change-policy of the agents, open, these are as ' +
    'good as root on the nodes.',
  arguments: [{ placeholder: 'NAME', required: false, completes: 'config' }],
  options: [],
  exits: {
    [EXIT.fine]: 'no group that stands for everybody, every pod or every node may edit one',
    [EXIT.failed]: 'everybody, every pod or every node may edit one',
    [EXIT.usage]: 'cannot tell, or invalid command line',
  },
  examples: [['check', 'find out who decides what the kubelets of the cluster run with']],
  execute: check,
}

async function check(context: PluginContext, { args: [name] }: PluginLine): Promise<ExitCode> {
  const { terminal } = context
  if (name !== undefined) checkConfigName(name)
  const { configs, gap } = await listInUse(context, name)
  let isWide = false
  let isUntold = gap !== undefined
  for (const config of configs) {
    const editors = await findEditors(context, config)
    terminal.out(`${describe(config, editors).join('\n')}\n`)
    isWide ||= editors.wide.length > 0
    isUntold ||= editors.untold.length > 0
  }
  if (configs.length === 0) terminal.out('No ConfigMap is assigned to a node.\n')
  if (gap !== undefined) terminal.out(`It is not known whether there are more ConfigMaps in use: ${gap}\n`)
  if (configs.length > 0) terminal.out(`${UNKNOWABLE}\n`)
  if (isWide) return EXIT.failed
  return isUntold ? EXIT.usage : EXIT.fine
}

function describe({ namespace, name, isSelected }: ConfigInUse, { able, wide, untold, gaps }: Editors): readonly string[] {
  const who = able.length > 0 ? able.map((title) => `  ${title}`) : [gaps.length > 0 ? '  not known' : '  nobody who was asked about']
  return [
    `${plainText(`${namespace}/${name}`)} may be edited${isSelected ? ', or outranked by a new one,' : ''} by`,
    ...who,
    ...(wide.length === 0 ? [] : [`This is far too many: ${wide.join(', ')}. Take that right away.`]),
    ...(untold.length === 0 ? [] : [`Not answered: whether these may: ${untold.join(', ')}.`]),
    ...gaps.map((gap) => `It is not known who else: ${gap}`),
  ]
}

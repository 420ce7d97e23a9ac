/** `get`: the fleet, one line a node, and how many nodes each config has in which state. */
import { EXIT, type ExitCode } from '../../command.ts'
import { formatJson } from '../../format-json.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { choiceKind, switchKind } from '../../../settings/setting-kinds.ts'
import type { PluginCommand, PluginContext, PluginLine } from '../command.ts'
import { Misuse } from '../failure.ts'
import { type FleetLook, renderNodes, renderSum } from '../fleet-text.ts'
import { SELECTOR } from '../global-options.ts'
import { isDegraded, type NodeState, stateOf } from '../node-state.ts'
import { getNode, listNodes } from '../nodes.ts'
import { watchNodes } from '../watch-nodes.ts'

export const getCommand: PluginCommand = {
  name: 'get',
  group: 'Look',
  summary: 'show the nodes, their configs and their states',
  description:
    'Shows one line a node, then one line a config with a bar: proven (█), on its way (▒), in need of somebody (!). ' +
    'The lines fit the terminal; -o wide cuts nothing.',
  arguments: [{ placeholder: 'NODE', required: false, many: true, completes: 'node' }],
  options: [
    SELECTOR,
    {
      name: 'output',
      short: 'o',
      kind: choiceKind('table', 'wide', 'sum', 'json', 'yaml'),
      initial: 'table',
      help: 'output format; sum shows only one line for each config',
    },
    { name: 'watch', short: 'w', kind: switchKind, initial: 'false', help: 'then show each node again when it changes' },
  ],
  examples: [
    ['get', 'look at the fleet'],
    ['get -l role=worker -o wide', 'look at some nodes, with what they run'],
    ['get --watch', 'watch an edit reach the nodes'],
    ["get -o json | jq -r '.items[] | select(.degraded) | .node'", 'list the nodes that somebody should look at'],
  ],
  execute: get,
}

async function get(context: PluginContext, { options, args }: PluginLine): Promise<ExitCode> {
  const { terminal, wallMs } = context
  const selector = options.selector ?? ''
  if (args.length > 0 && selector !== '') throw new Misuse('give names of Nodes or -l, not both')
  const { items, resourceVersion } = args.length > 0 ? await getNamed(context, args) : await listNodes(context, selector)
  const nodes = [...items].sort(byAttention)
  const look = (): FleetLook => ({ color: terminal.color, width: terminal.width ?? 80, wide: options.output === 'wide', wallMs: wallMs() })
  switch (options.output) {
    case 'json':
      terminal.out(formatJson(documentFleet(nodes)))
      break
    case 'yaml':
      terminal.out(await context.formatYaml(documentFleet(nodes)))
      break
    case 'sum':
      terminal.out(`${renderSum(nodes, look()).join('\n')}\n`)
      break
    default:
      if (nodes.length === 0) terminal.err('No nodes found.\n')
      else terminal.out(`${[...renderNodes(nodes, look()), '', ...renderSum(nodes, look())].join('\n')}\n`)
  }
  if (options.watch !== 'true') return EXIT.fine
  const names = args.length > 0 ? new Set(args) : undefined
  return watchNodes(context, { known: nodes, resourceVersion, selector, names }, async (node) => {
    if (options.output === 'json') terminal.out(`${JSON.stringify(documentNode(node))}\n`)
    else if (options.output === 'yaml') terminal.out(`---\n${await context.formatYaml(documentNode(node))}`)
    else terminal.out(`${renderNodes([node], look()).slice(1).join('\n')}\n`)
  })
}

async function getNamed(context: PluginContext, names: readonly string[]) {
  const items: NodeState[] = []
  for (const name of new Set(names)) items.push((await getNode(context, name)).state)
  return { items, resourceVersion: '' }
}

/** Nodes that somebody should look at come last, next to the prompt. */
function byAttention(a: NodeState, b: NodeState): number {
  return Number(isDegraded(a)) - Number(isDegraded(b)) || (a.name < b.name ? -1 : 1)
}

/** Of a condition. `Unknown`: the node does not answer. */
const STATUSES: readonly string[] = ['True', 'False', 'Unknown']

/** For programs: fields are added, never renamed or removed. */
function documentFleet(nodes: readonly NodeState[]): object {
  return { apiVersion: CONFIG_API_VERSION, kind: 'NodeConfigList', items: nodes.map(documentNode) }
}

function documentNode(node: NodeState): object {
  const { name, ready, asked, degraded: _, kubelet, ...rest } = node
  return {
    node: name,
    state: stateOf(node),
    degraded: isDegraded(node),
    kubeletReady: STATUSES.includes(kubelet) ? kubelet : null,
    condition: ready ?? null,
    asked: asked ?? null,
    ...rest,
  }
}

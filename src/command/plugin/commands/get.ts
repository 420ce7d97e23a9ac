// SPDX-License-Identifier: Apache-2.0
/** `get`: the fleet, one line a node, and how many nodes each config has in which state. */
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { type CommandLine, EXIT, type ExitCode, Misuse, outputOption, switchOption } from '../../command.ts'
import { type PluginCommand, type PluginContext, untilUnread } from '../command.ts'
import { type FleetLook, FleetTable, renderSum } from '../fleet-text.ts'
import { NodeFollowing } from '../follow-nodes.ts'
import { documentNode } from '../node-document.ts'
import { getNode, isDegraded, listNodes, type NodeState, readNodeState } from '../node-state.ts'
import { print, SELECTOR } from '../options.ts'

export const getCommand: PluginCommand = {
  name: 'get',
  group: 'Look',
  summary: 'show the nodes, their configs and their states',
  description:
    'Shows one line per node, then one line per config with a bar: proven (█), on its way (▒), without an agent (·), in need of somebody (!). ' +
    'On a terminal, a long message is folded; elsewhere each node has one line. No name is cut.',
  arguments: [{ placeholder: 'NODE', required: false, many: true, completes: 'node' }],
  options: [
    SELECTOR,
    outputOption('output format; sum shows only one line for each config', 'table', 'wide', 'sum', 'json', 'yaml'),
    switchOption('watch', 'then show each node again when it changes', 'w'),
  ],
  examples: [
    ['get', 'look at the fleet'],
    ['get -l role=worker -o wide', 'look at some nodes, with what they run'],
    ['get --watch', 'watch an edit reach the nodes'],
    ["get -o json | jq -r '.items[] | select(.degraded) | .node'", 'list the nodes that somebody should look at'],
  ],
  execute: get,
}

async function get(context: PluginContext, { options, args }: CommandLine): Promise<ExitCode> {
  const { terminal, wallMs } = context
  const selector = options.selector ?? ''
  if (args.length > 0 && selector !== '') throw new Misuse('give names of Nodes or -l, not both')
  const { items, resourceVersion } = args.length > 0 ? await getNamed(context, args) : await listNodes(context, selector)
  const nodes = [...items].sort(byAttention)
  const look = (): FleetLook => ({ color: terminal.color, width: terminal.width, wide: options.output === 'wide', wallMs: wallMs() })
  const isTable = options.output === 'table' || options.output === 'wide'
  const isWatched = options.watch === 'true'
  const table = new FleetTable(look, isWatched)
  const render = () => [...(isTable ? [...table.renderAll(nodes), ''] : []), ...renderSum(nodes, look())]
  if (nodes.length === 0 && isTable) terminal.err('No nodes found.\n')
  else await print(context, options, documentFleet(nodes), () => `${render().join('\n')}\n`)
  if (!isWatched) return EXIT.fine
  const names = args.length > 0 ? new Set(args) : undefined
  return watchNodes(context, { known: nodes, resourceVersion, selector, names }, async (node) => {
    if (options.output === 'json') terminal.out(`${JSON.stringify(documentNode(node))}\n`)
    else if (options.output === 'yaml') terminal.out(`---\n${await context.formatYaml(documentNode(node))}`)
    else terminal.out(`${table.renderOne(node).join('\n')}\n`)
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

/** For programs: fields are added, never renamed or removed. */
function documentFleet(nodes: readonly NodeState[]): object {
  return { apiVersion: CONFIG_API_VERSION, kind: 'NodeConfigList', items: nodes.map(documentNode) }
}

interface Watched {
  readonly known: readonly NodeState[]
  /** Empty: the Nodes are listed first. */
  readonly resourceVersion: string
  readonly selector: string
  /** undefined: all. */
  readonly names: ReadonlySet<string> | undefined
}

/**
 * Ends when the signal aborts, or nobody reads the output any more.
 * @throws Failure where the watch is refused
 */
async function watchNodes(
  context: PluginContext,
  { known, resourceVersion, selector, names }: Watched,
  show: (node: NodeState) => Promise<void>,
): Promise<ExitCode> {
  const { namespace } = context
  const signal = untilUnread(context)
  const shown = new Map(known.map((node) => [node.name, JSON.stringify(node)]))
  const look = async (node: NodeState): Promise<void> => {
    if (names !== undefined && !names.has(node.name)) return
    const text = JSON.stringify(node)
    if (shown.get(node.name) === text) return
    shown.set(node.name, text)
    await show(node)
  }
  const follower = {
    selector,
    resourceVersion,
    read: (node: unknown) => readNodeState(node, namespace),
    async onList(nodes: readonly NodeState[]) {
      for (const node of nodes) await look(node)
    },
    onChange: async (node: NodeState, isDeleted: boolean) => (isDeleted ? undefined : look(node)),
  }
  await new NodeFollowing(context, follower, signal).run()
  return EXIT.fine
}

// SPDX-License-Identifier: Apache-2.0
/** Which content of a config each node runs, as far as the cluster knows. Pure but for the API. */
import { contentHash } from '../../checkpoint/content.ts'
import type { ConfigMapData } from '../../subject/config-source.ts'
import { orElse } from '../command.ts'
import type { PluginContext } from './command.ts'
import { type FoundConfig, findConfig } from './config-maps.ts'
import { hashVersion } from './kept-versions.ts'
import { KEY, mergeText, type Supposed } from './merged-text.ts'
import { isWithoutAgent, type NodeState } from './node-state.ts'
import { countNodes, type PartOver, type Users } from './users.ts'

interface KnownContent {
  readonly config: FoundConfig
  /**
   * The data that kubelet gets. undefined: not known here, as where a node's local config is under
   * it.
   */
  readonly merged: ConfigMapData | undefined
}

type Runs = 'yes' | 'no' | 'unknown'

/** @param supposed see mergeText */
export async function knowContent(context: PluginContext, config: FoundConfig, supposed?: Supposed): Promise<KnownContent> {
  const merged = await mergeText(context, config, supposed)
  return { config, merged: merged.ok && !merged.isPartial ? merged.data : undefined }
}

/**
 * The same bytes are proof. The same version of the ConfigMap is proof too, where a node adds
 * only what is its own: an overlay, or its local config. It says nothing of a base that is another
 * ConfigMap: that may have changed since.
 */
export function runsContent({ active, contentHash: running }: NodeState, { config, merged }: KnownContent): Runs {
  if (merged !== undefined && running !== '' && running === contentHash(merged, KEY)) return 'yes'
  if (active === undefined) return 'unknown'
  if (active === 'local') return 'no'
  if (active.uid === config.uid && active.resourceVersion === config.resourceVersion) return isOverOthers(config) ? 'unknown' : 'yes'
  const isOfConfig = config.name === active.name || config.name === `${active.name}-${hashVersion(config)}`
  return merged === undefined && isOfConfig ? 'unknown' : 'no'
}

function isOverOthers({ base }: FoundConfig): boolean {
  return base !== undefined && base !== 'local'
}

interface Tally {
  /** The nodes that run each of the versions, in their order. */
  readonly runners: readonly (readonly NodeState[])[]
  /** Nodes that may run one of them. */
  readonly unknown: number
  /** Nodes that run none of them. Nodes without an agent are nowhere here. */
  readonly others: number
}

/** A node counts for the first version that it runs. */
export async function tallyRuns(context: PluginContext, name: string, users: Users, versions: readonly FoundConfig[]): Promise<Tally> {
  const judges = [
    { nodes: users.assigned, judge: async (version: FoundConfig) => judgeBy(await knowContent(context, version)) },
    ...users.parts.map((part) => ({ nodes: part.nodes, judge: judgeOver(context, part, name) })),
    { nodes: users.layered, judge: async () => unproven },
  ]
  const tallies: Tally[] = []
  for (const { nodes, judge } of judges) tallies.push(await tallyGroup(nodes, versions, judge))
  const sum = (pick: (tally: Tally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0)
  return {
    runners: versions.map((_, index) => tallies.flatMap(({ runners }) => runners[index] ?? [])),
    unknown: sum(({ unknown }) => unknown),
    others: sum(({ others }) => others),
  }
}

type Judge = (node: NodeState) => Runs

function judgeBy(known: KnownContent): Judge {
  return (node) => runsContent(node, known)
}

/** A node that runs any config may run this version: the content under that config is not known. */
function unproven({ active }: NodeState): Runs {
  return active === 'local' ? 'no' : 'unknown'
}

/** A version of a base is known by the bytes that the part makes with it. */
function judgeOver(context: PluginContext, part: PartOver, base: string): (version: FoundConfig) => Promise<Judge> {
  const there: PluginContext = { ...context, namespace: part.namespace }
  let reading: Promise<FoundConfig | undefined> | undefined
  return async (version) => {
    reading ??= orElse(findConfig(there, part.name), () => undefined)
    const own = await reading
    // The part does not exist, or cannot be read.
    if (own === undefined) return unproven
    const supposed = { namespace: context.namespace, name: base, content: version, annotations: {} }
    const known = await knowContent(there, own, supposed)
    return (node) => (runsContent(node, known) === 'yes' ? 'yes' : unproven(node))
  }
}

async function tallyGroup(
  nodes: readonly NodeState[],
  versions: readonly FoundConfig[],
  judge: (version: FoundConfig) => Promise<Judge>,
): Promise<Tally> {
  const runners: (readonly NodeState[])[] = []
  const open = new Set<NodeState>()
  let left = nodes.filter((node) => !isWithoutAgent(node))
  for (const version of versions) {
    // Merging reads the bases, and most nodes run the first version.
    const runs = left.length === 0 ? undefined : await judge(version)
    const own = new Set(runs === undefined ? [] : left.filter((node) => runs(node) === 'yes'))
    const rest = left.filter((node) => !own.has(node))
    runners.push([...own])
    for (const node of rest) if (runs?.(node) === 'unknown') open.add(node)
    left = rest
  }
  const unknown = left.filter((node) => open.has(node)).length
  return { runners, unknown, others: left.length - unknown }
}

/** A sentence. undefined: it is known of all nodes. */
export function describeUnknownRuns({ unknown }: Tally): string | undefined {
  if (unknown === 0) return undefined
  const which = unknown === 1 ? 'which version it runs' : 'which version they run'
  return `Of ${countNodes(unknown)} it is not known ${which}: what is merged there has other bytes, or the agent has not told. diff NODE asks kubelet.`
}

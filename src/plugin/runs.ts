/** Which content of a config each node runs, as far as the cluster knows. Pure but for the API. */
import { contentHash } from '../checkpoint/content.ts'
import type { ConfigMapData } from '../decision/config-source.ts'
import type { PluginContext } from './command.ts'
import type { FoundConfig } from './config-maps.ts'
import { hashVersion } from './kept-versions.ts'
import { KEY, mergeText } from './merged-text.ts'
import type { NodeState } from './node-state.ts'
import { countNodes } from './users.ts'

export interface KnownContent {
  readonly config: FoundConfig
  /** What kubelet gets. undefined: not known here, as where a node's local config is under it. */
  readonly merged: ConfigMapData | undefined
}

export type Runs = 'yes' | 'no' | 'unknown'

export async function knowContent(context: PluginContext, config: FoundConfig): Promise<KnownContent> {
  const merged = await mergeText(context, config)
  return { config, merged: merged.ok && !merged.isPartial ? merged.data : undefined }
}

/**
 * The same bytes are proof. The same version of the ConfigMap is proof too, where a node adds
 * only what is its own: an overlay, or its local config. It says nothing of a base that is another
 * ConfigMap: that may have changed since.
 */
export function runsContent({ active, contentHash: running }: NodeState, { config, merged }: KnownContent): Runs {
  if (merged !== undefined && running !== '' && running === contentHash(merged, KEY)) return 'yes'
  if (active === undefined || active === 'local') return 'no'
  if (active.uid === config.uid && active.resourceVersion === config.resourceVersion) return isOverOthers(config) ? 'unknown' : 'yes'
  const isOfConfig = config.name === active.name || config.name === `${active.name}-${hashVersion(config)}`
  return merged === undefined && isOfConfig ? 'unknown' : 'no'
}

function isOverOthers({ base }: FoundConfig): boolean {
  return base !== undefined && base !== 'local'
}

export interface Tally {
  /** How many nodes run each of the versions, in their order. */
  readonly counts: readonly number[]
  /** Nodes that may run one of them. */
  readonly unknown: number
  /** Nodes that run none of them. */
  readonly others: number
}

/** A node counts for the first version that it runs. */
export async function tallyRuns(context: PluginContext, nodes: readonly NodeState[], versions: readonly FoundConfig[]): Promise<Tally> {
  const counts: number[] = []
  const open = new Set<NodeState>()
  let left = nodes
  for (const version of versions) {
    // Merging reads the bases, and most nodes run the first version.
    const known = left.length === 0 ? undefined : await knowContent(context, version)
    const rest = known === undefined ? left : left.filter((node) => runsContent(node, known) !== 'yes')
    counts.push(left.length - rest.length)
    for (const node of rest) if (known !== undefined && runsContent(node, known) === 'unknown') open.add(node)
    left = rest
  }
  const unknown = left.filter((node) => open.has(node)).length
  return { counts, unknown, others: left.length - unknown }
}

/** A sentence. undefined: it is known of all nodes. */
export function describeUnknown({ unknown }: Tally): string | undefined {
  if (unknown === 0) return undefined
  const which = unknown === 1 ? 'which version it runs' : 'which version they run'
  return `Of ${countNodes(unknown)} it is not known ${which}, since what is merged there has other bytes: diff NODE asks kubelet.`
}

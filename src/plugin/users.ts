/**
 * The nodes that use a config: those that it is assigned to, those with a part over it, and those
 * that it is laid over as a layer. Pure but for the API.
 */
import type { ConfigMapRef } from '../decision/config-source.ts'
import { readBases } from '../source/base-chain.ts'
import { type Labels, matchesLabels, parseLabelSelector } from '../source/channels/label-selector.ts'
import type { PluginContext } from './command.ts'
import { ConfigIndex, type ConfigName, sameName } from './config-index.ts'
import type { NodeState } from './node-state.ts'
import { type LabelledNode, listLabelledNodes } from './nodes.ts'

export interface Users {
  /** All of them. */
  readonly nodes: readonly NodeState[]
  /** It is assigned to them. */
  readonly assigned: readonly NodeState[]
  /** Parts over it, directly or over other parts, that are assigned to nodes. */
  readonly parts: readonly PartOver[]
  /** It is a layer there. */
  readonly layered: readonly NodeState[]
  /** Why there may be more. undefined: there are no more. */
  readonly gap: string | undefined
}

export interface PartOver extends ConfigName {
  readonly nodes: readonly NodeState[]
  /** It goes to its nodes in stages. */
  readonly isStaged: boolean
}

/** @throws Failure where nodes cannot be listed */
export async function listUsers(context: PluginContext, name: string): Promise<Users> {
  const config: ConfigName = { namespace: context.namespace, name }
  const nodes = await listLabelledNodes(context)
  const index = new ConfigIndex(context)
  const assigned: NodeState[] = []
  const parts: PartOver[] = []
  for (const { ref, states } of groupByConfig(nodes)) {
    if (sameName(ref, config)) assigned.push(...states)
    else if (await isUnder(index, config, ref)) parts.push({ ...ref, nodes: states, isStaged: await index.isStaged(ref) })
  }
  const known = new Set([assigned, ...parts.map((part) => part.nodes)].flat())
  const layered = (await listLayered(index, config, nodes)).filter((state) => !known.has(state))
  return { nodes: [...known, ...layered], assigned, parts, layered, gap: index.gap }
}

function groupByConfig(nodes: readonly LabelledNode[]) {
  const groups = new Map<string, { readonly ref: ConfigMapRef; readonly states: NodeState[] }>()
  for (const { state } of nodes) {
    const ref = configOfNode(state)
    if (ref === undefined) continue
    const key = `${ref.namespace}/${ref.name}`
    const group = groups.get(key) ?? { ref, states: [] }
    group.states.push(state)
    groups.set(key, group)
  }
  return [...groups.values()]
}

function configOfNode({ assigned, asked }: NodeState): ConfigMapRef | undefined {
  if (asked !== undefined) return 'ref' in asked ? asked.ref : undefined
  return assigned === 'local' ? undefined : assigned
}

/** Those that the config is assigned to by another key than this one. */
export function listOfOtherKeys({ assigned }: Users, key: string): readonly { readonly name: string; readonly key: string }[] {
  return assigned.flatMap((state) => {
    const own = configOfNode(state)?.kubeletConfigKey ?? key
    return own === key ? [] : [{ name: state.name, key: own }]
  })
}

/** Follows the bases as agents do. */
async function isUnder(index: ConfigIndex, config: ConfigName, ref: ConfigMapRef): Promise<boolean> {
  const part = await index.look(ref)
  if (part.kind !== 'found') return false
  // What is under the config itself does not matter here.
  const { bases } = await readBases({ ref }, part, async (base) => (sameName(base, config) ? { kind: 'pending' } : index.look(base)))
  return bases?.views.some((view) => sameName(view.ref, config)) === true
}

/** A layer is laid over what the selector channel chooses from the same namespace. */
async function listLayered(index: ConfigIndex, config: ConfigName, nodes: readonly LabelledNode[]): Promise<readonly NodeState[]> {
  const chosen = nodes.filter(
    ({ state }) => state.channel === 'selector' && state.asked === undefined && configOfNode(state)?.namespace === config.namespace,
  )
  const text = chosen.length === 0 ? undefined : await index.layerSelector(config)
  const reading = text === undefined ? undefined : parseLabelSelector(text)
  if (reading?.ok !== true) return []
  const matches = (labels: Labels) => matchesLabels(reading.selector, labels)
  return chosen.filter(({ labels }) => matches(labels)).map(({ state }) => state)
}

export function countNodes(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The nodes that use a config: those that it is assigned to, those with a part over it, and those
 * that it is laid over as a layer. Pure but for the API.
 */

import { readBases } from '../../source/base-chain.ts'
import { matchesLabels, parseLabelSelector } from '../../source/channels/label-selector.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'
import { isNamespace, isObjectName } from '../../values/kubernetes-names.ts'
import { orElse } from '../command.ts'
import type { PluginContext } from './command.ts'
import { ConfigIndex, type ConfigName, sameName } from './config-index.ts'
import { KEY } from './merged-text.ts'
import { type LabelledNode, listLabelledNodes, type NodeState } from './node-state.ts'

export interface Users {
  /** All of them. */
  readonly nodes: readonly NodeState[]
  /** Nodes that the config is assigned to. */
  readonly assigned: readonly NodeState[]
  /** Parts over it, directly or over other parts, that are assigned to nodes. */
  readonly parts: readonly PartOver[]
  /** Nodes that have the config as a layer. */
  readonly layered: readonly NodeState[]
  /** Names of the layers over it, on nodes that it is assigned to. */
  readonly layers: readonly string[]
  /** Why there may be more. undefined: there are no more. */
  readonly gap: string | undefined
}

/** By the key that is assigned. */
export interface PartOver extends ConfigMapRef {
  /** The key of the config that is under it. */
  readonly baseKey: string
  readonly nodes: readonly NodeState[]
  /** The part goes to its nodes in stages. */
  readonly isStaged: boolean
  readonly isPaused: boolean
}

/** @throws Failure where nodes cannot be listed */
export async function listUsers(context: PluginContext, name: string): Promise<Users> {
  const config: ConfigName = { namespace: context.namespace, name }
  const nodes = await listLabelledNodes(context)
  const index = new ConfigIndex(context)
  const assigned: NodeState[] = []
  const parts: PartOver[] = []
  for (const { ref, states } of groupByConfig(nodes)) {
    if (sameName(ref, config)) {
      assigned.push(...states)
      continue
    }
    const baseKey = await findBaseKey(index, config, ref)
    if (baseKey === undefined) continue
    parts.push({ ...ref, baseKey, nodes: states, isStaged: await index.isStaged(ref), isPaused: await index.isPaused(ref) })
  }
  const known = new Set([assigned, ...parts.map((part) => part.nodes)].flat())
  const layering = await findLayering(index, config, nodes)
  const layered = layering.layered.filter((state) => !known.has(state))
  return { nodes: [...known, ...layered], assigned, parts, layered, layers: layering.layers, gap: index.gap }
}

/** The same for commands that go on where nodes cannot be listed: the gap says so. */
export async function listKnownUsers(context: PluginContext, name: string): Promise<Users> {
  const none = { nodes: [], assigned: [], parts: [], layered: [], layers: [] }
  return orElse(listUsers(context, name), ({ message }) => ({ ...none, gap: message }))
}

export interface ConfigInUse extends ConfigName {
  /** Nodes choose among the ConfigMaps of the namespace by selector. */
  readonly isSelected: boolean
}

interface InUse {
  /** The ConfigMaps that are assigned, those under them and those over them, by name. */
  readonly configs: readonly ConfigInUse[]
  /** Why there may be more. undefined: there are no more. */
  readonly gap: string | undefined
}

/** A config, and the nodes that it is assigned to or laid over as a layer. */
export interface UsedConfig {
  readonly ref: ConfigMapRef
  readonly isLayer: boolean
  readonly nodes: readonly NodeState[]
}

/**
 * Every config that nodes of the cluster use, from one list of the nodes.
 *
 * @returns `rest`: the nodes that no ConfigMap is assigned to
 * @throws Failure where nodes cannot be listed
 */
export async function listUsedConfigs(context: PluginContext): Promise<{
  readonly used: readonly UsedConfig[]
  readonly rest: readonly NodeState[]
  readonly gap: string | undefined
}> {
  const nodes = await listLabelledNodes(context)
  const index = new ConfigIndex(context)
  const used: UsedConfig[] = groupByConfig(nodes).map(({ ref, states }) => ({ ref, isLayer: false, nodes: states }))
  for (const namespace of listSelected(nodes))
    for (const { name } of await index.layersIn(namespace)) {
      const { layered } = await findLayering(index, { namespace, name }, nodes)
      if (layered.length > 0) used.push({ ref: { namespace, name, kubeletConfigKey: KEY }, isLayer: true, nodes: layered })
    }
  const rest = nodes.flatMap(({ state }) => (configOfNode(state) === undefined ? [state] : []))
  return { used, rest, gap: index.gap }
}

/** The namespaces that nodes choose ConfigMaps from by selector. */
function listSelected(nodes: readonly LabelledNode[]): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ state }) => (state.channel === 'selector' ? (configOfNode(state)?.namespace ?? []) : [])))
}

/**
 * The ConfigMaps that decide what some node runs.
 *
 * @param only this one, whether or not it does
 * @throws Failure where nodes cannot be listed
 */
export async function listInUse(context: PluginContext, only?: string): Promise<InUse> {
  const nodes = await listLabelledNodes(context)
  const selected = listSelected(nodes)
  const mark = (config: ConfigName): ConfigInUse => ({ ...config, isSelected: selected.has(config.namespace) })
  if (only !== undefined) return { configs: [mark({ namespace: context.namespace, name: only })], gap: undefined }
  const index = new ConfigIndex(context)
  const found = new Map<string, ConfigName>()
  const add = ({ namespace, name }: ConfigName) => {
    // A node may have made it up.
    if (isNamespace(namespace) && isObjectName(name)) found.set(`${namespace}/${name}`, { namespace, name })
  }
  for (const { ref } of groupByConfig(nodes)) {
    add(ref)
    const part = await index.look(ref)
    const { bases } = part.kind === 'found' ? await readBases({ ref }, part, (base) => index.look(base)) : {}
    for (const view of bases?.views ?? []) add(view.ref)
  }
  for (const namespace of selected)
    for (const { name } of await index.layersIn(namespace))
      if ((await findLayering(index, { namespace, name }, nodes)).layered.length > 0) add({ namespace, name })
  const configs = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, config]) => mark(config))
  return { configs, gap: index.gap }
}

function groupByConfig(nodes: readonly LabelledNode[]) {
  const groups = new Map<string, { readonly ref: ConfigMapRef; readonly states: NodeState[] }>()
  for (const { state } of nodes) {
    const ref = configOfNode(state)
    if (ref === undefined) continue
    const key = `${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}`
    const group = groups.get(key) ?? { ref, states: [] }
    group.states.push(state)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** undefined: none, or it cannot be told. */
export function configOfNode({ assigned, asked }: NodeState): ConfigMapRef | undefined {
  if (asked !== undefined) return 'ref' in asked ? asked.ref : undefined
  return assigned === 'local' ? undefined : assigned
}

/** Follows the bases as agents do. undefined: the config is not under it. */
async function findBaseKey(index: ConfigIndex, config: ConfigName, ref: ConfigMapRef): Promise<string | undefined> {
  const part = await index.look(ref)
  if (part.kind !== 'found') return undefined
  // Layers under the config itself do not matter here.
  const { bases } = await readBases({ ref }, part, async (base) => (sameName(base, config) ? { kind: 'pending' } : index.look(base)))
  return bases?.views.find((view) => sameName(view.ref, config))?.ref.kubeletConfigKey
}

/** A layer is laid over what the selector channel chooses from the same namespace. */
async function findLayering(
  index: ConfigIndex,
  config: ConfigName,
  nodes: readonly LabelledNode[],
): Promise<Pick<Users, 'layered' | 'layers'>> {
  const chosen = nodes.filter(
    ({ state }) => state.channel === 'selector' && state.asked === undefined && configOfNode(state)?.namespace === config.namespace,
  )
  const all = chosen.length === 0 ? [] : await index.layersIn(config.namespace)
  const layered: NodeState[] = []
  const layers: string[] = []
  for (const { name, selector } of all) {
    const reading = parseLabelSelector(selector)
    const matching = reading.ok ? chosen.filter(({ labels }) => matchesLabels(reading.selector, labels)) : []
    if (name === config.name) layered.push(...matching.map(({ state }) => state))
    else if (matching.some(({ state }) => configOfNode(state)?.name === config.name)) layers.push(name)
  }
  return { layered, layers: layers.sort() }
}

export function countNodes(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`
}

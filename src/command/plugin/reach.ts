// SPDX-License-Identifier: Apache-2.0
/** Which nodes a change of a config gets to, and how. Pure. */
import { STATUS_ANNOTATION } from '../../report/annotation.ts'
import { Failure, orElse } from '../command.ts'
import { PLUGIN_NAME, type PluginContext } from './command.ts'
import type { ConfigName } from './config-index.ts'
import { type ConfigContent, type FoundConfig, isPaused } from './config-maps.ts'
import { KEY } from './merged-text.ts'
import { isWithoutAgent, type NodeState } from './node-state.ts'
import { USUAL_NAMESPACE } from './options.ts'
import { isDisputed, recordOf } from './rollout-state.ts'
import { configOfNode, countNodes, type PartOver, type Users } from './users.ts'

/** In a sentence. */
const MOST_NAMED = 5
const SPREAD = `spread over some minutes: ${PLUGIN_NAME} get --watch`

/**
 * Sentences on the uses that the assignments of the nodes do not show, on nodes that no change gets
 * to, and on what is not known.
 */
export function describeUses(config: ConfigName, { nodes, parts, layered, gap }: Users): readonly string[] {
  const own = `${config.namespace}/${config.name}`
  return [
    ...describeParts(own, parts),
    layered.length === 0 ? undefined : `${own} is a layer on ${countNodes(layered.length)}.`,
    describeWithoutAgent(nodes),
    describeGap(config, gap),
  ].filter((sentence) => sentence !== undefined)
}

function describeWithoutAgent(nodes: readonly NodeState[]): string | undefined {
  const names = nodes.filter(isWithoutAgent).map(({ name }) => name)
  if (names.length === 0) return undefined
  const [of, they] = names.length === 1 ? ['has no agent', 'It gets'] : ['have no agent', 'They get']
  return `Of ${countNodes(nodes.length)}, ${names.length} ${of} that has reported: ${nameSome(names)}. ${they} nothing until kubelet-cfg-agent runs there.`
}

/** A sentence for each key. */
function describeParts(own: string, parts: readonly PartOver[]): readonly string[] {
  const others = parts.map(({ baseKey }) => baseKey).filter((key) => key !== KEY)
  return [KEY, ...new Set(others.sort())].flatMap((key) => {
    const over = parts.filter(({ baseKey }) => baseKey === key)
    const sum = countOf(over)
    if (sum === 0) return []
    return [`${own}${showKey(key)} is the base of ${nameParts(over)}, which ${countNodes(sum)} ${sum === 1 ? 'uses' : 'use'}.`]
  })
}

export function describeGap({ namespace, name }: ConfigName, gap: Users['gap']): string | undefined {
  return gap === undefined ? undefined : `It is not known whether more nodes use ${namespace}/${name} as the base of a part: ${gap}`
}

/** Nodes that a pause of the config leaves alone: it counts on the ConfigMap that is assigned. */
export function describeUnpaused({ namespace, name }: ConfigName, { parts, layered }: Users): readonly string[] {
  const own = `${namespace}/${name}`
  return [
    ...parts
      .filter((part) => !part.isPaused)
      .map((part) => `nodes with ${nameParts([part])} over ${own} are not paused: ${commandOn('rollout pause', part)}`),
    layered.length === 0 ? undefined : `nodes that ${own} is a layer on are not paused: pause the config that is chosen for them`,
  ].filter((sentence) => sentence !== undefined)
}

/**
 * One sentence a line.
 *
 * @param beginnings of the parts with a rollout, after the change
 */
export function describeReach(
  name: ConfigName,
  change: ContentChange & { readonly before: FoundConfig | undefined },
  users: Users,
  beginnings: ReadonlyMap<PartOver, Beginning>,
): string {
  const { nodes, assigned, parts, layered, gap } = usersOfChange(users, change)
  if (users.nodes.length === 0) return gap === undefined ? 'No node uses it yet: assign it.' : 'No node is known to use it.'
  if (nodes.length === 0) return `It goes to no node: what is under ${nameParts(users.parts)} is another key, which stays as it is.`
  const spread = parts.filter((part) => !part.isStaged && !part.isPaused)
  return [
    assigned.length === 0 ? undefined : describeOwn(name, change.before, assigned.length),
    spread.length === 0 ? undefined : `It goes to ${countNodes(countOf(spread))} as the base of ${nameParts(spread)}, ${SPREAD}`,
    ...parts.filter((part) => !spread.includes(part)).map((part) => describeOver(part, beginnings.get(part))),
    layered.length === 0 ? undefined : `It goes to ${countNodes(layered.length)} as a layer, ${SPREAD}`,
  ]
    .filter((sentence) => sentence !== undefined)
    .join('\n')
}

function describeOwn(name: ConfigName, config: FoundConfig | undefined, count: number): string {
  const nodes = countNodes(count)
  const inStages = config !== undefined && recordOf(config) !== undefined
  if (config !== undefined && isPaused(config.annotations))
    return `It is paused: it goes to ${nodes}${inStages ? ' in stages' : ''} after ${commandOn('rollout resume', name)}`
  return `It goes to ${nodes}${inStages ? ` in stages: ${commandOn('rollout status', name)}` : `, ${SPREAD}`}`
}

/** @param beginning undefined: the part has no rollout, and is paused */
function describeOver(part: PartOver, beginning: Beginning | undefined): string {
  const own = nameParts([part])
  const nodes = countNodes(part.nodes.length)
  const touches = `when the part itself becomes another version: ${touch(part)}`
  if (part.isPaused) {
    const paused = `${own} is paused: this base goes to its ${nodes}`
    const resume = `after ${commandOn('rollout resume', part)}`
    if (beginning === undefined) return `${paused} ${resume}`
    return `${paused} in stages ${resume}${beginning === 'touch' ? `\nThese stages begin ${touches}` : ''}`
  }
  const status = commandOn('rollout status', part)
  const what = `It goes to ${nodes} as the base of ${own} in stages`
  switch (beginning) {
    case undefined:
    case 'begins':
      return `${what}: ${status}`
    case 'touch':
      return `${what}, which begin ${touches}`
    case 'unknown':
      return `${what}, once its rollout begins: ${status}`
  }
}

function commandOn(command: string, { namespace, name }: ConfigName): string {
  return `${PLUGIN_NAME} ${command} ${name}${namespace === USUAL_NAMESPACE ? '' : ` -n ${namespace}`}`
}

function touch({ namespace, name }: ConfigName): string {
  return `kubectl -n ${namespace} annotate configmap ${name} edited="$(date)" --overwrite`
}

function countOf(parts: readonly PartOver[]): number {
  return parts.reduce((sum, { nodes }) => sum + nodes.length, 0)
}

export function nameParts(parts: readonly PartOver[]): string {
  return nameSome(parts.map(({ namespace, name, kubeletConfigKey }) => `${namespace}/${name}${showKey(kubeletConfigKey)}`).sort())
}

/** The usual key goes without saying. */
function showKey(key: string): string {
  return key === KEY ? '' : `:${key}`
}

export function nameSome(names: readonly string[], most = MOST_NAMED): string {
  const rest = names.length - most
  return rest > 0 ? `${names.slice(0, most).join(', ')} and ${rest} more` : names.join(', ')
}

/** `touch`: when the part itself becomes another version. */
type Beginning = 'begins' | 'touch' | 'unknown'

/** @param parts those without a rollout are left out */
export async function judgeBeginnings(context: PluginContext, parts: readonly PartOver[]): Promise<ReadonlyMap<PartOver, Beginning>> {
  const beginnings = new Map<PartOver, Beginning>()
  for (const part of parts) if (part.isStaged) beginnings.set(part, await judge(context, part))
  return beginnings
}

async function judge(context: PluginContext, { namespace, name }: PartOver): Promise<Beginning> {
  const disputed = await orElse(isDisputed({ ...context, namespace }, name), () => undefined)
  return disputed === undefined ? 'unknown' : disputed ? 'touch' : 'begins'
}

interface ContentChange {
  /** undefined: the ConfigMap does not exist. */
  readonly before: ConfigContent | undefined
  readonly after: ConfigContent
}

/** Leaves out the parts that the change does not get to: another key is under them, and stays. */
export function usersOfChange(users: Users, change: ContentChange): Users {
  const parts = users.parts.filter((part) => getsChange(part, change))
  return { ...users, parts, nodes: [...users.assigned, ...parts.flatMap(({ nodes }) => nodes), ...users.layered] }
}

function getsChange({ baseKey }: PartOver, change: ContentChange): boolean {
  return baseKey === KEY || change.before?.base !== change.after.base || changesKey(change, baseKey)
}

function changesKey({ before, after }: ContentChange, key: string): boolean {
  return textOf(before, key) !== textOf(after, key)
}

function textOf(content: ConfigContent | undefined, key: string): string | undefined {
  return content !== undefined && Object.hasOwn(content.data, key) ? content.data[key] : undefined
}

/** A sentence on the nodes that the config is assigned to by another key. undefined: none are. */
export function describeOtherKeys(config: ConfigName, users: Users): string | undefined {
  const who = nameOthers(config, listOtherKeys(users))
  return who && `${who}: only ${KEY} is checked and compared here, and no change is written that leaves such a key as it is.`
}

/**
 * Nodes that use another key would not get a change that leaves it as it is. They would try their
 * own config again, since all keys count for its content.
 *
 * @throws Failure
 */
export function checkKeys(config: ConfigName, users: Users, change: ContentChange): void {
  const isGone = (key: string) => textOf(change.after, key) === undefined
  const left = listOtherKeys(users).filter(({ key }) => isGone(key) || !changesKey(change, key))
  const who = nameOthers(config, left)
  if (who === undefined) return
  const what = left.some(({ key }) => isGone(key)) ? 'and that key would not exist' : 'and would not get the change'
  // An agent that was removed leaves its annotation behind.
  const told = left.find(({ isTold }) => isTold)
  const remedy = told && `; if no agent runs on ${told.node} any more, remove its annotation ${STATUS_ANNOTATION}`
  throw new Failure(
    `${who}, ${what}: give a manifest with a new text for that key too, use one ConfigMap for each key, or edit this one with ` +
      `kubectl${remedy ?? ''}`,
  )
}

interface OtherKey {
  readonly node: string
  readonly key: string
  /** Only the node's agent says that it uses the key, and not the Node. */
  readonly isTold: boolean
}

function listOtherKeys({ assigned }: Users): readonly OtherKey[] {
  return assigned.flatMap((state) => {
    const { name, asked } = state
    const key = configOfNode(state)?.kubeletConfigKey ?? KEY
    return key === KEY ? [] : [{ node: name, key, isTold: asked === undefined || asked.channel === 'label' }]
  })
}

function nameOthers({ namespace, name }: ConfigName, [first, ...others]: readonly OtherKey[]): string | undefined {
  if (first === undefined) return undefined
  const rest = others.length === 0 ? '' : `, ${others.length === 1 ? 'as does 1 more node' : `as do ${others.length} more nodes`}`
  return `${first.node} uses another key of ConfigMap ${namespace}/${name} (${first.key})${rest}`
}

// SPDX-License-Identifier: Apache-2.0
/**
 * A Node's own account of its config: the conditions and the annotation that its agent wrote, and
 * its assignment. Read from JSON of any shape, without trust: texts lose control characters. Pure.
 */
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION } from '../../decision/channels.ts'
import { STATUS_ANNOTATION } from '../../report/annotation.ts'
import { findCondition } from '../../report/node-conditions.ts'
import { readConfig } from '../../report/node-config.ts'
import { CONDITION_TYPE, DEGRADED_TYPE } from '../../report/reasons.ts'
import { readAssignment, readSourceAnnotation } from '../../source/channels/config-source-field.ts'
import { metadataOf } from '../../source/channels/metadata.ts'
import { type ConfigMapRef, type ConfigSource, describeSource, sameRef } from '../../subject/config-source.ts'
import { type NodeShown, readNodeShown } from '../../subject/node-shown.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { isConfigMapKey, isNamespace, isObjectName } from '../../values/kubernetes-names.ts'
import { Failure } from '../command.ts'
import { type Asked, objectOf } from '../failure.ts'
import { type Listed, listPages } from '../list-pages.ts'
import { plainText } from '../terminal.ts'
import type { PluginContext } from './command.ts'

export interface NodeState {
  readonly name: string
  /**
   * The config that the Node asks for, by the first channel that is set on it. undefined: none is.
   */
  readonly asked: AskedConfig | undefined
  /**
   * The config that the agent follows (`assigned`) and the one that kubelet runs (`active`).
   * undefined: not known.
   */
  readonly assigned: ConfigSource | undefined
  readonly active: ConfigSource | undefined
  readonly lastKnownGood: ConfigSource | undefined
  /** undefined: no agent has written the condition. */
  readonly ready: NodeCondition | undefined
  readonly degraded: NodeCondition | undefined
  /** kubelet's own condition `Ready`, as `True`. Empty: there is none. */
  readonly kubelet: string
  readonly channel: string
  readonly error: string
  readonly paused: string
  readonly trial: { readonly since: string; readonly until: string } | undefined
  readonly rollout: NodeRollout | undefined
  readonly waitUntil: string
  readonly verdict: { readonly state: string; readonly reason: string } | undefined
  readonly contentHash: string
  readonly agentVersion: string
  /** As in `v1.34.1`. */
  readonly kubeletVersion: string
  /** The facts that values may be computed from, as they are: not for people. */
  readonly shown: NodeShown | undefined
}

export type AskedConfig =
  | { readonly channel: 'config-source' | 'label' | 'annotation'; readonly ref: ConfigMapRef }
  | { readonly channel: 'config-source' | 'label' | 'annotation'; readonly problem: string }

interface NodeCondition {
  readonly status: string
  readonly reason: string
  readonly message: string
  /** RFC 3339; empty: not known. */
  readonly since: string
}

interface NodeRollout {
  readonly stage: number | undefined
  readonly lastStage: number | undefined
  readonly turn: string
}

/** Longer than any annotation of an agent. */
const LONGEST_ANNOTATION = 16_384

/**
 * @param namespace of the ConfigMap that the label names, where no agent says
 * @returns undefined: it is no Node
 */
export function readNodeState(node: unknown, namespace: string): NodeState | undefined {
  if (!isObject(node) || !isObject(node.metadata) || !isObjectName(node.metadata.name)) return undefined
  const annotations = metadataOf(node)?.annotations ?? {}
  const said = parse(annotations[STATUS_ANNOTATION])
  const status = isObject(node.status) ? node.status : {}
  // A Node without the annotation may have the status of the API servers that store it.
  const config = readConfig(said ?? status.config)
  const known = config === 'absent' ? undefined : config
  const assigned = plainSource(known?.assigned)
  const { trial, verdict, rollout } = said ?? {}
  return {
    name: node.metadata.name,
    asked: asAgentReads(readAsked(node, namespace), { channel: said?.channel, assigned }),
    assigned,
    active: plainSource(known?.active),
    lastKnownGood: plainSource(known?.lastKnownGood),
    ready: readCondition(status, CONDITION_TYPE),
    degraded: readCondition(status, DEGRADED_TYPE),
    kubelet: readCondition(status, 'Ready')?.status ?? '',
    channel: textOf(said?.channel),
    error: textOf(said?.error ?? known?.error),
    paused: textOf(said?.paused),
    trial: isObject(trial) ? { since: textOf(trial.since), until: textOf(trial.until) } : undefined,
    rollout: isObject(rollout)
      ? { stage: countOf(rollout.stage), lastStage: countOf(rollout.lastStage), turn: textOf(rollout.turn) }
      : undefined,
    waitUntil: textOf(said?.waitUntil),
    verdict: isObject(verdict) ? { state: textOf(verdict.state), reason: textOf(verdict.reason) } : undefined,
    contentHash: textOf(said?.contentHash),
    agentVersion: textOf(said?.agentVersion),
    kubeletVersion: isObject(status.nodeInfo) ? textOf(status.nodeInfo.kubeletVersion) : '',
    shown: readNodeShown(node),
  }
}

function readAsked(node: JsonObject, namespace: string): AskedConfig | undefined {
  const field = readAssignment(node)
  if (field.kind === 'config-map') return { channel: 'config-source', ref: field.ref }
  if (field.kind === 'invalid') return { channel: 'config-source', problem: plainText(field.detail) }
  const { labels = {}, annotations = {} } = metadataOf(node) ?? {}
  const name = labels[CONFIG_LABEL]
  if (name !== undefined) {
    if (!isObjectName(name)) return { channel: 'label', problem: `"${plainText(name)}" is not the name of a ConfigMap` }
    return { channel: 'label', ref: { namespace, name, kubeletConfigKey: 'kubelet' } }
  }
  const text = annotations[CONFIG_SOURCE_ANNOTATION]
  if (text === undefined) return undefined
  const read = readSourceAnnotation(text, 'kubelet')
  return read.kind === 'invalid' ? { channel: 'annotation', problem: plainText(read.detail) } : { channel: 'annotation', ref: read.ref }
}

function parse(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text.length > LONGEST_ANNOTATION) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function readCondition(status: JsonObject, type: string): NodeCondition | undefined {
  const found = findCondition(status, type)
  if (found === undefined) return undefined
  const { reason, message, lastTransitionTime } = found
  return { status: textOf(found.status), reason: textOf(reason), message: textOf(message), since: textOf(lastTransitionTime) }
}

/**
 * A label has no namespace and no key: those are settings of the agent, which tells them once it
 * follows the label.
 */
function asAgentReads(
  asked: AskedConfig | undefined,
  { channel, assigned }: { readonly channel: unknown; readonly assigned: ConfigSource | undefined },
): AskedConfig | undefined {
  if (asked === undefined || !('ref' in asked) || asked.channel !== 'label' || channel !== 'label') return asked
  if (assigned === undefined || assigned === 'local' || assigned.name !== asked.ref.name) return asked
  const { namespace, name, kubeletConfigKey } = assigned
  // Both names become parts of paths.
  return isNamespace(namespace) && isConfigMapKey(kubeletConfigKey)
    ? { channel: 'label', ref: { namespace, name, kubeletConfigKey } }
    : asked
}

/** A node writes its annotation itself, and names in it as it likes. */
function plainSource(source: ConfigSource | undefined): ConfigSource | undefined {
  if (source === undefined || source === 'local') return source
  const { namespace, name, kubeletConfigKey, uid, resourceVersion } = source
  return {
    namespace: plainText(namespace),
    name: plainText(name),
    kubeletConfigKey: plainText(kubeletConfigKey),
    uid: plainText(uid),
    resourceVersion: plainText(resourceVersion),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? plainText(value) : ''
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined
}

/** No agent has written to the Node: what it runs is its own matter, and no change gets there. */
export function isWithoutAgent({ ready, active }: NodeState): boolean {
  return ready === undefined && active === undefined
}

/** The state in one word: the condition's reason. */
export function stateWord(node: NodeState): string {
  const { ready } = node
  return ready === undefined ? (isWithoutAgent(node) ? 'NoAgent' : 'Unknown') : ready.reason || ready.status
}

/** The config that the node is to run: what the Node asks for, or else what its agent follows. */
export function configWord(node: NodeState): string {
  const { assigned, asked } = node
  if (asked !== undefined && !isFollowed(node)) return 'ref' in asked ? nameOf(asked.ref) : 'invalid'
  if (assigned === 'local') return 'local'
  return assigned === undefined ? '-' : nameOf(assigned)
}

/** The `resourceVersion` of that config, as far as the agent has read it. */
export function versionOf(node: NodeState): string {
  const { assigned } = node
  return assigned === undefined || assigned === 'local' || !isFollowed(node) ? '-' : plainText(assigned.resourceVersion)
}

/** Whether the agent has taken up what the Node asks for, which may not exist. */
export function isFollowed({ assigned, asked }: NodeState): boolean {
  if (asked === undefined) return true
  return 'ref' in asked && assigned !== undefined && assigned !== 'local' && sameRef(assigned, asked.ref)
}

/** The usual namespace and key go without saying. */
export function nameOf({ namespace, name, kubeletConfigKey }: ConfigMapRef): string {
  const key = kubeletConfigKey === 'kubelet' ? '' : `:${kubeletConfigKey}`
  return plainText(`${namespace === 'kube-system' ? '' : `${namespace}/`}${name}${key}`)
}

/** As in `3/5`, and whether the node waits, the rollout is halted, or it failed on this node. */
export function stageOf({ rollout }: NodeState): string {
  if (rollout === undefined) return '-'
  const { stage, lastStage, turn } = rollout
  const place = stage === undefined || lastStage === undefined ? '?' : `${stage}/${lastStage}`
  return turn === 'halted' || turn === 'failed' ? `${place} ${turn}` : turn === 'wait' ? `${place} waits` : place
}

export function describe(source: ConfigSource): string {
  return plainText(describeSource(source))
}

/** Somebody should look: the condition `KubeletConfigDegraded` is True. */
export function isDegraded({ degraded }: NodeState): boolean {
  return degraded?.status === 'True'
}

export const NODES_PATH = '/api/v1/nodes'
export const LIST_NODES: Asked = { verb: 'list', resource: 'nodes' }

/** @throws Failure */
export function listNodes({ api, namespace }: PluginContext, selector: string): Promise<Listed<NodeState>> {
  const query = selector === '' ? {} : { labelSelector: selector }
  return listPages(api, { path: NODES_PATH, query, asked: LIST_NODES }, (node) => readNodeState(node, namespace))
}

export interface LabelledNode {
  readonly state: NodeState
  readonly labels: Readonly<Record<string, string>>
}

/** All of them. @throws Failure */
export async function listLabelledNodes({ api, namespace }: PluginContext): Promise<readonly LabelledNode[]> {
  const { items } = await listPages(api, { path: NODES_PATH, asked: LIST_NODES }, (node): LabelledNode | undefined => {
    const state = readNodeState(node, namespace)
    return state && { state, labels: metadataOf(node)?.labels ?? {} }
  })
  return items
}

/** @throws Failure */
export async function getNode({ api, namespace }: PluginContext, name: string): Promise<{ object: unknown; state: NodeState }> {
  checkNodeName(name)
  const answer = await api.request({ method: 'GET', path: `${NODES_PATH}/${name}` })
  const object = objectOf({ verb: 'get', resource: 'nodes', name }, answer)
  const state = readNodeState(object, namespace)
  if (state?.name !== name)
    throw new Failure(`the API server did not answer with Node ${name}: check the context and the address of the API server`)
  return { object, state }
}

export function checkNodeName(name: string): void {
  if (!isObjectName(name)) throw new Failure(`"${name}" is not a valid name of a Node`)
}

export function showAge(since: string, wallMs: number): string {
  const ms = wallMs - Date.parse(since)
  if (!Number.isFinite(ms)) return '-'
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}

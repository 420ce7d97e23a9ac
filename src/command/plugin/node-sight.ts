// SPDX-License-Identifier: Apache-2.0
/** Reads what a Node says to the guard of a rollout: see `src/rollout/guard.ts`. Pure. */
import type { NodeSight } from '../../rollout/guard.ts'
import { identityOf, isOlder } from '../../source/kube-object.ts'
import type { ConfigSource } from '../../subject/config-source.ts'
import { isObject } from '../../values/is-object.ts'
import { type NodeState, readNodeState } from './node-state.ts'
import { configOfNode } from './users.ts'

/** The content of one generation, as Nodes name it. */
interface GuardedContent {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The version of the config with which the generation began. */
  readonly version: string
}

/** Reasons of `KubeletConfigDegraded`. By the first, kubelet fails with every config. */
const AT_FAULT = 'NodeAtFault'
/** The reason of a kubelet that is ill and runs the content still. It may get well. */
const ILL = 'Unhealthy'

/** Taints of autoscalers on a node that they are about to remove. */
const REMOVAL_TAINTS: readonly string[] = ['ToBeDeletedByClusterAutoscaler', 'karpenter.sh/disrupted', 'karpenter.sh/disruption']

/** undefined: it is no Node. */
export function readSight(node: unknown, content: GuardedContent): NodeSight | undefined {
  const state = readNodeState(node, content.namespace)
  const uid = identityOf(node)?.uid
  if (state === undefined || uid === undefined) return undefined
  const reason = state.degraded?.status === 'True' ? state.degraded.reason : ''
  const runs = isOfContent(state.active, content)
  const isFailure = hasFailed(state) && isOfContent(state.assigned, content)
  return {
    name: state.name,
    uid,
    ready: state.kubelet === '' ? undefined : state.kubelet === 'True' && !(runs && reason === ILL),
    content: runs || isFailure ? 'started' : findUse(state, content),
    // A node that waits for its turn may be at fault, too: the guard knows whether it started.
    failed: isFailure || (reason === AT_FAULT && isOfContent(state.assigned, content)),
    leaving: findLeaving(node),
  }
}

/**
 * The annotation tells the verdict together with the config that is assigned, where a condition may
 * be about the one before. A config that preflight refused was never started, and one that an
 * operator rolled back has not failed.
 */
function hasFailed({ verdict }: NodeState): boolean {
  return verdict !== undefined && ['provisional', 'confirmed'].includes(verdict.state) && verdict.reason !== 'requested'
}

/** A later version that the generation is still about has the same content. */
function isOfContent(source: ConfigSource | undefined, { uid, version }: GuardedContent): boolean {
  if (source === undefined || source === 'local' || source.uid !== uid) return false
  return source.resourceVersion === version || isOlder(version, source.resourceVersion)
}

function findUse(state: NodeState, { namespace, name }: GuardedContent): NodeSight['content'] {
  const { asked, assigned } = state
  if (asked === undefined && assigned === undefined) return undefined
  const ref = configOfNode(state)
  return ref?.namespace === namespace && ref.name === name ? 'waiting' : 'other'
}

function findLeaving(node: unknown): NodeSight['leaving'] {
  const spec = isObject(node) && isObject(node.spec) ? node.spec : {}
  const taints = Array.isArray(spec.taints) ? spec.taints.filter(isObject) : []
  if (taints.some(({ key }) => typeof key === 'string' && REMOVAL_TAINTS.includes(key))) return 'marked'
  return spec.unschedulable === true ? 'cordoned' : undefined
}

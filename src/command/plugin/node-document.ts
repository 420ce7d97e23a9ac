// SPDX-License-Identifier: Apache-2.0
/** A node as `-o json` prints it. Fields are added, never renamed or removed. Pure. */
import { isDegraded, type NodeState, stateWord } from './node-state.ts'

/** The statuses of a condition. `Unknown`: the node does not answer. */
const STATUSES: readonly string[] = ['True', 'False', 'Unknown']

export function documentNode(node: NodeState): object {
  const { name, ready, asked, degraded: _, kubelet, ...rest } = node
  return {
    node: name,
    state: stateWord(node),
    degraded: isDegraded(node),
    kubeletReady: STATUSES.includes(kubelet) ? kubelet : null,
    condition: ready ?? null,
    asked: asked ?? null,
    ...rest,
  }
}

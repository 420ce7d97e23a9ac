/**
 * Changes Nodes, one after another. One that fails keeps no other from its change, as of
 * many Nodes one may just have been deleted. Pure but for the API.
 */
import { plainText } from '../cli/terminal.ts'
import type { JsonObject } from '../values/is-object.ts'
import type { PluginContext } from './command.ts'
import { Failure, objectOf } from './failure.ts'
import { type NodeState, readNodeState } from './node-state.ts'

export interface NodeChange {
  readonly body: JsonObject
  /** What to say of the Node that the API server answers with. */
  describe(after: NodeState): Described
}

export interface Described {
  readonly text: string
  /** The Node is as wanted. */
  readonly isDone: boolean
}

/**
 * Says of each Node what has become of it. Ends early at a signal.
 *
 * @returns how many are changed as wanted
 * @throws Failure: the only Node cannot be changed
 */
export async function changeNodes(
  context: PluginContext,
  nodes: readonly NodeState[],
  changeOf: (node: NodeState) => NodeChange,
): Promise<number> {
  const { terminal, signal } = context
  let done = 0
  for (const node of nodes) {
    const { body, describe } = changeOf(node)
    try {
      const { text, isDone } = describe(await patchNode(context, node.name, body))
      terminal.out(`${node.name}: ${text}\n`)
      if (isDone) done++
    } catch (error) {
      if (!(error instanceof Failure) || nodes.length === 1) throw error
      terminal.err(`${node.name}: ${plainText(error.message)}\n`)
      if (signal.aborted) break
    }
  }
  return done
}

async function patchNode(context: PluginContext, name: string, body: JsonObject): Promise<NodeState> {
  const { api, namespace } = context
  const answer = await api.request({ method: 'PATCH', path: `/api/v1/nodes/${name}`, body, contentType: 'application/merge-patch+json' })
  const state = readNodeState(objectOf({ verb: 'patch', resource: 'nodes', name }, answer), namespace)
  if (state === undefined) throw new Failure(`the API server answered with something else than Node ${name}`)
  return state
}

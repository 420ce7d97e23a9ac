/**
 * Changes Nodes one after another. If one change fails, for example because the Node was just
 * deleted, the others still follow. Pure but for the API.
 */
import { plainText } from '../terminal.ts'
import type { JsonObject } from '../../values/is-object.ts'
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
  if (state === undefined)
    throw new Failure(`the API server did not answer with Node ${name}: check the context and the address of the API server`)
  return state
}

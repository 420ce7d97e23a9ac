/** Nodes of the cluster, read for commands. Pure but for the API that is passed in. */
import { metadataOf } from '../../source/channels/metadata.ts'
import { isObjectName } from '../../values/kubernetes-names.ts'
import type { PluginContext } from './command.ts'
import { type Asked, Failure, objectOf } from './failure.ts'
import { type Listed, listPages } from './list-pages.ts'
import { type NodeState, readNodeState } from './node-state.ts'

const PATH = '/api/v1/nodes'
const LIST: Asked = { verb: 'list', resource: 'nodes' }

/** @throws Failure */
export function listNodes({ api, namespace }: PluginContext, selector: string): Promise<Listed<NodeState>> {
  const query = selector === '' ? {} : { labelSelector: selector }
  return listPages(api, { path: PATH, query, asked: LIST }, (node) => readNodeState(node, namespace))
}

export interface LabelledNode {
  readonly state: NodeState
  readonly labels: Readonly<Record<string, string>>
}

/** All of them. @throws Failure */
export async function listLabelledNodes({ api, namespace }: PluginContext): Promise<readonly LabelledNode[]> {
  const { items } = await listPages(api, { path: PATH, asked: LIST }, (node): LabelledNode | undefined => {
    const state = readNodeState(node, namespace)
    return state && { state, labels: metadataOf(node)?.labels ?? {} }
  })
  return items
}

/** @throws Failure */
export async function getNode({ api, namespace }: PluginContext, name: string): Promise<{ object: unknown; state: NodeState }> {
  checkNodeName(name)
  const answer = await api.request({ method: 'GET', path: `${PATH}/${name}` })
  const object = objectOf({ verb: 'get', resource: 'nodes', name }, answer)
  const state = readNodeState(object, namespace)
  if (state?.name !== name)
    throw new Failure(`the API server did not answer with Node ${name}: check the context and the address of the API server`)
  return { object, state }
}

export function checkNodeName(name: string): void {
  if (!isObjectName(name)) throw new Failure(`"${name}" is not a valid name of a Node`)
}

/** The nodes that use a config. Pure but for the API. */
import type { ConfigMapRef } from '../decision/config-source.ts'
import type { PluginContext } from './command.ts'
import type { NodeState } from './node-state.ts'
import { listNodes } from './nodes.ts'

/** @throws Failure */
export async function listUsers(context: PluginContext, name: string): Promise<readonly NodeState[]> {
  const { items } = await listNodes(context, '')
  return items.filter((node) => usesConfig(node, { namespace: context.namespace, name }))
}

function usesConfig({ assigned, asked }: NodeState, wanted: Pick<ConfigMapRef, 'namespace' | 'name'>): boolean {
  const isIt = ({ namespace, name }: ConfigMapRef) => namespace === wanted.namespace && name === wanted.name
  if (asked !== undefined) return 'ref' in asked && isIt(asked.ref)
  return assigned !== undefined && assigned !== 'local' && isIt(assigned)
}

export function countNodes(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`
}

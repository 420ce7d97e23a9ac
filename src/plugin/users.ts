/** The nodes that use a config, and what each of them runs of it. Pure but for the API. */
import { contentHash } from '../checkpoint/content.ts'
import type { ConfigMapRef } from '../decision/config-source.ts'
import type { PluginContext } from './command.ts'
import type { FoundConfig } from './config-maps.ts'
import { KEY } from './merged-text.ts'
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

/**
 * Whether the node runs this content of the ConfigMap: the same version of it, or the same bytes. A
 * part has other bytes on the node, where it is merged.
 */
export function runsContent({ active, contentHash: running }: NodeState, content: FoundConfig): boolean {
  if (active !== undefined && active !== 'local' && active.uid === content.uid && active.resourceVersion === content.resourceVersion)
    return true
  return content.base === undefined && running !== '' && running === contentHash(content.data, KEY)
}

export function countNodes(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`
}

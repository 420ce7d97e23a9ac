/** Names in the cluster for completion: quick, without complaint. Pure but for the API. */
import { identityOf } from '../source/kube-object.ts'
import type { PluginArgument, PluginContext } from './command.ts'
import { listPages } from './list-pages.ts'

/** The name ends in a version: `NAME-HASH` is kept by this program and assigned to nobody. */
export const VERSION_OF_LABEL = 'kubelet-cfg-agent.io/kept-version'

export async function listNames(context: PluginContext, kind: PluginArgument['completes']): Promise<readonly string[]> {
  const { api, namespace } = context
  const isNode = kind === 'node'
  const resource = isNode ? 'nodes' : 'configmaps'
  const path = isNode ? '/api/v1/nodes' : `/api/v1/namespaces/${namespace}/configmaps`
  const query = isNode ? {} : { labelSelector: `!${VERSION_OF_LABEL}` }
  const listing = { path, query, as: 'PartialObjectMetadataList', asked: { verb: 'list', resource } } as const
  return (await listPages(api, listing, (object) => identityOf(object)?.name)).items
}

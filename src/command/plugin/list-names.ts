/** Names in the cluster for completion: quick, without complaint. Pure but for the API. */
import { identityOf } from '../../source/kube-object.ts'
import type { PluginArgument, PluginContext } from './command.ts'
import { KEPT_LABEL } from './kept-versions.ts'
import { listPages } from './list-pages.ts'

export async function listNames(context: PluginContext, kind: NonNullable<PluginArgument['completes']>): Promise<readonly string[]> {
  const { api, namespace } = context
  const isNode = kind === 'node'
  const resource = isNode ? 'nodes' : 'configmaps'
  const path = isNode ? '/api/v1/nodes' : `/api/v1/namespaces/${namespace}/configmaps`
  const query = isNode ? {} : { labelSelector: `!${KEPT_LABEL}` }
  const listing = { path, query, as: 'PartialObjectMetadataList', asked: { verb: 'list', resource } } as const
  return (await listPages(api, listing, (object) => identityOf(object)?.name)).items
}

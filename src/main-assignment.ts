/**
 * Where this node's assignment comes from: the cluster, or a directory of manifests, with the
 * node's overlay applied to it. The YAML parser is loaded only where there are files to parse.
 */

import { watchDirectory } from './directory/watch-directory.ts'
import type { KubeconfigFile } from './kube/kubeconfig.ts'
import type { Identity } from './main-identity.ts'
import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import { OverlaidSource } from './overlay/overlaid-source.ts'
import { OverlayDirectory } from './overlay/overlay-directory.ts'
import { readOverlayFiles } from './overlay/overlay-files.ts'
import type { AssignmentSource } from './ports/assignment-source.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { Counters } from './report/counters.ts'
import type { Publisher } from './report/publisher.ts'
import type { Settings } from './settings/settings.ts'
import { toChannelSettings } from './settings/source-settings.ts'
import { ClusterSource } from './source/cluster-source.ts'
import { DirectorySource } from './source/directory-source.ts'

export interface AssignmentWorld {
  /** As of now; changes of these settings take effect when the agent is restarted. */
  readonly settings: () => Settings
  readonly stores: Pick<Stores, 'files'>
  readonly nodeName: string
  readonly identity: Pick<Identity, 'findChangeOfNode'>
  readonly kubeconfig: KubeconfigFile
  /** undefined: assignments come from a directory. */
  readonly api: KubeApi | undefined
  readonly publisher: Publisher | undefined
  readonly counters: Counters
  readonly pace: Pace
  readonly log: Log
  /** Called when the kubeconfig turns out to belong to another node or cluster. */
  readonly onChangeOfIdentity: (why: string) => void
}

export async function openAssignment(world: AssignmentWorld): Promise<AssignmentSource> {
  const { api, pace, log } = world
  const source = api === undefined ? await openManifests(world) : openCluster(world, api)
  const { overlayDir: directory } = world.settings()
  if (directory === undefined) return source
  const loadParser = () => import('./kubelet/yaml.ts')
  const overlay = new OverlayDirectory({ directory, read: readOverlayFiles, loadParser, watch: watchDirectory, pace, log })
  return new OverlaidSource(source, overlay, log)
}

async function openManifests({ settings, stores, nodeName, counters, pace, log }: AssignmentWorld): Promise<AssignmentSource> {
  const { parseDocuments } = await import('./kubelet/yaml.ts')
  return new DirectorySource({
    path: settings().manifestDir ?? '',
    nodeName,
    channels: toChannelSettings(settings()),
    files: stores.files,
    parse: parseDocuments,
    watch: watchDirectory,
    pace,
    log,
    counters: { synced: () => counters.synced(Date.now()) },
  })
}

function openCluster(world: AssignmentWorld, api: KubeApi): AssignmentSource {
  const { nodeName, kubeconfig, publisher, counters, pace, log } = world
  return new ClusterSource({
    nodeName,
    api,
    pace,
    log,
    counters: { watchReconnected: () => counters.watchReconnected(), synced: () => counters.synced(Date.now()) },
    obstacle: () => kubeconfig.problem(),
    channels: toChannelSettings(world.settings()),
    onNode: (...seen) => publisher?.nodeObserved(...seen),
    ready: async (signal) => {
      await kubeconfig.ready(pace.sleep, signal)
      // A kubeconfig that is written later may name another node.
      const change = world.identity.findChangeOfNode()
      if (change === undefined) publisher?.start()
      else world.onChangeOfIdentity(change)
    },
  })
}

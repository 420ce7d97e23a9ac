/**
 * Where this node's assignment comes from: the cluster, or a directory of manifests, with the
 * node's overlay applied to it.
 */

import { readLink } from './directory/owned-files.ts'
import { watchDirectory } from './directory/watch-directory.ts'
import type { KubeconfigFile } from './kube/kubeconfig.ts'
import { ParsedTexts } from './kubelet/parsed-texts.ts'
import type { Identity } from './main-identity.ts'
import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import { mergePart } from './overlay/merge-part.ts'
import { OverlayDirectory, type OverlayDirectoryDeps } from './overlay/overlay-directory.ts'
import { readInstanceFile, readOverlayFiles } from './overlay/overlay-files.ts'
import { OverlaidSource, PartSource, type PartSourceDeps } from './overlay/part-source.ts'
import { INSTANCE_CONFIG, INSTANCE_DIRECTORY, OVERLAY, type PatchSet } from './overlay/patch-set.ts'
import type { ParseConfig } from './overlay/read-overlay.ts'
import type { AssignmentSource } from './ports/assignment-source.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { Counters } from './report/counters.ts'
import type { Publisher } from './report/publisher.ts'
import type { Settings } from './settings/settings.ts'
import { toChannelSettings } from './settings/source-settings.ts'
import { ClusterSource, type ClusterSourceDeps } from './source/cluster-source.ts'
import { DirectorySource } from './source/directory-source.ts'

export interface AssignmentWorld {
  /** As of now; changes of these settings take effect when the agent is restarted. */
  readonly settings: () => Settings
  readonly stores: Pick<Stores, 'owned' | 'files' | 'yaml'>
  readonly nodeName: string
  readonly identity: Pick<Identity, 'findChange'>
  readonly kubeconfig: KubeconfigFile
  /** undefined: assignments come from a directory. */
  readonly api: KubeApi | undefined
  readonly publisher: Publisher | undefined
  readonly counters: Counters
  readonly pace: Pace
  readonly log: Log
  /** Called when the kubeconfig turns out to belong to another node or cluster. */
  readonly onChangeOfIdentity: (why: string) => void
  readonly onContact: NonNullable<ClusterSourceDeps['onContact']>
}

export function openAssignment(world: AssignmentWorld): AssignmentSource {
  const { api, pace, log, stores } = world
  const { yaml, owned, files } = stores
  const merge: PartSourceDeps['merge'] = (bases, data, key) => mergePart(bases, data, key, yaml)
  const source = new PartSource(api === undefined ? openManifests(world) : openCluster(world, api), { merge, pace, log })
  const configs = new ParsedTexts((text) => yaml.first(text), reportParser(log))
  const parseConfig: ParseConfig = (text, onParsed) => configs.look(text, onParsed)
  const patched = (inner: AssignmentSource, patches: PatchSet, directory: string, read: OverlayDirectoryDeps['read']) =>
    new OverlaidSource(
      inner,
      new OverlayDirectory({ directory, read, yaml, parseConfig, watch: watchDirectory, pace, patches, log }),
      log,
      patches,
    )
  const { overlayDir } = world.settings()
  const overlaid = overlayDir === undefined ? source : patched(source, OVERLAY, overlayDir, (path) => readOverlayFiles(path, owned))
  // Last, as kubeadm does.
  return patched(overlaid, INSTANCE_CONFIG, INSTANCE_DIRECTORY, (path) => readInstanceFile(path, owned, files, readLink))
}

function openManifests({ settings, stores, nodeName, counters, pace, log }: AssignmentWorld): AssignmentSource {
  const manifests = new ParsedTexts((text) => stores.yaml.all(text), reportParser(log))
  return new DirectorySource({
    path: settings().manifestDir ?? '',
    nodeName,
    channels: toChannelSettings(settings()),
    files: stores.owned,
    parse: (text, onParsed) => manifests.look(text, onParsed),
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
    onContact: world.onContact,
    ready: async (signal) => {
      await kubeconfig.ready(pace.sleep, signal)
      // A kubeconfig that is written later may name another node.
      const change = world.identity.findChange()
      if (change === undefined) publisher?.start()
      else world.onChangeOfIdentity(change)
    },
  })
}

/** A later look may work: the agent's package may be in the middle of an upgrade. */
function reportParser(log: Log): (error: unknown) => void {
  return (error) => log.error('cannot parse the assigned config now; trying again at the next poll', { error })
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Logs changes of the assignment and of the assigned ConfigMap, for the cluster and for manifests.
 * Upstream's log messages where there are any (Kubernetes 1.20 pkg/kubelet/kubeletconfig/watch.go
 * and checkpoint/download.go). Pure, apart from the log that is passed in.
 */

import { describeChannel } from '../decision/channels.ts'
import type { ConfigMapView } from '../decision/desired.ts'
import { syncError } from '../decision/status-texts.ts'
import type { Log } from '../ports/log.ts'
import { describeRef } from '../subject/config-source.ts'
import type { ChannelResolution } from './channels/resolve.ts'

/** @param before the last one that was known; undefined: this is the first */
export function logAssignment(log: Log, before: ChannelResolution | undefined, now: ChannelResolution): void {
  if (now.kind === 'pending') return
  if (now.kind === 'invalid') {
    if (before !== undefined) log.info(describeChange(before, now), { assignment: now })
    log.error(`${syncError(now.detail)}; the previous assignment stays in effect`)
    return
  }
  if (before !== undefined || isWorthLoggingFirst(now)) log.info(describeChange(before, now), { assignment: now })
}

/** Upstream's message, as long as no other channel than upstream's is involved. */
function describeChange(before: ChannelResolution | undefined, now: ChannelResolution): string {
  if (isUpstream(before) && isUpstream(now)) return 'Node.Spec.ConfigSource was updated'
  switch (now.kind) {
    case 'config-map':
      return `${describeRef(now.ref)} is assigned by ${describeChannel(now.channel)}`
    case 'local':
      return 'no channel assigns a config to this node any more'
    default:
      return 'the assignment was updated'
  }
}

function isUpstream(resolution: ChannelResolution | undefined): boolean {
  if (resolution === undefined || resolution.kind === 'local') return true
  return resolution.kind !== 'pending' && resolution.channel === 'config-source'
}

/**
 * Whether to log an assignment that is found at the start. Upstream did not log it for its own
 * channel.
 */
function isWorthLoggingFirst(now: ChannelResolution): boolean {
  return now.kind === 'config-map' && now.channel !== 'config-source'
}

/** @param what it is for this node */
export function logConfigMap(log: Log, path: string, before: ConfigMapView, now: ConfigMapView, what = 'assigned ConfigMap'): void {
  if (before.kind === 'found' && now.kind === 'found') log.info(`${what} was updated`, { path })
  if (before.kind === 'found' && now.kind === 'unavailable' && now.reason === 'not-found') log.warn(`${what} was deleted`, { path })
  if (now.kind === 'found') log.info(`successfully downloaded ${path}, UID: ${now.uid}, ResourceVersion: ${now.resourceVersion}`)
  if (now.kind === 'unavailable') log.error(`failed to download ${path}: ${now.detail}`, { reason: now.reason })
}

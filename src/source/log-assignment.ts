/**
 * What is said of an assignment and of the ConfigMap it names when they change, wherever they come from: in upstream's words where upstream had some
 * (pkg/kubelet/kubeletconfig/watch.go and checkpoint/download.go of 1.20). Pure, but for the log it is given.
 */

import { describeChannel } from '../decision/channels.ts'
import { describeRef } from '../decision/config-source.ts'
import type { ConfigMapView } from '../decision/desired.ts'
import { syncError } from '../decision/status-texts.ts'
import type { Log } from '../ports/log.ts'
import type { ChannelResolution } from './channels/resolve.ts'

/** @param before the last one that was known; undefined: this is the first. */
export function sayAssignment(log: Log, before: ChannelResolution | undefined, now: ChannelResolution): void {
  if (now.kind === 'pending') return
  if (now.kind === 'invalid') {
    if (before !== undefined) log.info(changeOf(before, now), { assignment: now })
    log.error(`${syncError(now.detail)}; what was assigned before stands`)
    return
  }
  if (before !== undefined || isNews(now)) log.info(changeOf(before, now), { assignment: now })
}

/** Upstream's words, as long as nothing but upstream's channel speaks. */
function changeOf(before: ChannelResolution | undefined, now: ChannelResolution): string {
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

/** Without being a change: upstream said nothing of what it found at its start. */
function isNews(now: ChannelResolution): boolean {
  return now.kind === 'config-map' && now.channel !== 'config-source'
}

export function sayConfigMap(log: Log, path: string, before: ConfigMapView, now: ConfigMapView): void {
  if (before.kind === 'found' && now.kind === 'found') log.info('assigned ConfigMap was updated', { path })
  if (before.kind === 'found' && now.kind === 'unavailable' && now.reason === 'not-found')
    log.warn('assigned ConfigMap was deleted', { path })
  if (now.kind === 'found') log.info(`successfully downloaded ${path}, UID: ${now.uid}, ResourceVersion: ${now.resourceVersion}`)
  if (now.kind === 'unavailable') log.error(`failed to download ${path}: ${now.detail}`, { reason: now.reason })
}

/**
 * What is said of an assignment and of the ConfigMap it names when they change, wherever they come from: in upstream's words where upstream had some
 * (pkg/kubelet/kubeletconfig/watch.go and checkpoint/download.go of 1.20). Pure, but for the log it is given.
 */
import type { ConfigMapView } from '../agent/model.ts'
import type { Log } from '../agent/ports.ts'
import { syncError } from '../report/texts.ts'
import type { Assignment } from './desired.ts'

/** @param before the last one that was known; undefined: this is the first. */
export function sayAssignment(log: Log, before: Assignment | undefined, now: Assignment): void {
  if (before !== undefined) log.info('Node.Spec.ConfigSource was updated', { assignment: now })
  if (now.kind === 'invalid') log.error(`${syncError(now.detail)}; what was assigned before stands`)
}

export function sayConfigMap(log: Log, path: string, before: ConfigMapView, now: ConfigMapView): void {
  if (before.kind === 'found' && now.kind === 'found') log.info('assigned ConfigMap was updated', { path })
  if (before.kind === 'found' && now.kind === 'unavailable' && now.reason === 'not-found')
    log.warn('assigned ConfigMap was deleted', { path })
  if (now.kind === 'found') log.info(`successfully downloaded ${path}, UID: ${now.uid}, ResourceVersion: ${now.resourceVersion}`)
  if (now.kind === 'unavailable') log.error(`failed to download ${path}: ${now.detail}`, { reason: now.reason })
}

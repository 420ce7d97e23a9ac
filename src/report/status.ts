/**
 * The status of this node: assigned, active, last-known-good and one error, as in upstream's
 * `Node.status.config`. Pure; all reports (Node status, condition, annotation, gauges, commands)
 * use it. An undefined field is not known and stays as published last, since absent would mean
 * local.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { runningSource } from '../decision/held-sources.ts'
import type { Phase } from '../decision/phases.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import * as texts from '../decision/status-texts.ts'
import { findDynamicConfigDirFault, findFault } from './fault.ts'
import { findLastKnownGood } from './last-known-good.ts'
import { isUnanswered } from './unknown-assignment.ts'

export interface ConfigStatus {
  /**
   * The config that the running kubelet was started with; of two versions with the same content,
   * the one for its next start.
   */
  readonly active: ConfigSource | undefined
  readonly assigned: ConfigSource | undefined
  /** See `findLastKnownGood`. */
  readonly lastKnownGood: ConfigSource | undefined
  /** Empty: none. */
  readonly error: string
  /** The same with the cause itself, for all reports but `Node.status.config`. Empty: none. */
  readonly cause?: string | undefined
}

/**
 * @param phase the phase in which the last pass of the loop ended; undefined while steps are left
 */
export function describeStatus(snapshot: Snapshot, phase: Phase | undefined): ConfigStatus {
  const controllerFault = findDynamicConfigDirFault(snapshot)
  // Kubelet's own controller writes these fields itself.
  if (controllerFault !== undefined)
    return { active: undefined, assigned: undefined, lastKnownGood: undefined, error: controllerFault.error, cause: controllerFault.cause }
  const active = runningSource(snapshot)
  const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
  const fault = findFault(snapshot, active, phase)
  const { source: lastKnownGood } = findLastKnownGood(snapshot)
  // Upstream reported the first failure at once.
  if (fault === undefined && isUnanswered(snapshot))
    return { active, assigned, lastKnownGood, error: texts.syncError(texts.DOWNLOAD_ERROR), cause: '' }
  return { active, assigned, lastKnownGood, error: fault?.error ?? '', cause: fault?.cause }
}

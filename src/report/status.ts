/**
 * What the agent says of this node: assigned, active, last-known-good and one error, as upstream's `Node.status.config`. Pure; every
 * channel (Node status, condition, annotation, gauges, the command line) starts from here. It never says what is not known: a field that is
 * undefined is left as it was last published, since an absent one would read as "local".
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { runningSource } from '../decision/restarts.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Phase } from '../decision/step.ts'
import { findFault, findForeign } from './fault.ts'

export interface ConfigStatus {
  /** What the running kubelet was started with; of two versions with the same content, the one its next start would use. */
  readonly active: ConfigSource | undefined
  readonly assigned: ConfigSource | undefined
  readonly lastKnownGood: ConfigSource | undefined
  /** Empty: none. */
  readonly error: string
}

/** `phase`: what the last pass of the loop came to rest in; undefined while it has something to do. */
export function describeStatus(snapshot: Snapshot, phase: Phase | undefined): ConfigStatus {
  const foreign = findForeign(snapshot)
  // Kubelet's own controller writes these fields itself.
  if (foreign !== undefined) return { active: undefined, assigned: undefined, lastKnownGood: undefined, error: foreign.error }
  const active = runningSource(snapshot)
  const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
  return { active, assigned, lastKnownGood: snapshot.lastKnownGood.source, error: findFault(snapshot, active, phase)?.error ?? '' }
}

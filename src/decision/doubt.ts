/**
 * What a node holds back while a record is damaged that could forbid it: `meta/rollouts` says
 * whether the assigned config has a rollout, and `meta/heard` whether the cluster pauses this node.
 * Until the cluster has been read again, nobody knows. Like a rollout, a doubt holds up only what
 * is assigned and has not been started: never what runs or is in place, and no falling back. Pure.
 */
import { type ConfigSource, sameSource } from './config-source.ts'
import { sourceOf } from './desired.ts'
import { isPauseUnknown } from './find-pause.ts'
import type { Snapshot } from './snapshot.ts'
import { ROLLOUT_OFF } from './staging.ts'

/** @returns why the assigned config must not be started yet. undefined: nothing is in doubt */
export function findDoubt(snapshot: Snapshot, assigned: ConfigSource): string | undefined {
  // Local has no rollout, and nothing could take its place.
  if (assigned === 'local') return undefined
  if (snapshot.stagingsDamaged === true && !isKnownWithoutRollout(snapshot, assigned))
    return 'meta/rollouts was damaged, and whether it has a rollout is not known until its ConfigMap has been read'
  if (isPauseUnknown(snapshot))
    return 'meta/heard was damaged, and whether the cluster pauses this node is not known until it has been read'
  return undefined
}

function isKnownWithoutRollout({ desired }: Snapshot, assigned: ConfigSource): boolean {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return false
  const { ref, object } = desired
  const record = object.rollout?.record
  return sameSource(sourceOf(ref, object), assigned) && (record === undefined || record === ROLLOUT_OFF)
}

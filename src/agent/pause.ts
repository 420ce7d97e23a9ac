/**
 * Who keeps this node as it is: a person on the node (`kubelet-cfg-agent pause`), or one of the cluster by an annotation. Both hold back the same:
 * nothing is activated or restarted, and nothing is judged for failing. A reset on the node goes before a pause of the cluster: whoever is there
 * wants the local config now. Pure.
 */
import type { Desired, Heard } from './desired.ts'
import type { Snapshot } from './model.ts'

export type Pause = { readonly by: 'node' } | { readonly by: 'cluster'; readonly detail: string }

export function findPause({ requests, desired, heard }: Pick<Snapshot, 'requests' | 'desired' | 'heard'>): Pause | undefined {
  switch (requests.hold) {
    case 'paused':
      return { by: 'node' }
    case 'local':
      return undefined
    case 'none': {
      const paused = latestHeard(desired, heard)?.paused
      return paused === undefined ? undefined : { by: 'cluster', detail: paused.by }
    }
  }
}

/** @param recorded what was written down: where nobody knows better, that stands. */
export function latestHeard(desired: Desired, recorded: Heard | undefined): Heard | undefined {
  const { heard } = desired
  if (heard === undefined) return recorded
  const stands = heard.paused === undefined && recorded?.paused?.on === 'ConfigMap' && !isConfigMapKnown(desired)
  return stands ? { ...heard, paused: recorded.paused } : heard
}

export function describePause(pause: Pause): string {
  return pause.by === 'node' ? 'paused on the node' : `paused by ${pause.detail}`
}

/** Whether the ConfigMap that is to be used has been seen, or is known to be none: it could be what pauses. */
function isConfigMapKnown(desired: Desired): boolean {
  switch (desired.kind) {
    case 'local':
      return true
    case 'unknown':
      return false
    case 'invalid':
      return desired.isSeen === true
    case 'config-map':
      return desired.object.kind === 'found' || (desired.object.kind === 'unavailable' && desired.object.reason === 'not-found')
  }
}

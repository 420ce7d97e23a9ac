// SPDX-License-Identifier: Apache-2.0
/**
 * Who pauses this node: an operator on the node (`kubelet-cfg-agent pause`), or an administrator of
 * the cluster by an annotation. A pause of the node, wherever it is set, keeps everything: nothing
 * is activated or restarted, and no failure is condemned. A pause of the ConfigMap keeps other
 * versions away. Whoever may edit the ConfigMap must not be able to switch the rollback off, so a
 * config that fails is rolled back all the same. A reset on the node takes precedence over a pause
 * of the cluster: the operator on the node wants the local config now. Pure.
 */
import type { ChannelState, ClusterPause, Desired } from './desired.ts'
import type { Snapshot } from './snapshot.ts'

export type Pause = { readonly by: 'node' } | { readonly by: 'cluster'; readonly on: ClusterPause['on']; readonly detail: string }

type PauseFacts = Pick<Snapshot, 'requests' | 'desired' | 'recordedChannelState'>

export function findPause({ requests, desired, recordedChannelState }: PauseFacts): Pause | undefined {
  switch (requests.hold) {
    case 'paused':
      return { by: 'node' }
    case 'local':
      return undefined
    case 'none': {
      const paused = latestChannelState(desired, recordedChannelState)?.paused
      return paused === undefined ? undefined : { by: 'cluster', on: paused.on, detail: paused.by }
    }
  }
}

/** A pause that keeps everything. */
export function findNodePause(facts: PauseFacts): Pause | undefined {
  const pause = findPause(facts)
  return isOfConfigMap(pause) ? undefined : pause
}

/** A pause that keeps other versions away: see `findStartWait`. */
export function findConfigMapPause(facts: PauseFacts): Pause | undefined {
  const pause = findPause(facts)
  return isOfConfigMap(pause) ? pause : undefined
}

function isOfConfigMap(pause: Pause | undefined): boolean {
  return pause?.by === 'cluster' && pause.on === 'ConfigMap'
}

/**
 * @param recorded what was written down. It stands where the cluster's present answer does not say.
 */
export function latestChannelState(desired: Desired, recorded: ChannelState | undefined): ChannelState | undefined {
  const { channelState } = desired
  if (channelState === undefined) return recorded
  const { paused } = channelState
  const before = recorded?.paused?.on === 'ConfigMap' ? recorded.paused.by : recorded?.paused?.configMap
  if (before === undefined || paused?.on === 'ConfigMap' || isConfigMapKnown(desired)) return channelState
  return { ...channelState, paused: joinPauses(paused, { on: 'ConfigMap', by: before }) }
}

/** The end of one does not end the other. */
export function joinPauses(node: ClusterPause | undefined, configMap: ClusterPause | undefined): ClusterPause | undefined {
  return node === undefined || configMap === undefined ? (node ?? configMap) : { ...node, configMap: configMap.by }
}

/**
 * Whether the cluster may pause this node, since the record of that is damaged. A pause that is
 * only possible must not keep a kubelet that fails from being rolled back: see `findDoubt`.
 */
export function isPauseUnknown({
  requests,
  desired,
  channelStateDamaged,
}: Pick<Snapshot, 'requests' | 'desired' | 'channelStateDamaged'>): boolean {
  return channelStateDamaged === true && requests.hold === 'none' && !isConfigMapKnown(desired)
}

export function describePause(pause: Pause): string {
  return pause.by === 'node' ? 'paused on the node' : `paused by ${pause.detail}`
}

/**
 * Whether the ConfigMap that this node is to use has been seen, or is known not to exist. It could
 * hold the pause.
 */
export function isConfigMapKnown(desired: Desired): boolean {
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

/**
 * When it is this node's turn after a change of something that nodes share (an edit, another winner
 * of a selector, a ConfigMap that is gone), so that it does not restart a fleet at once. Pure: the
 * delay follows from node name and version, so it survives restarts and can be foreseen.
 */
import { createHash } from 'node:crypto'
import { formatDuration } from '../values/durations.ts'
import type { ConfigSource } from './config-source.ts'
import { sameSource } from './config-source.ts'
import type { Instant } from './instant.ts'
import type { Policy } from './policy.ts'
import type { SpreadRecord } from './records.ts'
import type { Snapshot } from './snapshot.ts'

export type SpreadTurn = { readonly kind: 'go' } | { readonly kind: 'wait-until'; readonly atUs: number; readonly detail: string }

/**
 * @param nodeName the node whose turn it is
 * @param spread written when the change was first followed. Without one of this source and this
 *   boot, the node does not wait.
 */
export function decideSpreadTurn(
  nodeName: string,
  source: ConfigSource,
  now: Instant,
  spread: SpreadRecord | undefined,
  policy: Policy,
): SpreadTurn {
  if (spread === undefined || spread.bootId !== now.bootId || !sameSource(spread.source, source)) return { kind: 'go' }
  const atUs = spread.sinceUs + spreadDelayUs(nodeName, source, policy.spreadUs)
  if (now.monotonicUs >= atUs) return { kind: 'go' }
  return { kind: 'wait-until', atUs, detail: `shared changes are spread over ${formatDuration(policy.spreadUs)}` }
}

/** The turn by what this node recorded itself. */
export function findSpreadTurn({ nodeName, now, spread, policy }: Snapshot, source: ConfigSource): SpreadTurn {
  return decideSpreadTurn(nodeName, source, now, spread, policy)
}

/** Uniform in [0, spreadUs). */
export function spreadDelayUs(nodeName: string, source: ConfigSource, spreadUs: number): number {
  const version = source === 'local' ? 'local' : `${source.uid}\n${source.resourceVersion}`
  const digest = createHash('sha256').update(`${nodeName}\n${version}`).digest()
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * spreadUs)
}

/**
 * When this node's turn comes after an in-place edit, so that one edit of a shared ConfigMap does not restart a fleet in one instant. Pure:
 * the delay follows from node name and version, so it survives restarts and can be told beforehand. This is the one place where a
 * coordinated rollout would decide instead.
 */
import { createHash } from 'node:crypto'
import type { ConfigMapSource, Instant, Policy, SpreadRecord } from './model.ts'
import { sameSource } from './sources.ts'

export type Turn = { readonly kind: 'go' } | { readonly kind: 'wait-until'; readonly atUs: number }

/** @param record written when an in-place edit was first assigned; none of this source or this boot means no wait. */
export function decideTurn(
  nodeName: string,
  source: ConfigMapSource,
  now: Instant,
  record: SpreadRecord | undefined,
  policy: Policy,
): Turn {
  if (record === undefined || record.bootId !== now.bootId || !sameSource(record.source, source)) return { kind: 'go' }
  const atUs = record.sinceUs + spreadDelayUs(nodeName, source, policy.spreadUs)
  return now.monotonicUs >= atUs ? { kind: 'go' } : { kind: 'wait-until', atUs }
}

/** Uniform in [0, spreadUs). */
export function spreadDelayUs(nodeName: string, source: ConfigMapSource, spreadUs: number): number {
  const digest = createHash('sha256').update(`${nodeName}\n${source.uid}\n${source.resourceVersion}`).digest()
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * spreadUs)
}

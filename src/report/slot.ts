/**
 * When a node tells of a change that nodes share, before its own turn to follow it. Pure. An edit
 * reaches all nodes at the same moment, and each would write to its Node several times within two
 * seconds: that it checks the config, and then that it waits. So each tells of that at a time of
 * its own, and of what it has come to by then. What happens on the node in its turn is told at
 * once.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { sameSource } from '../decision/config-source.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { spreadDelayUs } from '../decision/spread.ts'
import type { Phase } from '../decision/step.ts'

/** A True about the version before is outdated for no longer. */
const LONGEST_US = 30e6

/**
 * CLOCK_MONOTONIC. undefined, or in the past: at once. A change that is set on this Node alone is
 * recorded as one whose spread is over.
 *
 * @param wanted undefined: not known
 * @param before the slot of what was to be told last
 */
export function findSlot(
  { now, nodeName, policy, spread }: Snapshot,
  phase: Phase,
  wanted: ConfigSource | undefined,
  before: number | undefined,
): number | undefined {
  if (!isBeforeTurn(phase) || wanted === undefined || spread === undefined) return undefined
  if (spread.bootId !== now.bootId || !sameSource(spread.source, wanted)) return undefined
  // By the name alone: the turn itself follows from the version as well.
  const atUs = spread.sinceUs + spreadDelayUs(nodeName, 'local', Math.min(LONGEST_US, policy.spreadUs))
  // Each further edit begins the spread anew. It does not put off what the node has not told yet.
  return before !== undefined && before > now.monotonicUs ? Math.min(atUs, before) : atUs
}

function isBeforeTurn(phase: Phase): boolean {
  switch (phase) {
    case 'preflight':
    case 'drain':
    case 'spread':
    case 'rollout':
      return true
    case 'settled':
    case 'in-trial':
    case 'fallen-back':
    case 'refused':
    case 'restarting':
    case 'paused':
    case 'kubelet-stopped':
    case 'runtime-down':
    case 'restart-limit':
    case 'ineffective':
    case 'blocked':
    case 'node-at-fault':
    case 'unknown':
      return false
  }
}

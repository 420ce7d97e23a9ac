// SPDX-License-Identifier: Apache-2.0
/**
 * The interface through which other modules count: they never import the metrics, which may be
 * switched off.
 */
import type { FailureReason } from '../decision/verdict.ts'
import type { History } from '../ports/store.ts'
import type { RolloutWriteKind } from '../rollout/view.ts'

export interface Counters {
  /** A config runs and is healthy, this long after it was first seen. */
  applied(seconds: number): void
  /** A config became last-known-good, this long after kubelet started with it. */
  trialPassed(seconds: number): void
  /** A check before a restart came to a result. */
  checked(seconds: number): void
  /** In how many fields kubelet's running config differs from its config file. */
  compared(differences: number): void
  restarted(): void
  /** kubelet failed with a config, or an operator rolled it back. */
  rolledBack(reason: FailureReason): void
  /** Preflight refused a config. */
  rejected(): void
  watchReconnected(): void
  /** The assignment was read from its source. */
  synced(wallMs: number): void
  /** This node wrote to the record of a rollout. */
  rolloutWrote(kind: RolloutWriteKind): void
  /** Another node had written to it in between. */
  rolloutConflicted(): void
}

export const NO_COUNTERS: Counters = {
  applied: () => {},
  trialPassed: () => {},
  checked: () => {},
  compared: () => {},
  restarted: () => {},
  rolledBack: () => {},
  rejected: () => {},
  watchReconnected: () => {},
  synced: () => {},
  rolloutWrote: () => {},
  rolloutConflicted: () => {},
}

/** Counts refusals by preflight, which only the history shows. */
export function countRejections(history: History, counters: Counters): History {
  return {
    append(transition) {
      if (transition.kind === 'rejected') counters.rejected()
      history.append(transition)
    },
  }
}

/** What other modules tell the metrics, as an interface: they never import the metrics, which may be switched off. */
import type { FailureReason } from '../decision/verdict.ts'
import type { History } from '../ports/store.ts'

export interface Counters {
  /** A version runs healthily, so long after it was first seen. */
  applied(seconds: number): void
  restarted(): void
  /** kubelet failed on a config, or a person gave it up. */
  rolledBack(reason: FailureReason): void
  /** preflight refused a config. */
  rejected(): void
  watchReconnected(): void
  /** The assignment was read from its source. */
  synced(wallMs: number): void
}

export const NO_COUNTERS: Counters = {
  applied: () => {},
  restarted: () => {},
  rolledBack: () => {},
  rejected: () => {},
  watchReconnected: () => {},
  synced: () => {},
}

/** Only the history knows what preflight has said. */
export function countRejections(history: History, counters: Counters): History {
  return {
    append(transition) {
      if (transition.kind === 'rejected') counters.rejected()
      history.append(transition)
    },
  }
}

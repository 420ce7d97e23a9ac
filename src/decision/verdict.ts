/** What the agent remembers of configs that failed or were refused, as data. */
import type { ConfigSource } from './config-source.ts'
import type { TrialKey } from './trial-key.ts'

/**
 * What is remembered of one content on one kubelet (binary and flags).
 *
 * `refused`: preflight refused it, and kubelet never ran it. `provisional`: it failed, but no
 * fallback has been healthy since. `confirmed`: it failed and a fallback did not, or an operator
 * rolled it back.
 */
export interface Verdict {
  readonly key: TrialKey
  readonly state: 'refused' | 'provisional' | 'confirmed'
  readonly reason: FailureReason
  readonly detail: string
  readonly source: ConfigSource
  readonly atWallMs: number
  /**
   * Of a refusal: what else it depends on (`Snapshot.basis`). When that has changed, preflight runs
   * again.
   */
  readonly basis?: string | undefined
}

/** Preflight accepted a content on this kubelet, as a change from what runs. */
export interface Acceptance {
  /** Fields that may change on a drained node only. */
  readonly drain: readonly string[]
  /** What it depends on (`Snapshot.basis`). undefined: content and kubelet only. */
  readonly basis?: string | undefined
}

/** `load` and `validate` come from preflight, the others from a running kubelet. */
export type FailureReason = 'load' | 'validate' | 'crash-loop' | 'start-deadline' | 'ill-health' | 'requested'

export type PreflightResult =
  /** `drain`: changed fields that may change on a drained node only. */
  | { readonly kind: 'accepted'; readonly remarks: readonly string[]; readonly drain: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  | { readonly kind: 'pending' }

/** What the agent remembers of configs that failed or were refused, as data. */
import type { ConfigSource } from './config-source.ts'
import type { TrialKey } from './trial-key.ts'

/**
 * A remembered judgement of one content on one kubelet (binary and flags).
 * `refused`: preflight said no, kubelet never ran it. `provisional`: it failed, but no fallback has proved healthy since.
 * `confirmed`: it failed and a fallback did not, or a person rolled it back.
 */
export interface Verdict {
  readonly key: TrialKey
  readonly state: 'refused' | 'provisional' | 'confirmed'
  readonly reason: FailureReason
  readonly detail: string
  readonly source: ConfigSource
  readonly atWallMs: number
  /** Of a refusal: what else it rests on (`Snapshot.basis`). Where that has changed, preflight is asked again. */
  readonly basis?: string | undefined
}

/** That preflight has accepted a content on this kubelet, as a change from what runs. */
export interface Acceptance {
  /** Fields that may change on a drained node only. */
  readonly drain: readonly string[]
  /** What it rests on (`Snapshot.basis`). undefined: nothing but content and kubelet. */
  readonly basis?: string | undefined
}

/** `load` and `validate` are preflight's; the rest are a running kubelet's. */
export type FailureReason = 'load' | 'validate' | 'crash-loop' | 'start-deadline' | 'ill-health' | 'requested'

export type PreflightResult =
  /** `drain`: fields that change and may do so on a drained node only. */
  | { readonly kind: 'accepted'; readonly remarks: readonly string[]; readonly drain: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  | { readonly kind: 'pending' }

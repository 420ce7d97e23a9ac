/** What the agent remembers of configs that failed or were refused, as data. */

import type { EvidenceKind } from '../evidence/kinds.ts'
import type { ConfigSource, ContentHash } from './config-source.ts'
import type { TrialKey } from './trial-key.ts'

/**
 * What is remembered of one content on one kubelet (binary, flags and drop-ins).
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
   * The boot in which it failed. undefined: a refusal, or an earlier agent did not write it down.
   */
  readonly bootId?: string | undefined
  /**
   * Of a refusal: what else it depends on (`Snapshot.basis`). When that has changed, preflight runs
   * again.
   */
  readonly basis?: string | undefined
  /** On the local config: what it held (`Snapshot.localConfig`). undefined: not known. */
  readonly localConfig?: string | undefined
  /** Of the reason `evidence`: which kind said no. */
  readonly evidence?: EvidenceKind | undefined
  /**
   * `one-way`: what it did cannot be undone by another restart, so this content is never tried
   * again. undefined: transient.
   */
  readonly damage?: 'transient' | 'one-way' | undefined
  /**
   * The config had passed a whole trial here, or something else may have been the cause. It is
   * tried again before the verdict is confirmed.
   */
  readonly doubtful?: boolean | undefined
  /** How often it has been tried again since. */
  readonly retrials?: number | undefined
  /**
   * It was given another try since every config had failed, so that the node seemed at fault. That
   * happens once: it stays a suspect, since what a config leaves on the node may be what the others
   * fail with. The rule that clears a config is `clearAfterLongHealth`.
   */
  readonly acquitted?: boolean | undefined
  /**
   * Kubelet exited again and again with it, however healthy it was in between: another trial that
   * passes would show nothing.
   */
  readonly recurring?: boolean | undefined
  /**
   * Kubelet exited with it as one kubelet after another, so it is in force on each: the next start
   * makes another one again.
   */
  readonly anyKubelet?: boolean | undefined
  /**
   * A fallback from it died of what it had left on the node. A person who starts kubelet since has
   * deleted that, and cured nothing else.
   */
  readonly leavesState?: boolean | undefined
  /**
   * When all were tried again last time, it was left out so that the others ran without it. This
   * time it is tried, too.
   */
  readonly yielded?: boolean | undefined
  /** It is being tried again: the verdict is not in force. */
  readonly suspended?: boolean | undefined
}

/** How many verdicts are kept. */
const KEPT = 100

/** What it costs if a verdict is forgotten: a preflight, a restart, or what no restart undoes. */
function rank({ state, damage }: Verdict): 0 | 1 | 2 {
  if (damage === 'one-way') return 2
  return state === 'refused' ? 0 : 1
}

/**
 * The verdicts worth keeping, those that cost least if they are forgotten first: an agent of
 * another version may forget the first ones. One of damage that no restart undoes is never
 * forgotten, nor the one that was just made.
 *
 * @param verdicts the oldest first
 */
export function keepVerdicts(verdicts: readonly Verdict[], made: TrialKey): readonly Verdict[] {
  const ordered = [...verdicts].sort((a, b) => rank(a) - rank(b))
  const expendable = ordered.filter((verdict) => rank(verdict) < 2 && verdict.key !== made)
  const forgotten = new Set(expendable.slice(0, Math.max(0, verdicts.length - KEPT)))
  return ordered.filter((verdict) => !forgotten.has(verdict))
}

/** Preflight accepted a content on this kubelet, as a change from what runs. */
export interface Acceptance {
  /** Fields that may change on a drained node only. */
  readonly drain: readonly string[]
  /** What it changes of the content that ran then. undefined: not known. */
  readonly changes?: { readonly from: ContentHash; readonly fields: readonly string[] } | undefined
  /** What preflight warned of. Absent: nothing. */
  readonly remarks?: readonly string[]
  /** What it depends on (`Snapshot.basis`). undefined: content and kubelet only. */
  readonly basis?: string | undefined
  /** Of local: what its file held (`Snapshot.localConfig`). */
  readonly localConfig?: string | undefined
}

/**
 * `load` and `validate` come from preflight, `requested` from an operator, the others from what
 * happened while kubelet ran with it.
 */
export const FAILURE_REASONS = [
  'load',
  'validate',
  'crash-loop',
  'start-deadline',
  'ill-health',
  'evidence',
  'reboots',
  'requested',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

/**
 * Of a config that kubelet ran: whether kubelet's health shows what it failed with. With the other
 * reasons, kubelet is healthy all the while.
 */
export function isSeenByHealth(reason: FailureReason): boolean {
  return reason !== 'evidence' && reason !== 'reboots' && reason !== 'requested'
}

/** Whether the config failed while kubelet ran it, or was rolled back: not one that was refused. */
export function isOfFailure(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && verdict.state !== 'refused'
}

export type PreflightResult =
  /** `drain`: changed fields that may change on a drained node only. */
  | {
      readonly kind: 'accepted'
      readonly remarks: readonly string[]
      readonly drain: readonly string[]
      /** Which fields it changes, such as `evictionHard.memory.available`. undefined: unknown. */
      readonly changed?: readonly string[] | undefined
    }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  | { readonly kind: 'pending' }

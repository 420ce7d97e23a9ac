// SPDX-License-Identifier: Apache-2.0
/** The agent's memory of configs that failed or were refused, and which of it is in force. Pure. */

import { isDamage } from '../evidence/kind.ts'
import { type EvidenceKind, isEvidenceKind } from '../evidence/kinds.ts'
import type { HealthFailure } from '../health/failure.ts'
import { type ContentHash, isConfigSource } from '../subject/config-source.ts'
import { contentOfKey, isTrialKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { KnownUnit, UnitState } from '../subject/unit-state.ts'
import { isFlag, isNumber, isText, oneOf, optional, shape, type TypeOf } from '../values/json-shape.ts'

interface Reason {
  /** `trial`: a rule of the trial itself, as in `findTrialFailure`. */
  readonly foundBy: 'preflight' | 'health' | 'evidence' | 'trial' | 'operator'
  /** The event, as `Node.status.config.error` tells it. Absent: that text has a form of its own. */
  readonly text?: string
}

/** Why a config has a verdict. */
export const REASONS = {
  load: { foundBy: 'preflight' },
  validate: { foundBy: 'preflight' },
  'crash-loop': { foundBy: 'health', text: 'kubelet crash-looped' },
  'start-deadline': { foundBy: 'health', text: 'kubelet did not become healthy in time' },
  'ill-health': { foundBy: 'health', text: 'kubelet lost its health' },
  evidence: { foundBy: 'evidence' },
  reboots: { foundBy: 'trial', text: 'the node was rebooted again and again' },
  requested: { foundBy: 'operator' },
} as const satisfies Readonly<Record<string, Reason>>
export type FailureReason = keyof typeof REASONS
export const FAILURE_REASONS = Object.keys(REASONS) as readonly FailureReason[]
const isFailureReason = oneOf(...FAILURE_REASONS)
type FoundBy<By> = { [R in FailureReason]: (typeof REASONS)[R]['foundBy'] extends By ? R : never }[FailureReason]

/** Why a config has failed while kubelet ran with it. */
export interface ConfigFailure extends Omit<HealthFailure, 'reason' | 'damage'> {
  readonly reason: FoundBy<'health' | 'evidence' | 'trial'>
  /** See `Verdict.damage`. */
  readonly damage: NonNullable<Verdict['damage']>
  /** The kind of evidence that says no. */
  readonly evidence?: EvidenceKind
}

/**
 * The agent's memory of one content on one kubelet (binary, flags and drop-ins).
 *
 * `refused`: preflight refused it; if kubelet ran it before, `former` has what it failed with.
 * `provisional`: it failed, but no fallback has been healthy since. `confirmed`: it failed and a
 * fallback did not, or an operator rolled it back.
 */
const FIELDS = {
  key: isTrialKey,
  state: oneOf('refused', 'provisional', 'confirmed'),
  reason: isFailureReason,
  detail: isText,
  source: isConfigSource,
  atWallMs: isNumber,
  /**
   * The boot in which it failed. undefined: a refusal, or an earlier agent did not write it down.
   */
  bootId: optional(isText),
  /** When, by CLOCK_MONOTONIC of that boot. undefined: the same. */
  atUs: optional(isNumber),
  /** The basis of a refusal (`Snapshot.basis`). When that has changed, preflight runs again. */
  basis: optional(isText),
  /** On the local config: what it held (`Snapshot.localConfig`). undefined: not known. */
  localConfig: optional(isText),
  /** The kind of evidence that said no, where the reason is `evidence`. */
  evidence: optional(isEvidenceKind),
  /**
   * `one-way`: what it did cannot be undone by another restart, so this content is never tried
   * again. undefined: transient.
   */
  damage: optional(isDamage),
  /**
   * The config had passed a whole trial here, or something else may have been the cause. It is
   * tried again before the verdict is confirmed.
   */
  doubtful: optional(isFlag),
  /** How often the config has been tried again since. */
  retrials: optional(isNumber),
  /**
   * The config was given another try since every config had failed, so that the node seemed at
   * fault. That happens once: the config stays a suspect, since something that it leaves on the
   * node may be what the others fail with. The rule that clears a config is `clearAfterLongHealth`.
   */
  acquitted: optional(isFlag),
  /**
   * Kubelet exited again and again with it, however healthy it was in between: another trial that
   * passes would show nothing.
   */
  recurring: optional(isFlag),
  /** The node was reset again and again with it, before it failed in another way. */
  resetsNode: optional(isFlag),
  /**
   * Kubelet exited with it as one kubelet after another, so it is in force on each: the next start
   * makes another one again.
   */
  anyKubelet: optional(isFlag),
  /**
   * A fallback from it died of what it had left on the node. A person who starts kubelet since has
   * deleted that, and cured nothing else.
   */
  leavesState: optional(isFlag),
  /**
   * When all configs were tried again last time, this one was left out so that the others ran
   * without it. Next time it is tried, too.
   */
  yielded: optional(isFlag),
  /** The config is being tried again: the verdict is not in force. */
  suspended: optional(isFlag),
}
export const isVerdict = shape({
  ...FIELDS,
  /**
   * On a refusal: what the config had failed with, for a refusal undoes none of its tries. It is
   * tried again once preflight accepts it.
   */
  former: optional(shape(FIELDS)),
})
export type Verdict = TypeOf<typeof isVerdict>

/** How many verdicts are kept. */
const KEPT = 100

/**
 * The cost of forgetting a verdict: a preflight (0), a restart (1), or damage that no restart
 * undoes (2).
 */
function rank({ state, damage, former }: Verdict): 0 | 1 | 2 {
  if (damage === 'one-way') return 2
  return state === 'refused' && former === undefined ? 0 : 1
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
  /**
   * Those of them that kubelet's CPU, memory or topology manager goes by: no pod may have CPUs or
   * memory of its own then. Absent: none.
   */
  readonly managers?: readonly string[] | undefined
  /**
   * The fields that the content changes, compared with the content that ran then (`from`).
   * undefined: not known.
   */
  readonly changes?: { readonly from: ContentHash; readonly fields: readonly string[] } | undefined
  /** Warnings of preflight. Absent: none. */
  readonly remarks?: readonly string[]
  /** The basis of the acceptance (`Snapshot.basis`). undefined: content and kubelet only. */
  readonly basis?: string | undefined
  /** The hash of the local config's file, where the content is local (`Snapshot.localConfig`). */
  readonly localConfig?: string | undefined
}

/**
 * Whether kubelet's health shows the failure of a config that it ran. With the other reasons,
 * kubelet is healthy all the while.
 */
export function isSeenByHealth(reason: FailureReason): boolean {
  const { foundBy } = REASONS[reason]
  return foundBy === 'health' || foundBy === 'preflight'
}

/** Whether the node was reset again and again with it, however it has failed since. */
export function isOfResets({ reason, resetsNode }: Verdict): boolean {
  return reason === 'reboots' || resetsNode === true
}

/** Whether the verdict in force is of a failure while kubelet ran the config, or of a rollback. */
export function isOfFailure(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && verdict.state !== 'refused'
}

/**
 * The words of a remark about a config that kubelet takes, and makes something else of. The report
 * on the node tells such remarks by these words.
 */
export const OTHERWISE = 'kubelet starts, and'

export type PreflightResult =
  /** `drain`: changed fields that may change on a drained node only. */
  | {
      readonly kind: 'accepted'
      readonly remarks: readonly string[]
      readonly drain: readonly string[]
      /** As of `Acceptance`. */
      readonly managers?: readonly string[] | undefined
      /** Which fields it changes, such as `evictionHard.memory.available`. undefined: unknown. */
      readonly changed?: readonly string[] | undefined
    }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  | { readonly kind: 'pending' }

type Kubelet = Pick<KnownUnit, 'kubeletIdentity' | 'isKubeletUnread'>
type Verdicts = ReadonlyMap<TrialKey, Verdict>
/** As in a Snapshot. */
interface Judged {
  readonly verdicts: Verdicts
  readonly proven: TrialKey | undefined
}

/**
 * A verdict holds on one kubelet. But a config that did damage which cannot be undone is never
 * tried again, whatever kubelet is installed later. Nor does another kubelet help where each start
 * makes one.
 */
export function holdsOnAnyKubelet({ damage, anyKubelet }: Verdict): boolean {
  return damage === 'one-way' || anyKubelet === true
}

/** On that kubelet, or on any. */
export function findByKey(verdicts: Verdicts, key: TrialKey): Verdict | undefined {
  const isAlike = (verdict: Verdict) => contentOfKey(verdict.key) === contentOfKey(key)
  return verdicts.get(key) ?? [...verdicts.values()].find((verdict) => holdsOnAnyKubelet(verdict) && isAlike(verdict))
}

/** While nobody knows which kubelet is installed, a config that failed on any is not set free. */
export function findVerdict({ verdicts, proven }: Judged, content: ContentHash, unit: Kubelet): Verdict | undefined {
  const own = findByKey(verdicts, trialKey(content, unit.kubeletIdentity))
  if (own !== undefined || !unit.isKubeletUnread) return own
  const isProven = proven !== undefined && contentOfKey(proven) === content
  const mayBeOfThis = (verdict: Verdict) => isOfFailure(verdict) && (!isProven || verdict.key === proven)
  for (const verdict of verdicts.values()) if (contentOfKey(verdict.key) === content && mayBeOfThis(verdict)) return verdict
  return undefined
}

/** The verdict that is not in force while its config is tried again. */
export function findSuspended({ suspendedVerdicts }: { readonly suspendedVerdicts: Verdicts }, key: TrialKey): Verdict | undefined {
  return findByKey(suspendedVerdicts, key)
}

interface Remembered {
  readonly verdicts: Verdicts
  readonly suspendedVerdicts: Verdicts
}

/** The failure that a config is tried again after, also while preflight refuses it. */
export function findFormer({ verdicts, suspendedVerdicts }: Remembered, key: TrialKey): Verdict | undefined {
  const verdict = verdicts.get(key) ?? suspendedVerdicts.get(key)
  if (verdict?.state === 'provisional') return verdict
  const isOfAny = (each: Verdict) =>
    each.former !== undefined && holdsOnAnyKubelet(each.former) && contentOfKey(each.key) === contentOfKey(key)
  const { former } = verdict ?? [...verdicts.values()].find(isOfAny) ?? {}
  // Kubelet may be known by another name since.
  return former && { ...former, key }
}

/**
 * On the present kubelet. While the unit cannot be read, a verdict for any kubelet binary counts,
 * so that what is reported stays the same meanwhile.
 */
export function findPresentVerdict(snapshot: Judged & { readonly unit: UnitState }, content: ContentHash): Verdict | undefined {
  const { unit, verdicts } = snapshot
  if (unit.kind === 'known') return findVerdict(snapshot, content, unit)
  return [...verdicts.values()].find(({ key }) => contentOfKey(key) === content)
}

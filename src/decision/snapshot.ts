// SPDX-License-Identifier: Apache-2.0
/**
 * The Snapshot: everything that one decision needs, as data, read anew in each pass. Nothing here
 * does I/O.
 */

import type { EvidencePolicy, EvidenceRecord } from '../evidence/kinds.ts'
import type { HealthRecord } from '../health/fold.ts'
import type { HealthPolicy } from '../health/looks.ts'
import type { HealthSample, Running } from '../health/sample.ts'
import type { CheckpointInfo, ContentHash, HeldSource } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { UnitState } from '../subject/unit-state.ts'
import type { Instant } from '../values/durations.ts'
import type { ChannelState, Desired } from './desired.ts'
import type { FallbackName, RecordState, Requests, RestartRecord, SpreadRecord, TrialBoots } from './records.ts'
import type { RolloutKnowledge, Staging } from './staging-state.ts'
import type { Action } from './step.ts'
import type { Acceptance, Verdict } from './verdict.ts'

/**
 * The config that kubelet starts with next, as kubelet.env, the replaced file or the agent's
 * drop-in says.
 */
export type NextStart =
  | { readonly kind: 'known'; readonly held: HeldSource }
  /** The file names neither local nor a checkpoint, or cannot be read. `absent`: there is none. */
  | { readonly kind: 'unknown'; readonly detail: string; readonly absent?: boolean }

/** Whether a pod of the node has what a change of kubelet's managers may take from it. */
export type Exclusives =
  | { readonly kind: 'none' }
  | { readonly kind: 'held'; readonly by: string }
  | { readonly kind: 'unknown'; readonly why: string }

/** Everything that the next decision depends on, read anew in each pass. */
export interface Snapshot {
  readonly now: Instant
  readonly nodeName: string
  readonly policy: Policy
  readonly desired: Desired
  /** Content of the desired object, once it was found. */
  readonly desiredContent: ContentHash | undefined
  /**
   * Content that the disk has under the desired version. It differs after an etcd restore.
   * undefined: there is no whole checkpoint.
   */
  readonly storedContent: ContentHash | undefined
  /**
   * Where this node overlays the desired object: whether the checkpoint of the ConfigMap without
   * the overlay is on disk, with the same content or another. undefined: there is no overlay.
   */
  readonly storedUnrendered: 'missing' | 'same' | 'differs' | 'unreadable' | undefined
  readonly requests: Requests
  /**
   * The channel state that was written down last. A pause holds through an outage and a reboot, and
   * commands know it without an API server.
   */
  readonly recordedChannelState: ChannelState | undefined
  /**
   * The channel state on disk was damaged, and has not been written since: nobody knows what it
   * said.
   */
  readonly channelStateDamaged?: boolean | undefined
  /** The node's memory of configs that have a rollout. */
  readonly stagings: readonly Staging[]
  /** `stagings` were damaged, and have not been written since: any config may have a rollout. */
  readonly stagingsDamaged?: boolean | undefined
  /**
   * The record of the assigned config's rollout, as far as it is known. undefined: nothing is known
   * yet, or it has none.
   */
  readonly rollout?: RolloutKnowledge | undefined
  readonly assigned: RecordState
  readonly assignedContent: ContentHash | undefined
  readonly lastKnownGood: HeldSource
  readonly previous: HeldSource
  /**
   * The records of the two that are damaged. The two count as local, and any checkpoint may be the
   * one that they name. But what runs comes before local: `listFallback`.
   */
  readonly damagedFallbacks?: readonly FallbackName[] | undefined
  /** The configs that `meta/left` names. undefined: nothing is left, or the record is damaged. */
  readonly left?: readonly HeldSource[] | undefined
  /**
   * The record of `left` was damaged, and has not been written since: it may name any checkpoint.
   */
  readonly leftDamaged?: boolean | undefined
  /** As of `meta/left`. */
  readonly triedLocalConfig?: string | undefined
  /**
   * Hash of the local config, as far as a return to local asks for it. undefined: nothing asks, or
   * it is not known.
   */
  readonly localConfig?: string | undefined
  /**
   * The content that passed its trial last, on which kubelet. It may not be last-known-good yet.
   */
  readonly proven: TrialKey | undefined
  /** undefined: none was recorded since the last trial that ended. */
  readonly trialBoots?: TrialBoots | undefined
  /** The verdicts in force. */
  readonly verdicts: ReadonlyMap<TrialKey, Verdict>
  /** Suspended verdicts: the configs that they condemned are being tried again. */
  readonly suspendedVerdicts: ReadonlyMap<TrialKey, Verdict>
  readonly accepted: ReadonlyMap<TrialKey, Acceptance>
  /** Contents that preflight is still checking. */
  readonly preflightPending: ReadonlySet<TrialKey>
  /**
   * The basis of an acceptance or a refusal besides content and kubelet: the settings of preflight,
   * and the time. undefined: preflight is not available.
   */
  readonly basis: string | undefined
  /**
   * Why the kubelet on disk starts with no config, as preflight found out lately. undefined: that
   * is not known, or a kubelet like it has been healthy.
   */
  readonly cannotStart?: string | undefined
  /**
   * Whether only pods that belong to the node are left on it. undefined: not requested, or not
   * known.
   */
  readonly drained: boolean | undefined
  /** The first pod found that has something to lose. undefined: not requested, or not known yet. */
  readonly exclusives?: Exclusives | undefined
  readonly unit: UnitState
  readonly nextStart: NextStart
  readonly running: Running
  readonly health: HealthRecord | undefined
  /** The health of the latest sample. undefined also: kubelet has no process. */
  readonly healthz: HealthSample['healthz']
  /** undefined: nothing was asked in this boot. */
  readonly evidence: EvidenceRecord | undefined
  /** Whether the fallback's container runtime answered, in the latest sample. */
  readonly runtimeUp: boolean | undefined
  /** The next config names another runtime endpoint than the fallback, in the latest sample. */
  readonly changesRuntime?: boolean | undefined
  /** Who has a port for which kubelet exits, in the latest sample. */
  readonly portTaken?: string | undefined
  /**
   * Where the config that kubelet starts with next names another runtime endpoint than the
   * fallback: whether the runtime there answers. undefined: not known, not probed, or it names no
   * other.
   */
  readonly targetRuntimeUp?: boolean | undefined
  readonly restarts: readonly RestartRecord[]
  readonly spread: SpreadRecord | undefined
  readonly checkpoints: readonly CheckpointInfo[]
  /**
   * Steps that failed lately (disk, systemctl). They are reported, and tried again with backoff.
   * The latest comes last.
   */
  readonly troubles: readonly Trouble[]
}

/**
 * All of a Snapshot that says what should run. The evidence does not: by it a config fails or
 * passes, and only the verdict on that changes the target.
 */
export type Ground = Omit<Snapshot, 'evidence'>

/** The limits of the decision. The settings set them. Durations are microseconds. */
export interface Policy extends HealthPolicy {
  readonly whenRefused: WhenRefused
  readonly spreadUs: number
  readonly restartsPerHour: number
  readonly keepCheckpoints: number
  readonly evidence: EvidencePolicy
}

/**
 * The reaction where preflight refuses the assigned config while another one runs. `stay`: the
 * running config and its trial go on. `last-known-good`: the node returns to last-known-good at
 * once, as kubelet's own Dynamic Kubelet Configuration did.
 */
export const WHEN_REFUSED = ['stay', 'last-known-good'] as const
export type WhenRefused = (typeof WHEN_REFUSED)[number]

/** A step that could not be carried out. */
export interface Trouble {
  readonly step: Action['kind']
  /** Which source the step was about, where there are several. Empty otherwise. */
  readonly about: string
  readonly detail: string
  readonly retryAtUs: number
  /** When it failed first, without a success since. */
  readonly sinceUs?: number | undefined
}

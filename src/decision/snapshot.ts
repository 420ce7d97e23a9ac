/** The Snapshot: everything that one decision needs, as data, read anew in each pass. Nothing here does I/O. */
import type { CheckpointInfo, ContentHash, HeldSource } from './config-source.ts'
import type { ChannelState, Desired } from './desired.ts'
import type { HealthRecord, Running } from './health.ts'
import type { Instant } from './instant.ts'
import type { Policy } from './policy.ts'
import type { RecordState, Requests, RestartRecord, SpreadRecord } from './records.ts'
import type { TrialKey } from './trial-key.ts'
import type { UnitState } from './unit-state.ts'
import type { Acceptance, Verdict } from './verdict.ts'

/** What kubelet will start with next: kubelet.env, or the replaced file. */
export type NextStart =
  | { readonly kind: 'known'; readonly held: HeldSource }
  /** Names something that is neither local nor one of our checkpoints, or cannot be read. */
  | { readonly kind: 'unknown'; readonly detail: string }

/** Everything that matters for the next decision, read afresh at each pass. */
export interface Snapshot {
  readonly now: Instant
  readonly nodeName: string
  readonly policy: Policy
  readonly desired: Desired
  /** Content of what is desired, when its object was found. */
  readonly desiredContent: ContentHash | undefined
  /** Content that the checkpoint of this version has on disk: another one after a restored etcd. undefined: there is none, or it is not whole. */
  readonly storedContent: ContentHash | undefined
  /**
   * Where the desired object is overlaid on this node: whether the checkpoint of the ConfigMap as the cluster has it is on disk, with the
   * same content or another. undefined: nothing is overlaid.
   */
  readonly storedUnrendered: 'missing' | 'same' | 'differs' | undefined
  readonly requests: Requests
  /** What was heard last and written down: a pause holds over an outage and a reboot, and commands know it without an API server. */
  readonly recordedChannelState: ChannelState | undefined
  readonly assigned: RecordState
  readonly assignedContent: ContentHash | undefined
  readonly lastKnownGood: HeldSource
  readonly previous: HeldSource
  /** The content and kubelet for which the last-known-good was proved by a whole trial. */
  readonly proven: TrialKey | undefined
  readonly verdicts: ReadonlyMap<TrialKey, Verdict>
  readonly accepted: ReadonlyMap<TrialKey, Acceptance>
  /** What preflight is still at. */
  readonly preflightPending: ReadonlySet<TrialKey>
  /** What a judgement rests on besides content and kubelet: the settings of preflight, and the time. undefined: nobody here can judge. */
  readonly basis: string | undefined
  /** Whether nothing but what belongs to the node is left on it. undefined: not asked, or not to be told. */
  readonly drained: boolean | undefined
  readonly unit: UnitState
  readonly nextStart: NextStart
  readonly running: Running
  readonly health: HealthRecord | undefined
  /** Of the latest sample. */
  readonly runtimeUp: boolean | undefined
  readonly restarts: readonly RestartRecord[]
  readonly spread: SpreadRecord | undefined
  readonly checkpoints: readonly CheckpointInfo[]
  /** Steps that failed lately (disk, systemctl), so that they are tried again with backoff and reported. The latest comes last. */
  readonly troubles: readonly Trouble[]
}

/** A step that could not be carried out. */
export interface Trouble {
  /** A Step's kind. */
  readonly step: string
  /** Which source it was about, where there is a choice; empty otherwise. */
  readonly about: string
  readonly detail: string
  readonly retryAtUs: number
}

/**
 * The words of the agent as types: sources, records, verdicts, what systemd says of kubelet, and the Snapshot that one pass
 * of the loop decides on. Data only; nothing here does I/O or reads a clock.
 *
 * Upstream: `NodeConfigSource` and `NodeConfigStatus` in Kubernetes 1.20 `k8s.io/api/core/v1`.
 */

import type { Desired, Heard } from './desired.ts'
import type { UnitState } from './unit-state.ts'

export type { KubeletProcess, UnitActivity, UnitState, Wiring, WiringProblem } from './unit-state.ts'

/** A ConfigMap key as a Node's `spec.configSource.configMap` names it: without a version. */
export interface ConfigMapRef {
  readonly namespace: string
  readonly name: string
  readonly kubeletConfigKey: string
}

/** A ConfigMap key resolved to one version; what `meta/assigned` holds and what the Node status reports. */
export interface ConfigMapSource extends ConfigMapRef {
  readonly uid: string
  /** Opaque: compared for equality, never ordered. */
  readonly resourceVersion: string
  /** A hash of what this node's overlay makes of it for this key, which is a version of its own. Absent: kubelet gets the ConfigMap's own bytes. */
  readonly overlay?: string | undefined
}

/** Where a kubelet's config comes from. `local` is what kubelet was provisioned with. */
export type ConfigSource = 'local' | ConfigMapSource

/** `data` of a ConfigMap: file name to text. `binaryData` is ignored, as upstream does. */
export type ConfigMapData = Readonly<Record<string, string>>

/** One reading of the clocks. Durations are always differences of `monotonicUs` within one `bootId`. */
export interface Instant {
  readonly bootId: string
  /** CLOCK_MONOTONIC, microseconds: the clock of systemd's `*Monotonic` properties. */
  readonly monotonicUs: number
  /** CLOCK_REALTIME, milliseconds: for people (history, events), never for deciding. */
  readonly wallMs: number
}

/** A record under `meta/`. `damaged`: was unreadable and has been set aside; its meaning is unknown. */
export type RecordState = { readonly kind: 'source'; readonly source: ConfigSource } | { readonly kind: 'damaged'; readonly detail: string }

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

/** Hash of (all files of a checkpoint, key) plus identity of kubelet's binary and flags. */
export type TrialKey = string
/** SHA-256, hex, of (all files of a checkpoint, key). Local is LOCAL_CONTENT, whatever its file holds: it is the administrator's. */
export type ContentHash = string
export const LOCAL_CONTENT: ContentHash = 'local'

/** A source together with what is on disk for it. */
export interface HeldSource {
  readonly source: ConfigSource
  /** undefined: the checkpoint is missing or incomplete. Local always has content. */
  readonly content: ContentHash | undefined
  /** It is not known to be lost: the disk does not give it up. It cannot be used, but nothing is written down for it. */
  readonly unreadable?: boolean
}

/** What an operator asked for on the node: files under `requests/`. */
export type Hold = 'none' | 'paused' | 'local'
export interface Requests {
  readonly hold: Hold
  /** Roll back this content, if it is still the target. */
  readonly rollback: { readonly content: ContentHash } | undefined
  readonly retry: boolean
}

/** What kubelet will start with next: kubelet.env, or the replaced file. */
export type NextStart =
  | { readonly kind: 'known'; readonly held: HeldSource }
  /** Names something that is neither local nor one of our checkpoints, or cannot be read. */
  | { readonly kind: 'unknown'; readonly detail: string }

/** What runs now, as content. `none`: no kubelet process. */
export type Running =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly detail: string }
  | {
      readonly kind: 'known'
      readonly content: ContentHash
      /** Content and the kubelet the process was started as: an upgrade on disk does not change what runs. */
      readonly key: TrialKey
      readonly startedAtUs: number
      readonly invocationId: string
    }

/** One look at kubelet's health. `unknown` never counts as healthy. */
export interface HealthSample {
  readonly at: Instant
  readonly unit: UnitState
  readonly running: Running
  /** undefined: no health port, systemd's word alone counts. */
  readonly healthz: { readonly ok: boolean; readonly detail: string } | undefined
  /** Whether the container runtime's socket, as the fallback knows it, accepts connections. undefined: not known, or not asked. */
  readonly runtimeUp: boolean | undefined
}

/** Health over time, folded from samples; kept in /run so that a restarted agent neither forgets nor assumes. */
export interface HealthRecord {
  readonly bootId: string
  /** What this record is about: content that kubelet starts with next, on this kubelet. */
  readonly subject: TrialKey
  readonly subjectSinceUs: number
  /** Processes started since then. */
  readonly starts: number
  /** A process with the subject's content has been seen, or asked for by a restart. Exits before that are not the subject's. */
  readonly started: boolean
  readonly invocationId: string
  /** The process of this InvocationID has been healthy at least once. */
  readonly wasHealthy: boolean
  /** A process with the subject's content has been healthy since the subject changed or a restart was asked for. */
  readonly everHealthy: boolean
  readonly healthySinceUs: number | undefined
  readonly unhealthySinceUs: number | undefined
  readonly lastSampleUs: number
  /** kubelet has been down since the container runtime refused connections: even if that is back, systemd gave up for its sake. */
  readonly excused: boolean
  /** Unrequested exits charged to the subject. */
  readonly exits: number
  readonly lastNRestarts: number
  /** The last process seen, by InvocationID: what a process runs is fixed when it is first seen. */
  readonly lastProcess: SeenProcess | undefined
  readonly lastDetail: string
}

export interface SeenProcess {
  readonly invocationId: string
  readonly content: ContentHash
  readonly kubeletIdentity: string
  /** As the records called it when it was first seen: they move on before it ends. undefined: they did not know it. */
  readonly source?: ConfigSource | undefined
}

/** A restart of kubelet that was asked for: recorded before it is asked. Kept in /run: a reboot restarts kubelet anyway. */
export interface RestartRecord {
  readonly bootId: string
  readonly atUs: number
  readonly target: TrialKey
  readonly fallback: boolean
  /** InvocationID of the unit before the restart: a process started after has another one. */
  readonly invocationBefore: string
  /** systemd had given the unit up: it is reset, which makes it look stopped by a person, and then started. */
  readonly failed: boolean
  /** undefined: asked, no answer yet. */
  readonly outcome: { readonly ok: boolean; readonly detail: string } | undefined
}

/** When an assignment that differs only in version was first seen: the start of its spread. */
export interface SpreadRecord {
  readonly bootId: string
  readonly source: ConfigMapSource
  readonly sinceUs: number
}

/** The agent's limits: see settings for their defaults. Microseconds. */
export interface Policy {
  readonly trialUs: number
  readonly startDeadlineUs: number
  readonly toleranceUs: number
  readonly crashLimit: number
  readonly spreadUs: number
  readonly restartsPerHour: number
  readonly keepCheckpoints: number
}

/** One transition, for people: what `history` shows and what events are made of. Appended before its effect. */
export interface Transition {
  /** Nanoseconds since 1970, decimal: unique and increasing within one history; names the event. */
  readonly atNs: string
  readonly kind: TransitionKind
  readonly from: ConfigSource | undefined
  readonly to: ConfigSource | undefined
  readonly why: string
}
export type TransitionKind =
  /** meta/assigned moved. */
  | 'assigned'
  /** kubelet is being restarted to use `to`. */
  | 'restarting'
  | 'promoted'
  /** preflight refused `from`. */
  | 'rejected'
  /** `from` failed on the running kubelet (or a person said so); `to` is next. */
  | 'rolled-back'
  /** verdicts were dropped: by a person, or because the node and not the config was at fault. */
  | 'retrying'
  /** damaged or foreign state was set aside. */
  | 'set-aside'

export interface CheckpointInfo {
  readonly uid: string
  readonly resourceVersion: string
  /** Of a rendering. */
  readonly overlay?: string | undefined
  readonly savedAtMs: number
}

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
  readonly requests: Requests
  /** What was heard last and written down: a pause holds over an outage and a reboot, and commands know it without an API server. */
  readonly heard: Heard | undefined
  readonly assigned: RecordState
  readonly assignedContent: ContentHash | undefined
  readonly lastKnownGood: HeldSource
  readonly previous: HeldSource
  /** The content and kubelet for which the last-known-good was proved by a whole trial. */
  readonly proven: TrialKey | undefined
  readonly verdicts: ReadonlyMap<TrialKey, Verdict>
  readonly accepted: ReadonlyMap<TrialKey, Acceptance>
  /** What preflight is still at. */
  readonly judging: ReadonlySet<TrialKey>
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

/** What runs, and how it has been doing, as data. `health-record.ts` folds one into the other. */
import type { ConfigSource, ContentHash } from './config-source.ts'
import type { Instant } from './instant.ts'
import type { TrialKey } from './trial-key.ts'
import type { UnitState } from './unit-state.ts'

/** What runs now, as content. `none`: no kubelet process. */
export type Running =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly detail: string }
  | {
      readonly kind: 'known'
      readonly content: ContentHash
      /**
       * Content and the kubelet that the process was started as. An upgrade on disk does not change
       * what runs.
       */
      readonly key: TrialKey
      readonly startedAtUs: number
      readonly invocationId: string
      /**
       * The checkpoint that it was started with is gone, or the disk does not return it: kubelet
       * runs on, and could not be started with it again.
       */
      readonly lost?: true
    }

/** One look at kubelet's health. `unknown` never counts as healthy. */
export interface HealthSample {
  readonly at: Instant
  readonly unit: UnitState
  readonly running: Running
  /** undefined: kubelet has no health port. Then only systemd's state counts. */
  readonly healthz: { readonly ok: boolean; readonly detail: string } | undefined
  /**
   * Whether the socket of the container runtime, as the fallback config names it, accepts
   * connections. undefined: not known, or not probed.
   */
  readonly runtimeUp: boolean | undefined
}

/**
 * Health over time, folded from samples. Kept in /run, so that a restarted agent neither forgets
 * nor assumes anything.
 */
export interface HealthRecord {
  readonly bootId: string
  /** What this record is about: the content that kubelet starts with next, on this kubelet. */
  readonly subject: TrialKey
  readonly subjectSinceUs: number
  /** Processes started since then. */
  readonly starts: number
  /**
   * A process with the subject's content has been seen, or a restart into it was requested. Earlier
   * exits are not charged to the subject.
   */
  readonly started: boolean
  readonly invocationId: string
  /** The process with this InvocationID has been healthy at least once. */
  readonly wasHealthy: boolean
  /**
   * A process with the subject's content has been healthy since the subject changed or a restart
   * was requested.
   */
  readonly everHealthy: boolean
  readonly healthySinceUs: number | undefined
  readonly unhealthySinceUs: number | undefined
  readonly lastSampleUs: number
  /**
   * Kubelet went down while the container runtime refused connections, and has not run since.
   * Systemd may give up kubelet for that reason alone.
   */
  readonly excused: boolean
  /** Unrequested exits that are charged to the subject. */
  readonly exits: number
  readonly lastNRestarts: number
  /**
   * The last process seen, by InvocationID. What a process runs is recorded when the process is
   * first seen.
   */
  readonly lastProcess: SeenProcess | undefined
  readonly lastDetail: string
}

export interface SeenProcess {
  readonly invocationId: string
  readonly content: ContentHash
  readonly kubeletIdentity: string
  /**
   * The source, as the records named it when the process was first seen: they may change before it
   * ends. undefined: no record named it.
   */
  readonly source?: ConfigSource | undefined
}

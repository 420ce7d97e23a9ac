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

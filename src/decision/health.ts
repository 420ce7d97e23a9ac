/** What runs, and how it has been doing, as data. `health-record.ts` folds one into the other. */

import type { Instant } from '../values/durations.ts'
import type { ConfigSource, ContentHash } from './config-source.ts'
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
       * The checkpoint that it was started with is gone, holds other content by now, or the disk
       * does not return it: kubelet runs on, and could not be started with it again.
       */
      readonly lost?: true
    }

/** Where kubelet answers `/healthz`, as its config file says. `none`: it has no health port. */
export type HealthPort = { readonly host: string; readonly port: number } | 'none'

/**
 * undefined: kubelet has no health port, and only systemd's state counts. `unknown`: nobody knows
 * what to ask, or it was not kubelet that answered.
 */
export type HealthAnswer =
  | {
      readonly ok: boolean | 'unknown'
      readonly detail: string
      /** Nobody was asked. */
      readonly isUnasked?: true
      /**
       * Another account has the port, or a process that does not listen there. That is no failure
       * of a config, unless the config moved kubelet there.
       */
      readonly isStrangers?: true
      /** Why it is not known whether kubelet answered. It counts all the same. */
      readonly unverified?: string
    }
  | undefined

/** Of the file that kubelet was started with, or a drop-in, nothing was ever read without doubt. */
export const PORT_NOT_KNOWN = {
  ok: 'unknown',
  isUnasked: true,
  detail: 'its health port is not known, since the config that it was started with is gone or replaced, or kubelet may read it differently',
} as const

/** One look at kubelet's health. `unknown` never counts as healthy. */
export interface HealthSample {
  readonly at: Instant
  readonly unit: UnitState
  readonly running: Running
  readonly healthz: HealthAnswer
  /**
   * Whether the container runtime that the fallback config names answers. undefined: not known, or
   * not probed.
   */
  readonly runtimeUp: boolean | undefined
  /**
   * The config that kubelet starts with next names another runtime endpoint than the fallback does.
   * Then the fallback's runtime excuses nothing.
   */
  readonly changesRuntime?: boolean | undefined
  /** Who has a port for which kubelet exits. No config is to blame as long as that lasts. */
  readonly portTaken?: string | undefined
}

/** The exits that the container runtime excused. */
export interface ExcusedExits {
  readonly count: number
  /** When the first of them was seen. */
  readonly sinceUs: number
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
  /**
   * Since when it has been about this content, on whatever kubelet. undefined: an agent recorded it
   * that did not record this.
   */
  readonly contentSinceUs?: number | undefined
  /** Processes started since then. */
  readonly starts: number
  /**
   * A process with the subject's content has been seen, or a restart into it was requested. Earlier
   * exits are not charged to the subject.
   */
  readonly started: boolean
  /**
   * When `started` became true. undefined: it is false, or an agent recorded it that did not record
   * this.
   */
  readonly startedSinceUs?: number | undefined
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
  /**
   * At some time since then, somebody else had the port to which the config moved kubelet. Only
   * they know when they let go of it.
   */
  readonly strangerHadPort?: boolean | undefined
  readonly lastSampleUs: number
  /**
   * How many of the latest looks came late, since looks in time covered a whole tolerance.
   * undefined: none.
   */
  readonly lateLooks?: number | undefined
  /** When the last of them was. */
  readonly lastLateUs?: number | undefined
  /** When systemd is to restart kubelet, which waited for that at the last look. */
  readonly restartsAtUs?: number | undefined
  /**
   * Kubelet went down while the container runtime did not answer, and has not run since. Systemd
   * may give up kubelet for that reason alone.
   */
  readonly excused: boolean
  /**
   * The container runtime did not answer when this invocation was first seen, or a look before. It
   * has not been healthy since.
   */
  readonly beganExcused?: boolean | undefined
  /** Since when the container runtime has not answered, as far as it was probed. */
  readonly runtimeDownSinceUs?: number | undefined
  /** Unrequested exits that are charged to the subject. */
  readonly exits: number
  /**
   * Unrequested exits that a pause keeps from being charged, since the subject last ran for a whole
   * trial. For reports alone. undefined: none, or there is no pause.
   */
  readonly pausedExits?: number | undefined
  /** Since the subject ran for a whole trial, an operator paused the agent, or all was forgiven. */
  readonly excusedExits?: ExcusedExits | undefined
  readonly lastNRestarts: number
  /** NRestarts when the invocation was first seen. */
  readonly firstNRestarts?: number | undefined
  /**
   * The invocation that systemd ended for a unit that it was bound to. Only as long as that unit
   * does nothing more do its own times tell.
   */
  readonly takenDownOf?: string | undefined
  /**
   * The invocation whose process a look found ended. That exit is judged, and is not judged again
   * when systemd counts it.
   */
  readonly exitSeenOf?: string | undefined
  /**
   * The last process seen, by InvocationID. What a process runs is recorded when the process is
   * first seen.
   */
  readonly lastProcess: SeenProcess | undefined
  /** Of the process that runs, or ran last, whatever kubelet starts with next. */
  readonly process?: ProcessHealth | undefined
  /** The latest exits that nothing excuses, of any content. The last one comes last. */
  readonly recentExits?: readonly KubeletExit[] | undefined
  /**
   * The invocation that ran, or had run last, when a restart was requested. While the unit shows no
   * other, its state is still that of before.
   */
  readonly restartedFrom?: string | undefined
  /**
   * Until then, a process that systemd has not started by itself is taken for the one of the
   * restart that was requested. Systemd may restart a kubelet that exited a moment before it takes
   * the request. undefined: it has been seen, systemd refused it, or none was requested.
   */
  readonly restartDueUntilUs?: number | undefined
  /**
   * Somebody else started kubelet since the subject changed: a boot, or an operator. That alone may
   * have cured what another config failed with.
   */
  readonly startedByOthers?: boolean | undefined
  /**
   * When kubelet was restarted once more with the subject, which had failed but had proved itself.
   */
  readonly triedAgainUs?: number | undefined
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
  /**
   * As its config file said while it held what the process was started with. undefined: not known,
   * or recorded by an agent that did not record it.
   */
  readonly healthPort?: HealthPort | undefined
}

/** What is not known is no failure. */
export function isFailing(healthz: HealthAnswer): boolean {
  return healthz?.ok === false
}

/** Somebody else has kubelet's health port. */
export function isStrangers(healthz: HealthAnswer): healthz is NonNullable<HealthAnswer> {
  return healthz?.isStrangers === true
}

/**
 * For how long a process has been healthy without a break. Health that began before it started is
 * not its own.
 *
 * @returns less than any time if it is not healthy
 */
export function healthyForUs(healthySinceUs: number | undefined, startedAtUs: number, nowUs: number): number {
  return healthySinceUs === undefined ? Number.NEGATIVE_INFINITY : nowUs - Math.max(healthySinceUs, startedAtUs)
}

/**
 * The health of the processes that run one content on one kubelet, from the first of them without
 * another in between.
 */
export interface ProcessHealth {
  readonly key: TrialKey
  /** Of the last of them. */
  readonly invocationId: string
  readonly startedAtUs: number
  readonly wasHealthy: boolean
  readonly healthySinceUs: number | undefined
  readonly unhealthySinceUs: number | undefined
  /** Unrequested exits since it last ran for a whole trial, or while nobody looked. */
  readonly exits: number
  /**
   * A person or a boot started it, or started the process that systemd has restarted since. Unlike
   * the same of the record, this outlasts a change of what kubelet starts with next.
   */
  readonly startedByOthers?: boolean | undefined
}

/** One exit of kubelet that was not requested. */
export interface KubeletExit {
  /** The content and kubelet that it is charged to. */
  readonly key: TrialKey
  /** Empty where the process came and went between two samples. */
  readonly invocationId: string
  /** undefined: not known. */
  readonly startedAtUs?: number | undefined
  /** When it was noticed. */
  readonly atUs: number
  /** For how long kubelet has started with other configs since then. */
  readonly awayUs?: number | undefined
  /** What kubelet said last. undefined: the journal could not be read, or has not been yet. */
  readonly words?: string | undefined
  /** The signal that ended it. undefined: it exited by itself, or how it ended is not known. */
  readonly killedBy?: string | undefined
}

/** What runs, and how it has been doing, as data. `health-record.ts` folds one into the other. */

import type { Instant } from '../values/durations.ts'
import { anyOf, isFlag, isNumber, isText, listOf, oneOf, optional, orUndefined, shape, type TypeOf } from '../values/json-shape.ts'
import { type ContentHash, isConfigSource, isContentHash } from './config-source.ts'
import { isTrialKey, type TrialKey } from './trial-key.ts'
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
const isHealthPort = anyOf(oneOf('none'), shape({ host: isText, port: isNumber }))
export type HealthPort = TypeOf<typeof isHealthPort>

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
const isExcusedExits = shape({
  count: isNumber,
  /** When the first of them was seen. */
  sinceUs: isNumber,
})
export type ExcusedExits = TypeOf<typeof isExcusedExits>

const isSeenProcess = shape({
  invocationId: isText,
  content: isContentHash,
  kubeletIdentity: isText,
  /**
   * The source, as the records named it when the process was first seen: they may change before it
   * ends. undefined: no record named it.
   */
  source: optional(isConfigSource),
  /**
   * As its config file said while it held what the process was started with. undefined: not known,
   * or recorded by an agent that did not record it.
   */
  healthPort: optional(isHealthPort),
})
export type SeenProcess = TypeOf<typeof isSeenProcess>

/**
 * The health of the processes that run one content on one kubelet, from the first of them without
 * another in between.
 */
const isProcessHealth = shape({
  key: isTrialKey,
  /** Of the last of them. */
  invocationId: isText,
  startedAtUs: isNumber,
  wasHealthy: isFlag,
  healthySinceUs: orUndefined(isNumber),
  unhealthySinceUs: orUndefined(isNumber),
  /** Unrequested exits since it last ran for a whole trial, or while nobody looked. */
  exits: isNumber,
  /**
   * A person or a boot started it, or started the process that systemd has restarted since. Unlike
   * the same of the record, this outlasts a change of what kubelet starts with next.
   */
  startedByOthers: optional(isFlag),
})
export type ProcessHealth = TypeOf<typeof isProcessHealth>

/** One exit of kubelet that was not requested. */
const isKubeletExit = shape({
  /** The content and kubelet that it is charged to. */
  key: isTrialKey,
  /** Empty where the process came and went between two samples. */
  invocationId: isText,
  /** undefined: not known. */
  startedAtUs: optional(isNumber),
  /** When it was noticed. */
  atUs: isNumber,
  /** For how long kubelet has started with other configs since then. */
  awayUs: optional(isNumber),
  /** What kubelet said last. undefined: the journal could not be read, or has not been yet. */
  words: optional(isText),
  /** The signal that ended it. undefined: it exited by itself, or how it ended is not known. */
  killedBy: optional(isText),
})
export type KubeletExit = TypeOf<typeof isKubeletExit>

/**
 * Health over time, folded from samples. Kept in /run, so that a restarted agent neither forgets
 * nor assumes anything.
 */
export const isHealthRecord = shape({
  bootId: isText,
  /** What this record is about: the content that kubelet starts with next, on this kubelet. */
  subject: isTrialKey,
  subjectSinceUs: isNumber,
  /**
   * Since when it has been about this content, on whatever kubelet. undefined: an agent recorded it
   * that did not record this.
   */
  contentSinceUs: optional(isNumber),
  /** Processes started since then. */
  starts: isNumber,
  /**
   * A process with the subject's content has been seen, or a restart into it was requested. Earlier
   * exits are not charged to the subject.
   */
  started: isFlag,
  /**
   * When `started` became true. undefined: it is false, or an agent recorded it that did not record
   * this.
   */
  startedSinceUs: optional(isNumber),
  invocationId: isText,
  /** The process with this InvocationID has been healthy at least once. */
  wasHealthy: isFlag,
  /**
   * A process with the subject's content has been healthy since the subject changed or a restart
   * was requested.
   */
  everHealthy: isFlag,
  healthySinceUs: orUndefined(isNumber),
  unhealthySinceUs: orUndefined(isNumber),
  /**
   * At some time since then, somebody else had the port to which the config moved kubelet. Only
   * they know when they let go of it.
   */
  strangerHadPort: optional(isFlag),
  lastSampleUs: isNumber,
  /**
   * How many of the latest looks came late, since looks in time covered a whole tolerance.
   * undefined: none.
   */
  lateLooks: optional(isNumber),
  /** When the last of them was. */
  lastLateUs: optional(isNumber),
  /** When systemd is to restart kubelet, which waited for that at the last look. */
  restartsAtUs: optional(isNumber),
  /**
   * Kubelet went down while the container runtime did not answer, and has not run since. Systemd
   * may give up kubelet for that reason alone.
   */
  excused: isFlag,
  /**
   * The container runtime did not answer when this invocation was first seen, or a look before. It
   * has not been healthy since.
   */
  beganExcused: optional(isFlag),
  /** Since when the container runtime has not answered, as far as it was probed. */
  runtimeDownSinceUs: optional(isNumber),
  /** Unrequested exits that are charged to the subject. */
  exits: isNumber,
  /**
   * Unrequested exits that a pause keeps from being charged, since the subject last ran for a whole
   * trial. For reports alone. undefined: none, or there is no pause.
   */
  pausedExits: optional(isNumber),
  /** Since the subject ran for a whole trial, an operator paused the agent, or all was forgiven. */
  excusedExits: optional(isExcusedExits),
  lastNRestarts: isNumber,
  /** NRestarts when the invocation was first seen. */
  firstNRestarts: optional(isNumber),
  /**
   * The invocation that systemd ended for a unit that it was bound to. Only as long as that unit
   * does nothing more do its own times tell.
   */
  takenDownOf: optional(isText),
  /**
   * The invocation whose process a look found ended. That exit is judged, and is not judged again
   * when systemd counts it.
   */
  exitSeenOf: optional(isText),
  /**
   * The last process seen, by InvocationID. What a process runs is recorded when the process is
   * first seen.
   */
  lastProcess: orUndefined(isSeenProcess),
  /** Of the process that runs, or ran last, whatever kubelet starts with next. */
  process: optional(isProcessHealth),
  /** The latest exits that nothing excuses, of any content. The last one comes last. */
  recentExits: optional(listOf(isKubeletExit)),
  /**
   * The invocation that ran, or had run last, when a restart was requested. While the unit shows no
   * other, its state is still that of before.
   */
  restartedFrom: optional(isText),
  /**
   * Until then, a process that systemd has not started by itself is taken for the one of the
   * restart that was requested. Systemd may restart a kubelet that exited a moment before it takes
   * the request. undefined: it has been seen, systemd refused it, or none was requested.
   */
  restartDueUntilUs: optional(isNumber),
  /**
   * Somebody else started kubelet since the subject changed: a boot, or an operator. That alone may
   * have cured what another config failed with.
   */
  startedByOthers: optional(isFlag),
  /**
   * When kubelet was restarted once more with the subject, which had failed but had proved itself.
   */
  triedAgainUs: optional(isNumber),
  lastDetail: isText,
})
export type HealthRecord = TypeOf<typeof isHealthRecord>

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

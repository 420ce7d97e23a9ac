// SPDX-License-Identifier: Apache-2.0
/** One look at kubelet, and its meaning for the config that kubelet starts with next. Pure. */
import type { ContentHash } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit, UnitActivity, UnitState } from '../subject/unit-state.ts'
import type { Instant } from '../values/durations.ts'

/** The content that runs now. `none`: no kubelet process. */
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

/**
 * The answer where the file that kubelet was started with, or a drop-in, was never read without
 * doubt.
 */
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

/** Health that is not known is no failure. */
export function isFailing(healthz: HealthAnswer): boolean {
  return healthz?.ok === false
}

/** Somebody else has kubelet's health port. */
export function isStrangers(healthz: HealthAnswer): healthz is NonNullable<HealthAnswer> {
  return healthz?.isStrangers === true
}

/**
 * The health that a look shows. Rule 28: kubelet is ill while it is down without anybody's doing,
 * or runs and is not healthy. `unclear`: neither health nor illness, but exits count. `excused`:
 * the config is not the cause, so nothing is charged to it.
 */
export type SampleHealth = 'healthy' | 'ill' | 'unclear' | 'excused'

interface SampleContext {
  /** Kubelet was started with the config, or with it once more. */
  readonly hasBegun: boolean
  readonly runsSubject: boolean
  /** The container runtime excuses it. */
  readonly isExcused: boolean
}

export function classifySample(sample: HealthSample, { hasBegun, runsSubject, isExcused }: SampleContext): SampleHealth {
  const { unit, running } = sample
  if (unit.kind === 'unknown' || !hasBegun) return 'excused'
  switch (unit.activity) {
    case 'stopped':
    case 'stopping':
    case 'not-found':
      return 'excused'
    case 'running':
      // Rule 26: a kubelet without a health port is healthy while it runs.
      if (runsSubject && sample.healthz?.ok !== 'unknown' && !isFailing(sample.healthz)) return 'healthy'
      // Another content runs: a restart is due, or had no effect. Neither is the subject's illness.
      if (running.kind === 'known' && !runsSubject) return 'excused'
      // Health that cannot be read is unknown: no health, and no illness.
      if (running.kind === 'unknown' || sample.healthz?.ok === 'unknown') return 'unclear'
      return isExcused ? 'excused' : 'ill'
    // The time of its wait in the queue is no doing of the config: the agent makes it wait itself.
    // Exits before that count.
    case 'queued':
    case 'exited':
    case 'left-down':
      return isExcused ? 'excused' : 'unclear'
    case 'starting':
    case 'auto-restart':
    case 'failed':
      return isExcused ? 'excused' : 'ill'
  }
}

/** Kubelet does not run, and systemd has not been told to leave it so. */
export function isDown(activity: UnitActivity): boolean {
  return needsStart(activity) || activity === 'auto-restart' || activity === 'starting' || activity === 'queued'
}

/** Whether kubelet's process has exited by itself. */
export function hasEnded(activity: UnitActivity): boolean {
  return activity === 'failed' || activity === 'exited' || activity === 'auto-restart'
}

/**
 * Systemd has not executed kubelet in this start of the unit, or not yet: `ExecStartPre=` comes
 * before it, and what it needs may be missing, such as its `EnvironmentFile=`. Measured with
 * systemd 247, 252 and 257.
 */
export function isUnexecuted({ startedAtUs, invocationId }: KnownUnit): boolean {
  return startedAtUs === 0 && invocationId !== ''
}

/** The start is over, and systemd never executed kubelet, whatever kept it from that. */
export function hasEndedUnexecuted(unit: KnownUnit): boolean {
  return isUnexecuted(unit) && hasEnded(unit.activity)
}

/** For messages. */
export const WHY_UNEXECUTED = 'systemd does not execute it: what its unit needs or runs before it, such as ExecStartPre=, fails or hangs'

/** Systemd does not start it again, and nobody has told it so. */
export function needsStart(activity: UnitActivity): boolean {
  return activity === 'failed' || activity === 'exited' || activity === 'left-down'
}

export function describeSample({ unit, healthz, runtimeUp, portTaken }: HealthSample): string {
  const summary = unit.kind === 'known' ? unit.summary : unit.detail
  const answer = healthz === undefined ? '' : `, ${healthz.ok === 'unknown' ? '' : 'healthz '}${healthz.detail}`
  const taken = portTaken === undefined ? '' : `, ${portTaken}`
  return `${summary}${answer}${runtimeUp === false ? ', container runtime does not answer' : ''}${taken}`
}

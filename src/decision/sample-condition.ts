/** What one look at kubelet says of the config that it starts with next. Pure. */
import { type HealthSample, isFailing } from './health.ts'
import type { UnitActivity } from './unit-state.ts'

/**
 * `unclear`: neither health nor illness, but exits count. `excused`: the config is not the cause,
 * so nothing is charged to it.
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
      if (runsSubject && sample.healthz?.ok !== 'unknown' && !isFailing(sample.healthz)) return 'healthy'
      // Another content runs: a restart is due, or had no effect. Neither is the subject's illness.
      if (running.kind === 'known' && !runsSubject) return 'excused'
      // What cannot be read is unknown: no health, and no illness.
      if (running.kind === 'unknown' || sample.healthz?.ok === 'unknown') return 'unclear'
      return isExcused ? 'excused' : 'ill'
    // How long it waits there is no doing of the config: the agent makes it wait itself. Exits
    // before it count.
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

/** Its process has exited by itself. */
export function hasEnded(activity: UnitActivity): boolean {
  return activity === 'failed' || activity === 'exited' || activity === 'auto-restart'
}

/** Systemd does not start it again, and nobody has told it so. */
export function needsStart(activity: UnitActivity): boolean {
  return activity === 'failed' || activity === 'exited' || activity === 'left-down'
}

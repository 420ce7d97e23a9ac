/**
 * Whether the running kubelet has stayed up long enough for its config to be reported as ready:
 * otherwise a kubelet that exits soon after each start would be reported as ready at every other
 * look. Pure. Uses the health of this process if it is known, and else the age of the process.
 */
import type { Snapshot } from '../decision/snapshot.ts'

export type Steadiness = 'steady' | 'starting' | 'unhealthy'

const STEADY_US = 10e6

export function findSteadiness({ now, running, health, healthz, policy }: Snapshot): Steadiness {
  if (running.kind !== 'known') return 'starting'
  // Never longer than a trial, however short trials are configured to be.
  const steadyUs = Math.min(STEADY_US, policy.trialUs)
  const isYoung = now.monotonicUs - running.startedAtUs < steadyUs
  const isKnown = health?.subject === running.key && health.invocationId === running.invocationId && healthz?.ok !== 'unknown'
  if (isKnown && health.healthySinceUs === undefined) return isYoung ? 'starting' : 'unhealthy'
  return isYoung ? 'starting' : 'steady'
}

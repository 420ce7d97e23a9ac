/**
 * Whether the kubelet that runs has held on for a moment, so that what it runs may be called ready: one that exits soon after each start would be
 * ready at every other look. Pure. Its health counts where it is known of just this process; of one that nobody could ask, its age does.
 */
import type { Snapshot } from '../decision/snapshot.ts'

export type Steadiness = 'steady' | 'starting' | 'unhealthy'

const STEADY_US = 10e6

export function findSteadiness({ now, running, health, policy }: Snapshot): Steadiness {
  if (running.kind !== 'known') return 'starting'
  // What has passed a trial has held on for long enough, however short trials are here.
  const steadyUs = Math.min(STEADY_US, policy.trialUs)
  const isYoung = now.monotonicUs - running.startedAtUs < steadyUs
  const isAbout = health?.subject === running.key && health.invocationId === running.invocationId
  if (isAbout && health.healthySinceUs === undefined) return isYoung ? 'starting' : 'unhealthy'
  return isYoung ? 'starting' : 'steady'
}

/**
 * How often to look again when nothing wakes the loop. Where systemd cannot be heard, a look costs
 * 4.4 ms of CPU (`systemctl show`), so a settled node is looked at rarely. Pure.
 */
import type { HealthRecord } from './health.ts'
import { healthOfRunning } from './process-health.ts'
import type { Snapshot } from './snapshot.ts'
import type { Phase } from './step.ts'

const CLOSE_US = 1e6
const TRIAL_US = 5e6
const SETTLED_US = 20e6
/** The agent waits for something that may end without a signal. */
const WAITING_US = 15e6

export function cadenceUs(snapshot: Snapshot, phase: Phase): number {
  const { policy } = snapshot
  // The gap between two looks must not be taken for an outage of the agent.
  const ceilingUs = Math.min(policy.toleranceUs / 3, policy.startDeadlineUs / 3)
  return Math.max(100e3, Math.min(ceilingUs, wantedUs(snapshot, phase)))
}

function wantedUs(snapshot: Snapshot, phase: Phase): number {
  const { health, running, now, policy } = snapshot
  switch (phase) {
    case 'restarting':
      return CLOSE_US
    case 'in-trial':
    case 'refused':
    case 'fallen-back': {
      const healthySinceUs = findHealthySince(snapshot)
      const healthyUs = now.monotonicUs - (healthySinceUs ?? now.monotonicUs)
      if (phase !== 'in-trial' && healthyUs > policy.trialUs) return SETTLED_US
      const young = running.kind !== 'known' || now.monotonicUs - running.startedAtUs < policy.startDeadlineUs
      return young || healthySinceUs === undefined ? CLOSE_US : TRIAL_US
    }
    case 'settled':
    case 'unknown':
    case 'restart-limit':
      return health === undefined || isIll(health) ? CLOSE_US : SETTLED_US
    case 'node-at-fault':
    case 'runtime-down':
      return TRIAL_US
    case 'preflight':
    case 'drain':
    case 'spread':
    case 'rollout':
    case 'paused':
    case 'kubelet-stopped':
    case 'ineffective':
    case 'blocked':
      return WAITING_US
  }
}

/** With what kubelet starts with next or, where that does not run, with what runs. */
function findHealthySince(snapshot: Snapshot): number | undefined {
  return snapshot.health?.healthySinceUs ?? healthOfRunning(snapshot)?.healthySinceUs
}

/** With what kubelet starts with next, or with what runs. */
function isIll({ unhealthySinceUs, process }: HealthRecord): boolean {
  return unhealthySinceUs !== undefined || process?.unhealthySinceUs !== undefined
}

/**
 * Finds out why kubelet's unit is down, where its state alone does not tell. The journal is asked
 * only where a start that the agent or systemd began may have come to nothing.
 */
import type { RestartRecord } from '../decision/records.ts'
import type { UnitState } from '../decision/unit-state.ts'
import { asksForJobs, explainDown } from '../decision/why-down.ts'
import type { HealthRecord } from '../health/fold.ts'
import type { Clock } from '../ports/clock.ts'
import type { UnitJobs } from '../ports/unit-jobs.ts'

interface ExplainPorts {
  readonly jobs: UnitJobs
  readonly clock: Clock
}

/**
 * @param health the record of this boot
 * @param restarts that the agent has requested
 */
export async function explainUnit(
  { jobs, clock }: ExplainPorts,
  unit: UnitState,
  health: HealthRecord | undefined,
  restarts: readonly RestartRecord[],
): Promise<UnitState> {
  if (unit.kind === 'unknown' || unit.down === undefined) return unit
  const past = { health, restarts, now: clock.now() }
  if (!asksForJobs(unit, past)) return explainDown(unit, past)
  const down = { ...unit.down, dependencyFailedUs: await jobs.dependencyFailedUs() }
  return explainDown({ ...unit, down }, past)
}

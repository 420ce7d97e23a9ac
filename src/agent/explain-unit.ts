/**
 * Finds out why kubelet's unit is down, where its state alone does not tell. The journal is asked
 * only where a start that the agent or systemd began may have come to nothing.
 */
import type { HealthRecord } from '../decision/health.ts'
import { recallRestarts } from '../decision/records.ts'
import type { UnitState } from '../decision/unit-state.ts'
import { asksForJobs, explainDown } from '../decision/why-down.ts'
import type { Clock } from '../ports/clock.ts'
import type { Records, RuntimeRecords } from '../ports/store.ts'
import type { UnitJobs } from '../ports/unit-jobs.ts'

interface ExplainPorts {
  readonly jobs: UnitJobs
  readonly runtime: Pick<RuntimeRecords, 'restarts'>
  readonly records: Pick<Records, 'restart'>
  readonly clock: Clock
}

/** @param health the record of this boot */
export async function explainUnit(
  { jobs, runtime, records, clock }: ExplainPorts,
  unit: UnitState,
  health: HealthRecord | undefined,
): Promise<UnitState> {
  if (unit.kind === 'unknown' || unit.down === undefined) return unit
  const now = clock.now()
  const past = { health, restarts: recallRestarts(runtime.restarts(), () => records.restart(), unit, now), now }
  if (!asksForJobs(unit, past)) return explainDown(unit, past)
  const down = { ...unit.down, dependencyFailedUs: await jobs.dependencyFailedUs() }
  return explainDown({ ...unit, down }, past)
}

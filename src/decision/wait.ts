/** Waiting, until something changes or it is time to look again. Pure. */
import { cadenceUs } from './cadence.ts'
import type { Snapshot } from './snapshot.ts'
import type { Phase, Wait } from './step.ts'

export const ASSIGNED_DAMAGED = 'meta/assigned was damaged or lost, and the assignment has not been read again yet'

/**
 * @param atUs when the wait ends by itself. A time in the past is not waited for: what was due then
 * could not be done.
 */
export function wait(snapshot: Snapshot, phase: Phase, detail: string, atUs = Number.POSITIVE_INFINITY): Wait {
  const nowUs = snapshot.now.monotonicUs
  const ahead = [atUs, ...snapshot.troubles.map(({ retryAtUs }) => retryAtUs)].filter((time) => time > nowUs)
  return { kind: 'wait', phase, detail, untilUs: Math.min(...ahead, nowUs + cadenceUs(snapshot, phase)) }
}

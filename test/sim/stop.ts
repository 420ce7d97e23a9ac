// SPDX-License-Identifier: Apache-2.0
/** When the faults of a random schedule stop, and which one does not. */
import type { Staying } from './liveness.ts'
import { seededRandom } from './random.ts'
import type { Schedule } from './schedule.ts'

export interface Stop {
  /** The number of events before the stop. */
  readonly after: number
  readonly stays: Staying
}

export function makeStop({ seed, events }: Schedule): Stop {
  const random = seededRandom(seed ^ 0x5709)
  return { after: random.between(2, events.length + 1), stays: random.chance(0.3) ? 'api-down' : 'nothing' }
}

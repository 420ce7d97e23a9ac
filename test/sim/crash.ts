// SPDX-License-Identifier: Apache-2.0
/** Where the agent, or the machine, dies. */
import { seededRandom } from './random.ts'

/** Thrown through the agent: its process has died. */
export class Crash extends Error {}

export interface CrashPoint {
  /**
   * Counts the operations (write, rename, unlink, sync, command) of all agents in this world, from
   * 1.
   */
  readonly operation: number
  readonly phase: 'before' | 'after'
  readonly powerLoss: boolean
}

/** Of a random schedule: most have fewer operations. */
const MOST_OPERATIONS = 120

/** A crash at a random operation, which goes with the schedule of a seed. */
export function makeCrash(seed: number): CrashPoint {
  const random = seededRandom(seed ^ 0xc4a5)
  return { operation: random.between(1, MOST_OPERATIONS), phase: random.pick(['before', 'after'] as const), powerLoss: random.chance(0.5) }
}

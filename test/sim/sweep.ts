// SPDX-License-Identifier: Apache-2.0
/**
 * The two ways to search for a failure: many random schedules, and a crash at each operation of one
 * schedule.
 */
import assert from 'node:assert/strict'
import { onOneLine } from '../../src/values/cut.ts'
import { errorMessage } from '../../src/values/errors.ts'
import { type CrashPoint, makeCrash } from './crash.ts'
import { runSchedule } from './run.ts'
import { makeSchedule, type Schedule } from './schedule.ts'
import type { Settled } from './settled.ts'
import { makeStop } from './stop.ts'

/** Called with a line for each run that fails, as soon as it fails. */
export type OnFailure = (failure: string) => void

/**
 * `crashes`: half of the schedules have a crash at a random operation. `stops`: the faults of each
 * stop at a random event, but perhaps one, and the node has to recover.
 */
export type Variation = 'plain' | 'crashes' | 'stops'

/**
 * Runs the schedules of a range of seeds. The line for one that fails begins with the command that
 * runs it again.
 */
export async function sweepSeeds(from: number, count: number, failed: OnFailure, variation: Variation = 'plain'): Promise<void> {
  for (let seed = from; seed < from + count; seed += 1) {
    const schedule = makeSchedule(seed)
    const [flag, options] =
      variation === 'stops'
        ? [' --stop', { stop: makeStop(schedule) }]
        : variation === 'crashes' && isCrashed(seed)
          ? [' --crash', { crash: makeCrash(seed) }]
          : ['', {}]
    try {
      await runSchedule(schedule, options)
    } catch (error) {
      failed(`npm run sim -- --seed ${seed}${flag}: ${onOneLine(errorMessage(error))}`)
    }
  }
}

/** Four seeds in a row, since what a node is depends on the last bits of its seed. */
export function isCrashed(seed: number): boolean {
  return Math.floor(seed / 4) % 2 === 1
}

/** Before and after every operation, the agent alone and the whole machine. */
export function listCrashPoints(operations: number): CrashPoint[] {
  return Array.from({ length: operations }, (_, index) => index + 1).flatMap((operation) =>
    (['before', 'after'] as const).flatMap((phase) => [false, true].map((powerLoss) => ({ operation, phase, powerLoss }))),
  )
}

/**
 * Runs the schedule once for each crash point. A run fails also if it does not settle where `calm`
 * did.
 */
export async function sweepCrashes(schedule: Schedule, points: readonly CrashPoint[], calm: Settled, failed: OnFailure): Promise<void> {
  const { operations: _fewer, ...expected } = calm
  for (const crash of points) {
    try {
      const { operations: _more, ...state } = await runSchedule(schedule, { crash })
      assert.deepEqual(state, expected, `invariant 4: the node settles at ${JSON.stringify(state)}, not at ${JSON.stringify(expected)}`)
    } catch (error) {
      failed(`${describeCrash(crash)}: ${errorMessage(error)}`)
    }
  }
}

function describeCrash({ operation, phase, powerLoss }: CrashPoint): string {
  return `crash ${phase} operation ${operation}${powerLoss ? ' with power loss' : ''}`
}

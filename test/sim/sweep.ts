/**
 * The two ways to search for a failure: many random schedules, and a crash at each operation of one
 * schedule.
 */
import assert from 'node:assert/strict'
import { errorMessage } from '../../src/values/errors.ts'
import type { CrashPoint } from './crash.ts'
import { runSchedule } from './run.ts'
import { makeSchedule, type Schedule } from './schedule.ts'
import type { Settled } from './settled.ts'

/**
 * Runs the schedules of a range of seeds. Returns a line for each that fails, with the command that
 * runs it again.
 */
export async function sweepSeeds(from: number, count: number): Promise<string[]> {
  const failures: string[] = []
  for (let seed = from; seed < from + count; seed += 1) {
    try {
      await runSchedule(makeSchedule(seed))
    } catch (error) {
      failures.push(`npm run sim -- --seed ${seed}: ${errorMessage(error)}`)
    }
  }
  return failures
}

/** Before and after every operation, the agent alone and the whole machine. */
export function listCrashPoints(operations: number): CrashPoint[] {
  return Array.from({ length: operations }, (_, index) => index + 1).flatMap((operation) =>
    (['before', 'after'] as const).flatMap((phase) => [false, true].map((powerLoss) => ({ operation, phase, powerLoss }))),
  )
}

/**
 * Runs the schedule once for each crash point. Returns a line for each run that fails or that does
 * not settle where `calm` did.
 */
export async function sweepCrashes(schedule: Schedule, points: readonly CrashPoint[], calm: Settled): Promise<string[]> {
  const { operations: _fewer, ...expected } = calm
  const failures: string[] = []
  for (const crash of points) {
    try {
      const { operations: _more, ...state } = await runSchedule(schedule, { crash })
      assert.deepEqual(state, expected, `invariant 4: the node settles at ${JSON.stringify(state)}, not at ${JSON.stringify(expected)}`)
    } catch (error) {
      failures.push(`${describeCrash(crash)}: ${errorMessage(error)}`)
    }
  }
  return failures
}

function describeCrash({ operation, phase, powerLoss }: CrashPoint): string {
  return `crash ${phase} operation ${operation}${powerLoss ? ' with power loss' : ''}`
}

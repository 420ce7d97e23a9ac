/** Runs a range of seeds, and says of the first that fails how to run it again. */
import type { Test } from 'tap'
import { type RunOptions, runSchedule, type Settled } from './run.ts'
import { makeSchedule, type Schedule } from './schedule.ts'

export async function sweepSeeds(t: Test, from: number, count: number): Promise<void> {
  for (let seed = from; seed < from + count; seed += 1) {
    try {
      await runSchedule(makeSchedule(seed))
    } catch (error) {
      t.fail(`npm run sim -- --seed ${seed}: ${error instanceof Error ? error.message : String(error)}`)
      return
    }
  }
  t.pass(`${count} schedules`)
}

/** Crashes before and after every operation of the run, of the agent and of the whole machine, each in a run of its own. */
export async function crashEverywhere(
  schedule: Schedule,
  check: (settled: Settled, calm: Settled, where: string) => void,
): Promise<number> {
  const calm = await runSchedule(schedule)
  let runs = 0
  for (let operation = 1; operation <= calm.operations; operation += 1) {
    for (const phase of ['before', 'after'] as const) {
      for (const powerLoss of [false, true]) {
        const crash: NonNullable<RunOptions['crash']> = { operation, phase, powerLoss }
        const where = `crash ${phase} operation ${operation}${powerLoss ? ', power lost' : ''}`
        try {
          check(await runSchedule(schedule, { crash }), calm, where)
        } catch (error) {
          throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
        }
        runs += 1
      }
    }
  }
  return runs
}

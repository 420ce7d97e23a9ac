/**
 * `npm run sim:fleet -- [--seed N] [--seeds N] [--from N]`: runs schedules of small fleets. For a single seed it prints all
 * that happens.
 */
import { parseArgs } from 'node:util'
import { runFleet, type Trace } from './fleet-world.ts'
import { randomSchedule } from './random-schedule.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
  },
})

const print: Trace = (atUs, who, text) => console.log(`${(atUs / 1e6).toFixed(3).padStart(12)} s  ${who.padEnd(14)} ${text}`)

const from = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
let failed = 0
for (let seed = from; seed < from + count; seed += 1) {
  try {
    runFleet(randomSchedule(seed), values.seed === undefined ? undefined : print)
  } catch (error) {
    failed += 1
    console.log(`seed ${seed}: ${error instanceof Error ? error.message : String(error)} (npm run sim:fleet -- --seed ${seed})`)
    if (values.seed !== undefined) console.log(error)
  }
}
console.log(`${failed} of ${count} schedules failed; ${((process.cpuUsage().user / 1e6 / count) * 1000).toFixed(1)} ms of CPU each`)
process.exitCode = failed === 0 ? 0 : 1

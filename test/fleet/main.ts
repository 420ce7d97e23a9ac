// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run sim:fleet -- [--seed N] [--seeds N] [--from N] [--nodes N] [--table]`: runs random
 * schedules, of small fleets or of so many nodes. For a single seed it prints all that happens.
 * With --table it prints the tables of docs/rollout-figures.md.
 */
import { parseArgs } from 'node:util'
import { runFleet, type Trace } from './fleet-world.ts'
import { randomSchedule } from './random-schedule.ts'
import { printTables } from './table.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    nodes: { type: 'string' },
    table: { type: 'boolean', default: false },
  },
})

const print: Trace = (atUs, who, text) => console.log(`${(atUs / 1e6).toFixed(3).padStart(12)} s  ${who.padEnd(14)} ${text}`)
const nodes = values.nodes === undefined ? undefined : Number(values.nodes)
const size = nodes === undefined ? '' : ` --nodes ${nodes}`

function runSeeds(from: number, count: number, isSingle: boolean): void {
  let failed = 0
  for (let seed = from; seed < from + count; seed += 1) {
    try {
      runFleet(randomSchedule(seed, nodes), isSingle ? print : undefined)
    } catch (error) {
      failed += 1
      console.log(`seed ${seed}: ${error instanceof Error ? error.message : String(error)} (npm run sim:fleet -- --seed ${seed}${size})`)
      if (isSingle) console.log(error)
    }
  }
  console.log(`${failed} of ${count} schedules failed; ${((process.cpuUsage().user / 1e6 / count) * 1000).toFixed(1)} ms of CPU each`)
  process.exitCode = failed === 0 ? 0 : 1
}

if (values.table) printTables((line) => console.log(line))
else if (values.seed !== undefined) runSeeds(Number(values.seed), 1, true)
else runSeeds(Number(values.from), Number(values.seeds ?? (nodes === undefined ? 1000 : 1)), false)

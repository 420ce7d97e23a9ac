// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run sim:fleet -- [--seed N] [--seeds N] [--from N] [--nodes N] [--table]`: runs random
 * schedules, of small fleets or of so many nodes. For a single seed it prints all that happens.
 * Without options, one of 15,000 nodes comes after the small ones. With --table it prints the
 * tables of docs/rollout-figures.md.
 */
import { parseArgs } from 'node:util'
import { runFleet, type Trace } from './fleet-world.ts'
import { randomSchedule } from './random-schedule.ts'
import { printTables } from './table.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    nodes: { type: 'string' },
    table: { type: 'boolean', default: false },
  },
})

const print: Trace = (atUs, who, text) => console.log(`${(atUs / 1e6).toFixed(3).padStart(12)} s  ${who.padEnd(14)} ${text}`)
const nodes = values.nodes === undefined ? undefined : Number(values.nodes)

/** More than Kubernetes supports in one cluster, and as many as large providers do. */
const MOST_NODES = 15_000

function runSeeds(from: number, count: number, isSingle: boolean, nodes?: number): void {
  const size = nodes === undefined ? '' : ` --nodes ${nodes}`
  const sinceUs = process.cpuUsage().user
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
  const usedMs = (process.cpuUsage().user - sinceUs) / 1000 / count
  console.log(
    `${failed} of ${count} schedules${nodes === undefined ? '' : ` of ${nodes} nodes`} failed; ${usedMs.toFixed(1)} ms of CPU each`,
  )
  if (failed > 0) process.exitCode = 1
}

const isPlain = Object.values({ ...values, table: values.table || undefined }).every((value) => value === undefined)
if (values.table) printTables((line) => console.log(line))
else if (values.seed !== undefined) runSeeds(Number(values.seed), 1, true, nodes)
else runSeeds(Number(values.from ?? 1), Number(values.seeds ?? (nodes === undefined ? 1000 : 1)), false, nodes)
if (isPlain) runSeeds(1, 1, false, MOST_NODES)

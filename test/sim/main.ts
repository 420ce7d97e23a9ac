// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run sim -- [--seed N] [--seeds N] [--from N] [--crash] [--crashes] [--shrink]`: runs the
 * schedules of some seeds. For a single seed it prints every event, what kubelet does, and every
 * line of the agent's log, or with --shrink the shortest schedule that fails as this one does. With
 * --crash each schedule has a crash at a random operation. With --crashes it also runs each
 * schedule with a crash at each operation. With --stop the faults of each schedule stop at a random
 * event, or all but one, and what came of it is counted.
 */
import { parseArgs } from 'node:util'
import { makeCrash } from './crash.ts'
import { type RunOptions, runSchedule } from './run.ts'
import { makeSchedule } from './schedule.ts'
import { shrink } from './shrink.ts'
import type { SimWorld } from './sim-world.ts'
import { makeStop } from './stop.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    crash: { type: 'boolean', default: false },
    crashes: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    stop: { type: 'boolean', default: false },
  },
})

let world: SimWorld | undefined

function print(what: string, fields?: object): void {
  console.log(`${Math.round((world?.nowUs ?? 0) / 1e6)} s: ${what}`, fields === undefined ? '' : JSON.stringify(fields))
}

const log = (level: string) => (message: string, fields?: object) => print(`${level} ${message}`, fields)
const PRINTING: RunOptions = {
  log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  onEvent: (event) => print('event', event),
  onWorld: (of) => {
    world = of
    of.onKubelet.push({
      started: ({ startedBy, text }) => print(`kubelet is started by ${startedBy}`, { text }),
      exited: (_process, said) => print('kubelet exits', { said }),
    })
  },
}

const ends = new Map<string, number>()

async function runSeed(seed: number, single: boolean): Promise<number> {
  const schedule = makeSchedule(seed)
  const crash = values.crash ? { crash: makeCrash(seed) } : {}
  const stop = values.stop ? { stop: makeStop(schedule) } : {}
  const calm = await runSchedule(schedule, { ...crash, ...stop, ...(single && PRINTING) })
  if (calm.end !== undefined) ends.set(calm.end, (ends.get(calm.end) ?? 0) + 1)
  if (!values.crashes) return 1
  for (let operation = 1; operation <= calm.operations; operation += 1) {
    for (const phase of ['before', 'after'] as const) {
      try {
        await runSchedule(schedule, { crash: { operation, phase, powerLoss: operation % 2 === 0 } })
      } catch (error) {
        throw new Error(`crash ${phase} operation ${operation}`, { cause: error })
      }
    }
  }
  return 1 + 2 * calm.operations
}

if (values.shrink && values.seed !== undefined) {
  const { events } = await shrink(makeSchedule(Number(values.seed)))
  for (const { afterSeconds, event } of events) console.log(`[${afterSeconds}, ${JSON.stringify(event)}],`)
}
const from = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
const usedBefore = process.cpuUsage()
let runs = 0
let failed = 0
for (let seed = from; seed < from + count; seed += 1) {
  try {
    runs += await runSeed(seed, values.seed !== undefined && !values.crashes)
  } catch (error) {
    failed += 1
    console.log(
      `seed ${seed} failed:`,
      error instanceof Error ? `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}` : error,
    )
    if (values.seed !== undefined) console.log(error)
  }
}
for (const [end, count] of [...ends].sort(([, a], [, b]) => b - a)) console.log(`${String(count).padStart(6)}  ${end}`)
const { user, system } = process.cpuUsage(usedBefore)
const cpuSeconds = (user + system) / 1e6
console.log(`${runs} runs, ${failed} of ${count} seeds failed; ${Math.round(runs / cpuSeconds)} runs per second of CPU time`)
process.exitCode = failed === 0 ? 0 : 1

// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run sim:bulk -- --from N --to N [--processes N] [--minutes N] [--stop]`: runs the schedules
 * of very many seeds, half of them with a crash at a random operation, in one process per CPU.
 * Prints a line for each that fails, at once, and counts them at the end. With --minutes it begins
 * nothing new after that time, and says how far it came. With --stop, the faults of each schedule
 * stop at a random event, and none crashes.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Part } from './part.ts'
import { runParts } from './pool.ts'

const SEEDS_AT_ONCE = 20
/** Runs between two lines that say how far it is. */
const TOLD_EVERY = 2000

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    processes: { type: 'string', default: String(availableParallelism()) },
    minutes: { type: 'string', default: 'Infinity' },
    stop: { type: 'boolean', default: false },
  },
})

function numberOf(name: keyof typeof values, isRight: (value: number) => boolean): number {
  const value = Number(values[name])
  if (isRight(value)) return value
  console.error(`--${name} must be a number${name === 'to' ? ' that is not below --from' : ''}, not ${values[name] ?? 'missing'}`)
  process.exit(2)
}

const isSeed = (value: number) => Number.isSafeInteger(value) && value > 0
const from = numberOf('from', isSeed)
const to = numberOf('to', (value) => isSeed(value) && value >= from)
const processes = numberOf('processes', isSeed)
const beganMs = performance.now()
const endMs = beganMs + numberOf('minutes', (value) => value > 0) * 60e3

let nextSeed = from
let runs = 0
let failed = 0

function nextPart(): Part | undefined {
  if (nextSeed > to || performance.now() >= endMs) return undefined
  const part: Part = {
    kind: 'seeds',
    from: nextSeed,
    count: Math.min(SEEDS_AT_ONCE, to + 1 - nextSeed),
    variation: values.stop ? 'stops' : 'crashes',
  }
  nextSeed += part.count
  return part
}

function tell(): void {
  const seconds = (performance.now() - beganMs) / 1000
  const rate = Math.round(runs / seconds)
  console.log(`seeds ${from} to ${nextSeed - 1}: ${runs} runs, ${failed} failed, ${Math.round(seconds)} s, ${rate} runs per second`)
}

await runParts(nextPart, processes, {
  failed: (_part, failure) => console.log(failure),
  done: (_part, outcome) => {
    const before = runs
    runs += outcome.runs
    failed += outcome.failures.length
    if (Math.floor(runs / TOLD_EVERY) > Math.floor(before / TOLD_EVERY)) tell()
  },
})
tell()
process.exitCode = failed === 0 ? 0 : 1

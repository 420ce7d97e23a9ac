/**
 * `npm run test:sim`: the whole simulation, in one process per CPU. Random schedules, and a
 * crash at every operation of every story. The last line counts the runs.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Outcome, Part } from './full-part.ts'
import { STORIES } from './stories.ts'

const SEEDS = 2000
const SEEDS_AT_ONCE = 50
/** Of the crash points of a story. */
const SLICES = 4
/** Of one part: what breaks one run often breaks all of them. */
const MOST_FAILURES_SHOWN = 10

const parts: Part[] = [
  ...Object.keys(STORIES).flatMap((story) =>
    Array.from({ length: SLICES }, (_, slice): Part => ({ kind: 'crashes', story, slice, of: SLICES })),
  ),
  ...Array.from({ length: SEEDS / SEEDS_AT_ONCE }, (_, index): Part => {
    return { kind: 'seeds', from: 1 + index * SEEDS_AT_ONCE, count: SEEDS_AT_ONCE }
  }),
]
const queue = [...parts]
let passed = 0
let failed = 0

function report(part: Part, { runs, failures }: Outcome): void {
  passed += runs - failures.length
  failed += failures.length
  const title =
    part.kind === 'crashes'
      ? `crashes: ${part.story} (${part.slice + 1}/${part.of})`
      : `seeds ${part.from} to ${part.from + part.count - 1}`
  console.log(`${failures.length === 0 ? 'ok' : 'FAILED'}  ${title} (${runs} runs)`)
  for (const failure of failures.slice(0, MOST_FAILURES_SHOWN)) console.log(`        ${failure}`)
  const hidden = failures.length - MOST_FAILURES_SHOWN
  if (hidden > 0) console.log(`        and ${hidden} more`)
}

/** Runs parts in a process of its own until the queue is empty. */
async function work(): Promise<void> {
  for (let part = queue.shift(); part !== undefined; part = queue.shift()) report(part, await runApart(part))
}

function runApart(part: Part): Promise<Outcome> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./full-part.ts', import.meta.url)), [JSON.stringify(part)])
  return new Promise((resolve) => {
    let outcome: Outcome | undefined
    child.on('message', (message) => {
      outcome = message as Outcome
    })
    child.once('close', (code, signal) => {
      resolve(outcome ?? { runs: 1, failures: [`the process ended early (${signal ?? `exit code ${code}`})`] })
    })
  })
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

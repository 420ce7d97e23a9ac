// SPDX-License-Identifier: Apache-2.0
/** Shares the parts of a long simulation among processes. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Done, Part } from './part.ts'
import type { Report } from './worker.ts'

export interface Outcome extends Done {
  /** A line for each run that failed. */
  readonly failures: readonly string[]
}

export interface Reporting {
  /** At once. */
  failed?(part: Part, failure: string): void
  done(part: Part, outcome: Outcome): void
}

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url))

/**
 * Most of what a run allocates is garbage at once, and its disk throws thousands of errors, whose
 * stacks nobody reads. A failure is replayed by its seed, with its stack.
 */
const FASTER = ['--max-semi-space-size=64', '--stack-trace-limit=0']

/** @param next the part that is to be run next. undefined: there is none any more */
export async function runParts(next: () => Part | undefined, processes: number, reporting: Reporting): Promise<void> {
  await Promise.all(Array.from({ length: processes }, () => work(next, reporting)))
}

async function work(next: () => Part | undefined, reporting: Reporting): Promise<void> {
  let worker: ChildProcess | undefined
  for (let part = next(); part !== undefined; part = next()) {
    const task = part
    if (worker === undefined || hasEnded(worker)) worker = fork(WORKER, { execArgv: [...process.execArgv, ...FASTER] })
    reporting.done(task, await runIn(worker, task, (failure) => reporting.failed?.(task, failure)))
  }
  if (worker !== undefined && !hasEnded(worker)) worker.disconnect()
}

/** Whether the process has ended. Its channel may be open for a moment longer. */
function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** A process that ends early has failed its part. */
function runIn(worker: ChildProcess, part: Part, failed: (failure: string) => void): Promise<Outcome> {
  return new Promise((resolve) => {
    const failures: string[] = []
    const fail = (failure: string) => {
      failures.push(failure)
      failed(failure)
    }
    const end = (done: Done) => {
      worker.off('message', hear)
      worker.off('exit', exit)
      resolve({ ...done, failures })
    }
    const hear = (report: Report) => {
      if (report.kind === 'failed') fail(report.failure)
      else end(report)
    }
    const exit = (code: number | null, signal: string | null) => {
      fail(`the process ended early (${signal ?? `exit code ${code}`}): ${JSON.stringify(part)}`)
      end({ runs: failures.length })
    }
    worker.on('message', hear)
    worker.once('exit', exit)
    worker.send(part)
  })
}

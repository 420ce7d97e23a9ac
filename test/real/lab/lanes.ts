// SPDX-License-Identifier: Apache-2.0
/**
 * Runs scenarios in lanes, a few of them side by side: each lane is a process of its own with a
 * control plane of its own, since some scenarios stop theirs. Most of a scenario is waiting, so a
 * few lanes take little more than the longest of them; those that never wait run behind them. How
 * many run at once depends on the machine: another one begins only while the processors keep up.
 * Prints what they print, each line with its lane, and adds up what they count.
 *
 * A scenario that failed is played once more when all lanes have ended, with the machine for
 * itself. Lanes keep the processors busy all the time, and kubelet, etcd and systemd have time
 * limits of their own that a starved machine exceeds. The end of the output names what failed, and
 * what failed beside other lanes only.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { allowNodes } from './inotify.ts'
import { type Failure, LaneOutput, type LaneResult } from './lane-output.ts'
import { portsOfLane } from './ports.ts'

export interface Lane {
  readonly name: string
  /** As `runScenarios` takes them. */
  readonly words: readonly string[]
  /** The option `--kubelet`. undefined: as the run itself has it. */
  readonly kubelet?: string | undefined
  /** The lane never waits. It runs behind the others, and gets the CPU that they leave. */
  readonly isBusy?: boolean
}

/** More of them at once starve each other on two cores, however fast these are. */
const LANES_AT_ONCE = 14
/** As many lanes run even where the processors do not keep up. */
const LANES_AT_LEAST = 5
/**
 * Threads for each processor that run or wait for it. With more of them a kubelet that takes 2 s to
 * start exceeds the deadline of a start.
 */
const RUNNABLE = 5
/** How long the threads are counted before another lane begins. */
const COUNTED_MS = 10_000
/** nice(1) of a busy lane. */
const BEHIND = 5
/** More failures than that are no matter of a busy machine. */
const PLAYED_AGAIN = 8
/**
 * `.ci/run` repeats what follows: such a failure may still be a fault that only load brings out.
 */
const PASSED_ALONE = 'Failed beside other lanes, and passed alone:'

/**
 * Ends with the line `N passed, N failed`, and exits. A lane that does not count is a failure of
 * its own.
 */
export async function runLanes(program: string, lanes: readonly Lane[]): Promise<never> {
  const children: ChildProcess[] = []
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping = true
      for (const child of children) child.kill(signal)
    })
  }
  const run: RunLane = (lane, prefix, env = {}) => runLane(program, lane, prefix, env, children)
  const width = Math.max(...lanes.map(({ name }) => name.length))
  const queue = lanes.filter(({ isBusy }) => isBusy !== true)
  const busy = lanes.filter(({ isBusy }) => isBusy === true)
  const results: { readonly lane: Lane; readonly result: LaneResult }[] = []
  const play = async (lane: Lane): Promise<void> => {
    results.push({ lane, result: await run(lane, `${lane.name.padEnd(width)} | `, portsOfLane(lanes.indexOf(lane))) })
  }
  const behind = async (): Promise<void> => {
    for (let lane = busy.shift(); lane !== undefined && !stopping; lane = busy.shift()) await play(lane)
  }
  const beside = async (): Promise<void> => {
    const running = new Set<Promise<unknown>>()
    const begin = (lane: Lane): void => {
      const played: Promise<unknown> = play(lane).then(() => running.delete(played))
      running.add(played)
    }
    const atOnce = allowNodes(Math.min(LANES_AT_ONCE, queue.length))
    while (queue.length > 0 && !stopping) {
      if (running.size >= atOnce) await Promise.race(running)
      else if (running.size < LANES_AT_LEAST || (await keepsUp())) queue.splice(0, 1).forEach(begin)
    }
    await Promise.all(running)
  }
  await Promise.all([behind(), beside()])
  const sum = (of: 'passed' | 'failed') => results.reduce((total, { result }) => total + result[of], 0)
  const failures = results.flatMap(({ lane, result }) => result.failures.map((failure) => ({ lane, failure })))
  const alone = stopping ? { passed: [], failed: failures } : await playAgain(failures, run)
  list(PASSED_ALONE, alone.passed)
  list('Failed:', alone.failed)
  for (const { lane, result } of results) {
    if (result.failed > result.failures.length) console.log(`\nThe lane ${lane.name} ended before its last scenario.`)
  }
  for (const { name } of [...queue, ...busy]) console.log(`\nThe lane ${name} was not begun.`)
  const passed = sum('passed') + alone.passed.length
  const failed = sum('failed') - alone.passed.length
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exit(failed > 0 || passed === 0 || stopping ? 1 : 0)
}

/** Whether the processors have time for one more lane: proc_stat(5), procs_running. */
async function keepsUp(): Promise<boolean> {
  const counts: number[] = []
  for (const until = Date.now() + COUNTED_MS; Date.now() < until; await delay(250)) {
    counts.push(Number(/^procs_running (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]))
  }
  return counts.reduce((total, count) => total + count, 0) / counts.length < RUNNABLE * availableParallelism()
}

type RunLane = (lane: Lane, prefix: string, env?: Environment) => Promise<LaneResult>
type Environment = Readonly<Record<string, string>>

function runLane(
  program: string,
  { words, kubelet, isBusy }: Lane,
  prefix: string,
  env: Environment,
  children: ChildProcess[],
): Promise<LaneResult> {
  const options = kubelet === undefined ? [] : ['--kubelet', kubelet]
  const child = spawn(
    'nice',
    ['-n', String(isBusy === true ? BEHIND : 0), process.execPath, ...process.execArgv, program, ...options, ...words],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    },
  )
  children.push(child)
  const output = new LaneOutput()
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.line(line)
    console.log(`${prefix}${line}`)
  })
  return new Promise((resolve) => child.on('close', () => resolve(output.result())))
}

interface LaneFailure {
  readonly lane: Lane
  readonly failure: Failure
}

/** One scenario at a time, each in a process of its own. Returns how each of them went. */
async function playAgain(
  failures: readonly LaneFailure[],
  run: RunLane,
): Promise<{ readonly passed: readonly LaneFailure[]; readonly failed: readonly LaneFailure[] }> {
  if (failures.length > PLAYED_AGAIN) return { passed: [], failed: failures }
  const passed: LaneFailure[] = []
  const failed: LaneFailure[] = []
  for (const { lane, failure } of failures) {
    console.log(`\nFailed beside other lanes, now alone: ${failure.name}`)
    const result = await run({ ...lane, words: [...lane.words, failure.name] }, 'alone | ', seedOf(failure))
    const [again = failure] = result.failures
    if (result.passed > 0 && result.failed === 0) passed.push({ lane, failure })
    else failed.push({ lane, failure: again })
  }
  return { passed, failed }
}

/** The random choices in a scenario are the same when it is played again. */
function seedOf({ lines }: Failure): Environment {
  const [, seed] = /LAB_SEED=(\d+)/.exec(lines.join('\n')) ?? []
  return seed === undefined ? {} : { LAB_SEED: seed }
}

function list(title: string, failures: readonly LaneFailure[]): void {
  if (failures.length === 0) return
  console.log(`\n${title}`)
  for (const { lane, failure } of failures) console.log([`  ${lane.name}: ${failure.name}`, ...failure.lines].join('\n'))
}

/**
 * Runs scenarios in lanes, a few of them side by side: each lane is a process of its own with a
 * control plane of its own, since some scenarios stop theirs. Most of a scenario is waiting, so a
 * few lanes take little more than the longest of them. Prints what they print, each line with its
 * lane, and adds up what they count.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { allowNodes } from './inotify.ts'

export interface Lane {
  readonly name: string
  /** As `runScenarios` takes them. */
  readonly words: readonly string[]
}

interface Count {
  readonly passed: number
  readonly failed: number
}

/** More of them at once starve each other on two cores. */
const LANES_AT_ONCE = 6

/**
 * Ends with the line `N passed, N failed`, and exits. A lane that does not count is a failure of
 * its own.
 */
export async function runLanes(program: string, lanes: readonly Lane[]): Promise<never> {
  const children: ChildProcess[] = []
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => children.forEach((child) => void child.kill(signal)))
  const width = Math.max(...lanes.map(({ name }) => name.length))
  const queue = [...lanes]
  const counts: Count[] = []
  const work = async (): Promise<void> => {
    for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) counts.push(await runLane(program, lane, width, children))
  }
  const atOnce = allowNodes(Math.min(LANES_AT_ONCE, lanes.length))
  await Promise.all(Array.from({ length: atOnce }, work))
  const passed = counts.reduce((sum, count) => sum + count.passed, 0)
  const failed = counts.reduce((sum, count) => sum + count.failed, 0)
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exit(failed > 0 || passed === 0 ? 1 : 0)
}

function runLane(program: string, { name, words }: Lane, width: number, children: ChildProcess[]): Promise<Count> {
  const child = spawn(process.execPath, [...process.execArgv, program, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  let count: Count = { passed: 0, failed: 1 }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? []
    if (passed !== undefined && failed !== undefined) count = { passed: Number(passed), failed: Number(failed) }
    console.log(`${name.padEnd(width)} | ${line}`)
  })
  return new Promise((resolve) => child.on('close', () => resolve(count)))
}

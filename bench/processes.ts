// SPDX-License-Identifier: Apache-2.0
/**
 * Processes: how to end one, and what it has used according to /proc (proc_pid_smaps(5),
 * proc_pid_stat(5)).
 */
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface Memory {
  readonly rssKb: number
  /** Without pages of files, which other processes may share. */
  readonly anonymousKb: number
}

/** By smaps_rollup: the counters of `status` lag behind by up to 64 pages a thread. */
export function readMemory(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1])
  return { rssKb: field('Rss'), anonymousKb: field('Anonymous') }
}

interface CpuTime {
  readonly ownMs: number
  /** Of children that have exited and were waited for. */
  readonly childrenMs: number
}

/** Since it started, all its threads: to the nanosecond, where `stat` counts ticks (proc(5)). */
export function readOwnCpuMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const ranNs = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]))
  return ranNs.reduce((sum, ns) => sum + ns, 0) / 1e6
}

/**
 * How often its threads went to sleep and were woken since it started: a figure that no other
 * program on the machine and no slower processor changes.
 */
export function countWakeUps(pid: number): number {
  const counts = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8'))?.[1]),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** System calls that read or write, since it started (proc_pid_io(5)). */
export function countTransfers(pid: number): number {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8')
  return [...io.matchAll(/^sysc[rw]: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** USER_HZ, which is the same on every Linux that Node.js supports. */
const TICK_MS = 10

export function readCpuTime(pid: number): CpuTime {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The fields after the command, which may contain any character: state is field 3, utime field
  // 14.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11)
  return { ownMs: (utime + stime) * TICK_MS, childrenMs: (cutime + cstime) * TICK_MS }
}

/** CLOCK_MONOTONIC, which is the same for all processes. */
export function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/** The child of this process with this program name. */
export function findChild(name: string): number {
  const children = readdirSync('/proc/self/task').flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' '))
  const found = children.filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name)
  const [pid] = found
  if (pid === undefined || found.length > 1) throw new Error(`${found.length} processes of ${name}`)
  return Number(pid)
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Resolves when the child has ended. */
export async function endChild(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

/**
 * The hard limit of RLIMIT_NOFILE; both Node.js and Go (since 1.19) raise their soft limit to it at
 * their start.
 */
export function readDescriptorLimit(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1] ?? '0'
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}

// SPDX-License-Identifier: Apache-2.0
/**
 * A control group for one container where no systemd manages the machine: systemd-nspawn puts its
 * payload below the group that it was started in, and two of them in one group would mix. With
 * cgroup v1 each controller has a group of its own, in which the pods of the node are, so that
 * nothing of them is left when it is gone. Where systemd runs it gives each container a scope, and
 * there is nothing to do.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { eventually } from '../lab/eventually.ts'
import { onProcessEnd } from '../lab/processes.ts'

const MOUNTS = '/sys/fs/cgroup'
/**
 * With cgroup v1, also in the hybrid layout, each directory is a hierarchy; with cgroup v2 alone
 * there is one. Links are names of controllers that share one.
 */
const HIERARCHIES = existsSync(join(MOUNTS, 'cgroup.procs'))
  ? [MOUNTS]
  : readdirSync(MOUNTS, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && existsSync(join(MOUNTS, entry.name, 'cgroup.procs')))
      .map(({ name }) => join(MOUNTS, name))

export const hasSystemd = existsSync('/run/systemd/system')

export class ControlGroup {
  /** Where it is: below the group of this process. */
  readonly #groups: readonly string[]
  #removeLater: (() => void) | undefined

  constructor(name: string) {
    this.#groups = HIERARCHIES.map((hierarchy) => join(hierarchy, homeIn(hierarchy), name))
  }

  /**
   * Makes a process that `start` spawns begin in the group: this process is there while it forks,
   * and then back.
   */
  run<T>(start: () => T): T {
    if (hasSystemd) return start()
    // Before what is started: that is ended first, then.
    this.#removeLater = onProcessEnd(() => this.#removeNow())
    const homes = this.#groups.map((group) => dirname(group))
    for (const group of this.#groups) {
      mkdirSync(group, { recursive: true })
      inheritCpuset(group)
      writeFileSync(join(group, 'cgroup.procs'), String(process.pid))
    }
    try {
      return start()
    } finally {
      for (const home of homes) writeFileSync(join(home, 'cgroup.procs'), String(process.pid))
    }
  }

  /** When nothing is left in it. */
  async remove(): Promise<void> {
    if (hasSystemd) return
    await eventually(() => this.#isRemoved(), { what: `the control group ${this.#groups[0]} is empty`, timeoutMs: 10_000, intervalMs: 20 })
    this.#removeLater?.()
  }

  /**
   * While this process ends nothing asynchronous happens any more; the last processes of the group
   * may take a moment.
   */
  #removeNow(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let attempt = 0; attempt < 100; attempt += 1) {
      try {
        if (this.#isRemoved()) return
      } catch {
        Atomics.wait(pause, 0, 0, 50)
      }
    }
  }

  /** Throws as long as a process is in it. */
  #isRemoved(): boolean {
    for (const group of this.#groups) removeTree(group)
    return true
  }
}

/**
 * With cgroup v1 a new group of the controller cpuset has neither CPUs nor memory, and takes no
 * process before it has (cpuset(7)).
 */
function inheritCpuset(group: string): void {
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    const [own, parent] = [join(group, name), join(dirname(group), name)]
    if (existsSync(own) && existsSync(parent)) writeFileSync(own, readFileSync(parent))
  }
}

/**
 * This process' group there: a line `ID:CONTROLLERS:PATH` of /proc/self/cgroup, without controllers
 * for cgroup v2.
 */
function homeIn(hierarchy: string): string {
  const name = basename(hierarchy)
  const wanted = hierarchy === MOUNTS || name === 'unified' ? [''] : [name, `name=${name}`]
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trimEnd().split('\n')
  for (const line of lines) {
    const [, controllers = '', ...path] = line.split(':')
    if (wanted.includes(controllers)) return path.join(':')
  }
  return '/'
}

function removeTree(group: string): void {
  if (!existsSync(group)) return
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(group, entry.name))
  }
  rmdirSync(group)
}

/**
 * A control group for one container where no systemd manages the machine: systemd-nspawn puts its payload below the group that it was started in,
 * and two of them in one group would mix. Where systemd runs it gives each container a scope, and there is nothing to do.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../lab/eventually.ts'
import { onProcessEnd } from '../lab/processes.ts'

/** In the hybrid layout systemd's own hierarchy and the unified one count; with cgroup v2 alone there is just the latter. */
const HIERARCHIES = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified', '/sys/fs/cgroup'].filter((path) =>
  existsSync(join(path, 'cgroup.procs')),
)

export const hasSystemd = existsSync('/run/systemd/system')

export class ControlGroup {
  readonly #name: string
  #removeLater: (() => void) | undefined

  constructor(name: string) {
    this.#name = name
  }

  /** What `start` spawns begins in the group: this process is there while it forks, and then back. */
  run<T>(start: () => T): T {
    if (hasSystemd) return start()
    // Before what is started: that is ended first, then.
    this.#removeLater = onProcessEnd(() => this.#removeNow())
    const homes = HIERARCHIES.map((hierarchy) => join(hierarchy, homeIn(hierarchy)))
    const groups = HIERARCHIES.map((hierarchy) => join(hierarchy, this.#name))
    for (const group of groups) {
      mkdirSync(group, { recursive: true })
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
    await eventually(() => this.#isRemoved(), { what: `the control group ${this.#name} is empty`, timeoutMs: 10_000, intervalMs: 20 })
    this.#removeLater?.()
  }

  /** While this process ends nothing asynchronous happens any more; the last processes of the group may take a moment. */
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
    for (const hierarchy of HIERARCHIES) removeTree(join(hierarchy, this.#name))
    return true
  }
}

/** This process' group there: a line `ID:CONTROLLERS:PATH` of /proc/self/cgroup. */
function homeIn(hierarchy: string): string {
  const wanted = hierarchy.endsWith('/systemd') ? 'name=systemd' : ''
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trimEnd().split('\n')
  for (const line of lines) {
    const [, controllers, ...path] = line.split(':')
    if (controllers === wanted) return path.join(':')
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

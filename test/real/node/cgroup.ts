/**
 * A control group for one container where no systemd manages the machine: systemd-nspawn puts its payload below the group that it was started in,
 * and two of them in one group would mix. Where systemd runs it gives each container a scope, and there is nothing to do.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../lab/eventually.ts'

/** In the hybrid layout systemd's own hierarchy and the unified one count; with cgroup v2 alone there is just the latter. */
const HIERARCHIES = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified', '/sys/fs/cgroup'].filter((path) =>
  existsSync(join(path, 'cgroup.procs')),
)

export const hasSystemd = existsSync('/run/systemd/system')

export class ControlGroup {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  /** What `start` spawns begins in the group: this process is there while it forks, and then back. */
  run<T>(start: () => T): T {
    if (hasSystemd) return start()
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
    const groups = HIERARCHIES.map((hierarchy) => join(hierarchy, this.#name)).filter((group) => existsSync(group))
    await eventually(() => groups.map(removeTree).length > 0, {
      what: `the control group ${this.#name} is empty`,
      timeoutMs: 10_000,
    }).catch((error: unknown) => console.log(`    left behind: ${error instanceof Error ? error.message : error}`))
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

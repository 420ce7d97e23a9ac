// SPDX-License-Identifier: Apache-2.0
/**
 * A machine that boots: systemd as PID 1 in a container of systemd-nspawn(1), on a root file system
 * of its own and in the network of the machine that runs the tests, so that loopback reaches the
 * control plane. Commands enter by nsenter(1).
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../lab/eventually.ts'
import {
  CommandError,
  type CommandOptions,
  type CommandOutput,
  type Daemon,
  onProcessEnd,
  run,
  startDaemon,
  tailOf,
} from '../lab/processes.ts'
import { ControlGroup, hasSystemd } from './cgroup.ts'
import type { NodeRoot } from './root.ts'

interface ContainerOptions {
  /** Of the machine, and so its host name. */
  readonly name: string
  /** A directory that holds its root. */
  readonly directory: string
  /** Path inside to path outside, read-only. */
  readonly binds: Readonly<Record<string, string>>
  /** Where its console goes. */
  readonly logFile: string
}

export interface Container {
  /** Runs a command inside; throws a `CommandError` if it fails. */
  exec(file: string, args: readonly string[], options?: CommandOptions): Promise<CommandOutput>
  /** As `systemctl poweroff` does: services are stopped, file systems synchronized. */
  powerOff(): Promise<void>
  /** Every process ends at one moment. What they wrote and did not sync is the kernel's. */
  pullThePlug(): Promise<void>
}

const BOOT_MS = 60_000
const NAMESPACES = ['-m', '-u', '-i', '-p', '-r', '-w']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** env(1) with what a command on a node has. */
export const ENVIRONMENT = ['env', '-i', `PATH=${PATH}`, 'LANG=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive']

/** For a systemd of 256 and later, which else refuses to boot where the machine has cgroup v1. */
const LEGACY_CGROUPS = 'SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1'

/** Returns when systemd has started everything. */
export async function bootContainer(root: NodeRoot, { name, directory, binds, logFile }: ContainerOptions): Promise<Container> {
  const group = new ControlGroup(`${name}-${process.pid}`)
  const options = ['-q', '-D', directory, `--machine=${name}`, '--register=no', ...(hasSystemd ? [] : ['--keep-unit'])]
  // Kubelet reads kernel messages for its oom watcher.
  const mounts = ['--bind=/dev/kmsg', ...Object.entries(binds).map(([inside, outside]) => `--bind-ro=${outside}:${inside}`)]
  const [file, ...args] = root.tool('systemd-nspawn', ...options, '--capability=all', ...mounts, '--console=pipe', '-b', LEGACY_CGROUPS)
  const daemon = group.run(() => startDaemon(`the machine ${name}`, file, args, logFile))
  let container: Booted | undefined
  try {
    const pid = await eventually(() => firstProcess(daemon), { what: `${name} has a PID 1`, timeoutMs: BOOT_MS, intervalMs: 50 })
    const booted = new Booted(daemon, pid, group)
    container = booted
    await eventually(() => booted.isUp(), { what: `${name} has booted`, timeoutMs: BOOT_MS })
    return booted
  } catch (cause) {
    await (container?.pullThePlug() ?? daemon.stop(0))
    throw new Error(`${name} did not boot\n--- end of its console\n${tailOf(logFile)}`, { cause })
  }
}

class Booted implements Container {
  readonly #daemon: Daemon
  readonly #pid: number
  readonly #group: ControlGroup
  readonly #forget: () => void

  constructor(daemon: Daemon, pid: number, group: ControlGroup) {
    this.#daemon = daemon
    this.#pid = pid
    this.#group = group
    // The container outlives a systemd-nspawn that is killed.
    this.#forget = onProcessEnd(() => this.#kill())
  }

  exec(file: string, args: readonly string[], options?: CommandOptions): Promise<CommandOutput> {
    return run('nsenter', ['-t', String(this.#pid), ...NAMESPACES, '--', ...ENVIRONMENT, file, ...args], options)
  }

  /** `degraded` is up as well: a unit that failed is for a test to see. */
  async isUp(): Promise<boolean> {
    const ended = this.#daemon.ended()
    if (ended !== undefined) throw new Error(`it ended: ${ended}`)
    const state = await this.exec('systemctl', ['is-system-running', '--wait'], { timeoutMs: BOOT_MS }).catch((error: unknown) => {
      if (error instanceof CommandError) return error
      throw error
    })
    return /^(running|degraded)$/m.test(state.stdout)
  }

  async powerOff(): Promise<void> {
    await this.#daemon.stop(60_000)
    await this.#gone()
  }

  async pullThePlug(): Promise<void> {
    this.#kill()
    await this.#daemon.stop(10_000)
    await this.#gone()
  }

  /**
   * Not a process that came after it under the same id: it cannot end without systemd-nspawn
   * ending.
   */
  #kill(): void {
    if (this.#daemon.ended() === undefined && existsSync(`/proc/${this.#pid}`)) process.kill(this.#pid, 'SIGKILL')
  }

  async #gone(): Promise<void> {
    await eventually(() => !existsSync(`/proc/${this.#pid}`), { what: 'its processes have ended', intervalMs: 20 })
    this.#forget()
    await this.#group.remove()
  }
}

/** systemd-nspawn forks a helper before it forks PID 1: only that one is called systemd. */
function firstProcess(daemon: Daemon): number | undefined {
  const ended = daemon.ended()
  if (ended !== undefined) throw new Error(`it ended: ${ended}`)
  const children = readFileSync(join('/proc', String(daemon.pid), 'task', String(daemon.pid), 'children'), 'utf8')
  const pids = children.split(' ').filter((pid) => pid !== '')
  const found = pids.find((pid) => readFileSync(join('/proc', pid, 'comm'), 'utf8').trimEnd() === 'systemd')
  return found === undefined ? undefined : Number(found)
}

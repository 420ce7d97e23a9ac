// SPDX-License-Identifier: Apache-2.0
/**
 * Starts the agent as it is installed, and the bare scripts for the floor with the same Node.js.
 * Both have only PATH in their environment.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Installed } from './installed.ts'
import { endChild, monotonicUs } from './processes.ts'
import { NODE } from './world/objects.ts'
import type { WorldPaths } from './world/protocol.ts'

const FSYNC_COUNTER = fileURLToPath(new URL('./floor/count-fsyncs.mjs', import.meta.url))

interface Started {
  readonly pid: number
  /** CLOCK_MONOTONIC just before the process was started. */
  readonly startedAtUs: number
  stop(): Promise<void>
}

interface AgentOptions {
  readonly flags?: readonly string[]
  /** Without it, systemd is asked at intervals. Default: true. */
  readonly hasBus?: boolean
  /** The file in which each fsync is recorded. */
  readonly fsyncLog?: string
}

/**
 * The world has no kubelet whose own port answers, and each restart would wait for that answer.
 */
export const WITHOUT_SERVING = '--evidence=serving=off'

/** With default settings, except those that the benchmark needs. */
export function startAgent({ program, node, bundle }: Installed, paths: WorldPaths, options: AgentOptions = {}): Started {
  const { flags = [], hasBus = true, fsyncLog } = options
  mkdirSync(paths.stateDir, { recursive: true })
  const settings = {
    kubeconfig: paths.kubeconfig,
    'node-name': NODE,
    'dynamic-config-dir': paths.stateDir,
    'runtime-dir': paths.runtimeDir,
    'kubelet-env-file': paths.envFile,
    systemctl: paths.systemctl,
    // A bus of this machine knows nothing of the simulated systemd.
    'system-bus': hasBus ? paths.systemBus : join(paths.stateDir, 'no-bus'),
    // Not the default port, which a real agent on this machine may use.
    'metrics-address': '127.0.0.1:0',
    spread: '0s',
    'restarts-per-hour': '60',
  }
  const given = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const command = fsyncLog === undefined ? [program] : [node, '--import', FSYNC_COUNTER, bundle]
  return start([...command, 'run', ...given, ...flags], join(paths.stateDir, '..', 'agent.log'), fsyncLog)
}

/** @param script in bench/floor */
export function startFloor({ node }: Installed, script: string, args: readonly string[] = []): Started {
  return start([node, fileURLToPath(new URL(`./floor/${script}`, import.meta.url)), ...args])
}

/** Another program, with nothing but PATH in its environment. */
export function startProgram(command: readonly string[]): Started {
  return start(command)
}

function start([command = '', ...args]: readonly string[], logFile = '/dev/null', descriptor3 = '/dev/null'): Started {
  const log = openSync(logFile, 'a')
  const third = openSync(descriptor3, 'a')
  const startedAtUs = monotonicUs()
  const child = spawn(command, args, { env: { PATH: process.env.PATH }, stdio: ['ignore', log, log, third] })
  for (const opened of [log, third]) closeSync(opened)
  if (child.pid === undefined) throw new Error(`cannot start ${command}`)
  return { pid: child.pid, startedAtUs, stop: () => endChild(child, 'SIGTERM') }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Facts about this machine: memory, swap, CPUs, operating system, kernel. For display, and for
 * preflight, which compares reservations with them.
 *
 * The only module that imports systeminformation, on demand, since it takes memory. Calls only
 * `mem()`, which reads /proc/meminfo. Its `osInfo()` and `cpu()` start a dozen child processes
 * (`dmesg`, `lscpu`, `dmidecode`, and `hostname -f`, which blocks on DNS), so those facts come from
 * Node.js and os-release(5) instead. Its probes for services and versions build shell commands and
 * are never used.
 */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { arch, cpus, release } from 'node:os'
import { errorMessage } from '../values/errors.ts'

export interface MachineFacts {
  readonly memoryBytes: number
  readonly memoryAvailableBytes: number
  readonly swapBytes: number
  readonly cpus: number
  /** Node.js' name: `x64`, `arm64`. */
  readonly architecture: string
  /** PRETTY_NAME of os-release, such as `Debian GNU/Linux 12 (bookworm)`. */
  readonly os: string
  readonly kernel: string
}

export type MachineFactsResult = { readonly ok: true; readonly facts: MachineFacts } | { readonly ok: false; readonly detail: string }

/** The sources of the facts; tests replace them. */
export interface FactSources {
  memory(): Promise<{ readonly total: number; readonly available: number; readonly swaptotal: number }>
  osRelease(): Promise<string>
}

const machine: FactSources = {
  // Not `mem` by name: in the bundle a CommonJS module loaded on demand has only its default
  // export.
  memory: async () => (await import('systeminformation')).default.mem(),
  // os-release(5): the second file is the vendor's, used if the first does not exist.
  osRelease: () =>
    readFile('/etc/os-release', 'utf8')
      .catch(() => readFile('/usr/lib/os-release', 'utf8'))
      .catch(() => ''),
}

/** Never throws, and resolves within the limit. */
export async function readMachineFacts(limitMs = 2000, sources: FactSources = machine): Promise<MachineFactsResult> {
  const limit = new AbortController()
  const late = new Promise<MachineFactsResult>((resolve) => {
    const timer = setTimeout(() => resolve({ ok: false, detail: `no answer within ${limitMs} ms` }), limitMs)
    limit.signal.addEventListener('abort', () => clearTimeout(timer))
  })
  try {
    return await Promise.race([gatherFacts(sources), late])
  } catch (error) {
    return { ok: false, detail: errorMessage(error) }
  } finally {
    limit.abort()
  }
}

async function gatherFacts(sources: FactSources): Promise<MachineFactsResult> {
  const [memory, osRelease] = await Promise.all([sources.memory(), sources.osRelease()])
  return {
    ok: true,
    facts: {
      memoryBytes: memory.total,
      memoryAvailableBytes: memory.available,
      swapBytes: memory.swaptotal,
      cpus: cpus().length,
      architecture: arch(),
      os: findPrettyName(osRelease),
      kernel: release(),
    },
  }
}

/** os-release(5) uses shell syntax; for the names in use, removing the quotes is enough. */
export function findPrettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1]?.trim() ?? ''
  return value.replace(/^(["'])(.*)\1$/, '$2') || 'unknown'
}

/** The node's container runtime socket, for a kubelet whose flags and config name none. */
const RUNTIME_SOCKETS = ['/run/containerd/containerd.sock', '/run/crio/crio.sock']
let runtimeSocket: string | undefined

/** Remembers a socket once found: a runtime that stops removes its socket. */
export function findRuntimeSocket(): string | undefined {
  runtimeSocket ??= RUNTIME_SOCKETS.find((path) => existsSync(path))
  return runtimeSocket
}

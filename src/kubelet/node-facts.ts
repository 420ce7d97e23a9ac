/**
 * What this machine is: memory, swap, CPUs, operating system, kernel. For people, and for preflight, which holds what a config reserves against it.
 *
 * The one module that imports systeminformation, and late, since it costs memory. Only `mem()` is called, which reads /proc/meminfo. Its
 * `osInfo()` and `cpu()` answer with a dozen child processes (`dmesg`, `lscpu`, `dmidecode`, and `hostname -f`, which waits for
 * DNS with the whole process), so the little that is wanted of them comes from Node.js and os-release(5). Services and versions are never
 * asked for: those probes build shell commands.
 */

import { readFile } from 'node:fs/promises'
import { arch, cpus, release } from 'node:os'
import { errorMessage } from '../values/errors.ts'
import type { NodeFactsResult } from './describe-facts.ts'

/** Where the facts come from; tests put others in their place. */
export interface FactSources {
  memory(): Promise<{ readonly total: number; readonly available: number; readonly swaptotal: number }>
  osRelease(): Promise<string>
}

const machine: FactSources = {
  // Not by the name `mem`: a bundle knows of a CommonJS module that is loaded late its default export alone.
  memory: async () => (await import('systeminformation')).default.mem(),
  // os-release(5): the second is the vendor's, and holds where the first does not exist.
  osRelease: () =>
    readFile('/etc/os-release', 'utf8')
      .catch(() => readFile('/usr/lib/os-release', 'utf8'))
      .catch(() => ''),
}

/** Never throws, and answers within the limit. */
export async function readNodeFacts(limitMs = 2000, sources: FactSources = machine): Promise<NodeFactsResult> {
  const limit = new AbortController()
  const late = new Promise<NodeFactsResult>((resolve) => {
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

async function gatherFacts(sources: FactSources): Promise<NodeFactsResult> {
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

/** os-release(5) is shell syntax; the names in use need no more than their quotes taken off. */
export function findPrettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1]?.trim() ?? ''
  return value.replace(/^(["'])(.*)\1$/, '$2') || 'unknown'
}

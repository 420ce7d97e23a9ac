/**
 * What a candidate needs to know of the node it is for, and what was found out. Types only. What could not be found out, or was not asked for, is undefined
 * or not in its map: unknown. From that nothing follows, and nobody is refused for it.
 */
import type { CpuSet } from '../cpu-set.ts'

export interface SurroundingNeeds {
  /** Memory and swap. */
  readonly memory: boolean
  /** CPUs and NUMA nodes. */
  readonly topology: boolean
  /** Version and, by their path below the root of the hierarchy, which cgroups exist. */
  readonly cgroups: readonly string[] | undefined
  readonly paths: readonly string[]
  /** Unix sockets that should accept connections. */
  readonly sockets: readonly string[]
  /** Files to read. */
  readonly texts: readonly string[]
  readonly listeners: boolean
  /** The running kubelet, to tell its own ports from those of others. undefined: nobody knows it. */
  readonly kubeletPid: number | undefined
  /** As in `vm.overcommit_memory`. */
  readonly sysctls: readonly string[]
}

export interface Surroundings {
  readonly memoryBytes: number | undefined
  readonly swapBytes: number | undefined
  /** Online CPUs are among those present. */
  readonly onlineCpus: CpuSet | undefined
  readonly presentCpus: CpuSet | undefined
  readonly numaNodes: CpuSet | undefined
  readonly cgroupVersion: 1 | 2 | undefined
  /** Whether a cgroup exists, in each hierarchy that kubelet needs. */
  readonly cgroups: ReadonlyMap<string, boolean>
  readonly paths: ReadonlyMap<string, PathState>
  readonly sockets: ReadonlyMap<string, SocketState>
  /** null: there is no such file. */
  readonly texts: ReadonlyMap<string, string | null>
  readonly listeners: readonly Listener[] | undefined
  readonly sysctls: ReadonlyMap<string, number>
}

export type PathState = 'file' | 'directory' | 'other' | 'missing'
export type SocketState = 'accepts' | 'refuses' | 'missing'

/** A TCP socket that somebody listens on. */
export interface Listener {
  /** `0.0.0.0` and `::` for all. */
  readonly address: string
  readonly port: number
  readonly owner: 'kubelet' | 'other' | 'unknown'
}

export const NOTHING_KNOWN: Surroundings = {
  memoryBytes: undefined,
  swapBytes: undefined,
  onlineCpus: undefined,
  presentCpus: undefined,
  numaNodes: undefined,
  cgroupVersion: undefined,
  cgroups: new Map(),
  paths: new Map(),
  sockets: new Map(),
  texts: new Map(),
  listeners: undefined,
  sysctls: new Map(),
}

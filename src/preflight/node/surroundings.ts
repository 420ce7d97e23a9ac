/**
 * The facts about a node that a candidate needs, and those that were found. Data only. Facts that
 * were not found or not requested are undefined or missing from their map: unknown. No rule
 * concludes anything from an unknown fact.
 */
import type { CpuSet } from '../cpu-set.ts'
import type { LocalNetwork } from './local-addresses.ts'
import type { RuntimeFacts } from './runtime-facts.ts'

export interface SurroundingNeeds {
  /** Memory and swap. */
  readonly memory: boolean
  /** CPUs and NUMA nodes. */
  readonly topology: boolean
  /**
   * The cgroup version, and which of these cgroups exist (paths below the root of the hierarchy).
   */
  readonly cgroups: readonly string[] | undefined
  readonly paths: readonly string[]
  /** Of the container runtime. undefined: it is not asked. */
  readonly runtimeSocket: string | undefined
  /** Of an image service other than the container runtime. undefined: it is not asked. */
  readonly imageSocket: string | undefined
  /** Text files to read. */
  readonly texts: readonly string[]
  /** Files or directories with manifests of static pods. */
  readonly manifests: readonly string[]
  /** Cgroups whose use to read (paths below the root of the hierarchy). */
  readonly cgroupUse: readonly string[]
  /** The addresses that a process can bind to. */
  readonly localAddresses: boolean
  readonly listeners: boolean
  /** The running kubelet, to tell its ports from those of others. undefined: unknown. */
  readonly kubeletPid: number | undefined
  /** Such as `vm.overcommit_memory`. */
  readonly sysctls: readonly string[]
}

export const NOTHING_NEEDED: SurroundingNeeds = {
  memory: false,
  topology: false,
  cgroups: undefined,
  paths: [],
  runtimeSocket: undefined,
  imageSocket: undefined,
  texts: [],
  manifests: [],
  cgroupUse: [],
  localAddresses: false,
  listeners: false,
  kubeletPid: undefined,
  sysctls: [],
}

export interface Surroundings {
  readonly memoryBytes: number | undefined
  readonly swapBytes: number | undefined
  /** A subset of the present CPUs. */
  readonly onlineCpus: CpuSet | undefined
  readonly presentCpus: CpuSet | undefined
  readonly numaNodes: CpuSet | undefined
  readonly cgroupVersion: 1 | 2 | undefined
  /** Whether a cgroup exists in every hierarchy that kubelet needs. */
  readonly cgroups: ReadonlyMap<string, boolean>
  readonly paths: ReadonlyMap<string, PathState>
  readonly runtime: RuntimeFacts | undefined
  readonly imageService: Pick<RuntimeFacts, 'fault'> | undefined
  /** null: the file does not exist. */
  readonly texts: ReadonlyMap<string, string | null>
  /** How many manifests of static pods there are. */
  readonly manifests: ReadonlyMap<string, number>
  readonly cgroupUse: ReadonlyMap<string, CgroupUse>
  readonly localAddresses: readonly LocalNetwork[] | undefined
  readonly listeners: readonly Listener[] | undefined
  readonly sysctls: ReadonlyMap<string, number>
}

export type PathState = 'file' | 'directory' | 'other' | 'missing'

/** What the processes of a cgroup use now. undefined: unknown. */
export interface CgroupUse {
  /** Without the page cache that the kernel takes first, as kubelet counts it. */
  readonly memoryBytes: number | undefined
  /** With threads. */
  readonly processes: number | undefined
}

/** A listening TCP socket. */
export interface Listener {
  /** `0.0.0.0` and `::` mean all addresses. */
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
  runtime: undefined,
  imageService: undefined,
  texts: new Map(),
  manifests: new Map(),
  cgroupUse: new Map(),
  localAddresses: undefined,
  listeners: undefined,
  sysctls: new Map(),
}

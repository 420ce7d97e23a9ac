// SPDX-License-Identifier: Apache-2.0
/**
 * The facts about a node that a candidate needs, and those that were found. Data only. Facts that
 * were not found or not requested are undefined or missing from their map: unknown. No rule
 * concludes anything from an unknown fact.
 */

import type { CgroupDriver, RuntimeFault } from '../../ports/probes.ts'
import { hexToBits, readIp } from '../../values/ip-address.ts'
import type { CpuSet } from '../cpu-set.ts'

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
  /** The socket of the container runtime. undefined: it is not asked. */
  readonly runtimeSocket: string | undefined
  /**
   * The socket of an image service other than the container runtime. undefined: it is not asked.
   */
  readonly imageSocket: string | undefined
  /** The directories of kubelet and of its images, whose file systems are measured. */
  readonly fileSystems: readonly string[]
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
  /** Names of kernel settings, such as `vm.overcommit_memory`. */
  readonly sysctls: readonly string[]
  readonly logind: boolean
}

export const NOTHING_NEEDED: SurroundingNeeds = {
  ...{ memory: false, topology: false, localAddresses: false, listeners: false, logind: false },
  ...{ cgroups: undefined, runtimeSocket: undefined, imageSocket: undefined, kubeletPid: undefined },
  ...{ paths: [], fileSystems: [], texts: [], manifests: [], cgroupUse: [], sysctls: [] },
}

export interface Surroundings {
  readonly memoryBytes: number | undefined
  readonly swapBytes: number | undefined
  /** A subset of the present CPUs. */
  readonly onlineCpus: CpuSet | undefined
  readonly presentCpus: CpuSet | undefined
  readonly numaNodes: CpuSet | undefined
  /** The online CPUs, as the NUMA nodes have them. */
  readonly nodeCpus?: CpuSet | undefined
  /** The bytes of memory of each NUMA node. */
  readonly nodeMemory?: ReadonlyMap<number, number> | undefined
  /** The bytes of huge pages of each NUMA node, by resource, such as `hugepages-2Mi`. */
  readonly nodeHugePages?: ReadonlyMap<number, ReadonlyMap<string, number>> | undefined
  readonly cgroupVersion: 1 | 2 | undefined
  /** Whether a cgroup exists in every hierarchy that kubelet needs. */
  readonly cgroups: ReadonlyMap<string, boolean>
  readonly paths: ReadonlyMap<string, PathState>
  readonly runtime: RuntimeFacts | undefined
  readonly imageService: ImageServiceFacts | undefined
  readonly fileSystems: ReadonlyMap<string, FileSystem>
  /** null: the file does not exist. */
  readonly texts: ReadonlyMap<string, string | null>
  /** How many manifests of static pods there are. */
  readonly manifests: ReadonlyMap<string, number>
  readonly cgroupUse: ReadonlyMap<string, CgroupUse>
  readonly localAddresses: readonly LocalNetwork[] | undefined
  readonly listeners: readonly Listener[] | undefined
  readonly sysctls: ReadonlyMap<string, number>
  readonly logind: LogindFacts | undefined
}

/** The facts about systemd-logind that matter to the shutdown of the machine. */
export interface LogindFacts {
  /** The texts of its drop-ins in the order in which they count. One that is masked is empty. */
  readonly dropIns: ReadonlyMap<string, string>
  /** The files of its inhibitor locks, as `systemd-inhibit --list` shows them. */
  readonly locks: readonly string[]
}

export type PathState = 'file' | 'directory' | 'other' | 'missing'

/** The size of a file system, and how much of it processes other than root's may still take. */
export interface FileSystem {
  readonly bytes: Amount
  /** undefined: it has no fixed number of them. */
  readonly inodes: Amount | undefined
}

export interface Amount {
  readonly capacity: number
  readonly available: number
}

/** The cgroup of all processes, below the root of the hierarchy. */
export const ROOT_CGROUP = '.'

/** The present use of a cgroup by its processes. undefined: unknown. */
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
  ...{ memoryBytes: undefined, swapBytes: undefined, onlineCpus: undefined, presentCpus: undefined, numaNodes: undefined },
  ...{ cgroupVersion: undefined, runtime: undefined, imageService: undefined, localAddresses: undefined, listeners: undefined },
  ...{ logind: undefined },
  ...{ cgroups: new Map(), paths: new Map(), fileSystems: new Map(), texts: new Map(), manifests: new Map() },
  ...{ cgroupUse: new Map(), sysctls: new Map() },
}

/** The facts that a candidate's container runtime tells of itself, for the rules that need them. */
export interface RuntimeFacts {
  /** undefined: it answers. */
  readonly fault: { readonly why: RuntimeFault; readonly detail: string } | undefined
  /** undefined: unknown. */
  readonly cgroup: RuntimeCgroup | undefined
  /** The directory of the images. undefined: unknown. */
  readonly imageDirectory?: string | undefined
}

export type ImageServiceFacts = Pick<RuntimeFacts, 'fault' | 'imageDirectory'>

/** `from`: the runtime's answer, which kubelet itself can ask for, or its config file. */
export interface RuntimeCgroup {
  readonly driver: CgroupDriver
  readonly from: 'answer' | 'file'
}

/** Addresses that a process can bind to. In bits: an IPv4 address has 32, an IPv6 address 128. */
export interface LocalNetwork {
  readonly bits: string
  readonly prefixLength: number
}

/**
 * Of /proc/net/fib_trie, the kernel's routes for IPv4 (net/ipv4/fib_trie.c): bind(2) accepts what
 * has a route of the type LOCAL, as `127.0.0.0/8` has.
 */
export function parseFibTrie(text: string): LocalNetwork[] {
  const networks: LocalNetwork[] = []
  let bits: string | undefined
  for (const line of text.split('\n')) {
    const [, leaf] = /^\s*\|-- (\d+\.\d+\.\d+\.\d+)$/.exec(line) ?? []
    if (leaf !== undefined) bits = readIp(leaf)
    const [, length] = /^\s*\/(\d+) \w+ LOCAL\b/.exec(line) ?? []
    if (length !== undefined && bits !== undefined) networks.push({ bits, prefixLength: Number(length) })
  }
  return networks
}

/** Of /proc/net/if_inet6 (net/ipv6/addrconf.c): one address in each line. */
export function parseIfInet6(text: string): LocalNetwork[] {
  return text.split('\n').flatMap((line) => {
    const [, hex] = /^([0-9a-f]{32}) /.exec(line) ?? []
    return hex === undefined ? [] : [{ bits: hexToBits(hex), prefixLength: 128 }]
  })
}

/**
 * Addresses that cannot be parsed count as local: nothing is known about them. So do those of
 * zeros, such as `::0`, which stand for all.
 */
export function isLocalAddress(address: string, networks: readonly LocalNetwork[]): boolean {
  const bits = readIp(address)
  if (bits?.includes('1') !== true) return true
  return networks.some((network) => network.bits.length === bits.length && bits.startsWith(network.bits.slice(0, network.prefixLength)))
}
